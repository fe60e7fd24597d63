export { type Breakpoint, type BreakpointOptions, type HitCondition, parseHitCondition } from "./breakpoint.ts";
export { parseExpression } from "./expression/parse.ts";
export { type Expression, ExpressionError } from "./expression/tree.ts";
export type { Focus, FocusView } from "./focus.ts";
export { DebuggerError, findLocations, type Location } from "./location.ts";
export type { Probe } from "./probe.ts";
export { launchesOf } from "./program.ts";
export { Session, type SessionOptions, type StepRequest, type Stop, type StopReason } from "./session.ts";
export {
  type End,
  type Finding,
  type Found,
  type LaunchPlan,
  type Search,
  Timeline,
  type TimelineOptions,
} from "./timeline.ts";
export { Console } from "./console/console.ts";
export { type DapHost, DapSession } from "./dap/dap-session.ts";
export { frame, Unframer } from "./dap/framing.ts";
export { assemblyPlace, type LaneFrame, type LanePlace, originPlace, placeOf } from "./view/lane-place.ts";
export { formatValue, numberOf, type TypedBits } from "./view/value.ts";
export type { Watched, WatchKind, Watchpoint } from "./watchpoint.ts";
