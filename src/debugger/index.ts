export type { Probe } from "./probe.ts";
export { launchesOf } from "./program.ts";
export {
  type End,
  type Finding,
  type Found,
  type LaunchPlan,
  type Search,
  Timeline,
  type TimelineOptions,
} from "./timeline.ts";
