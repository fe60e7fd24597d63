export * from "./counts.ts";
export * from "./profile.ts";
export { type ProfiledLaunch, Profiler } from "./profiler.ts";
export type { Stretch, Timeline } from "./timeline.ts";
