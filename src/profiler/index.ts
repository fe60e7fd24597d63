export * from "./counts.ts";
export * from "./profile.ts";
export { type ProfiledLaunch, Profiler, type ProfilerOptions } from "./profiler.ts";
export type { Stretch, Timeline } from "./timeline.ts";
