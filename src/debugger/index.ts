/**
 * A debugger for launches that goes forwards and backwards through time. A `Timeline` holds the launches, a `Session`
 * has breakpoints, watchpoints and a focus on one lane; `Console` takes commands as text, `DapSession` speaks the Debug
 * Adapter Protocol.
 *
 * @module lanewise/debugger
 */
export { type Breakpoint, type BreakpointOptions, type HitCondition, parseHitCondition } from "./breakpoint.ts";
export type { BreakpointHit } from "./breakpoint-probe.ts";
export type { Answer, ConsoleView } from "./console/command.ts";
export { Console } from "./console/console.ts";
export { type DapHost, DapSession } from "./dap/dap-session.ts";
export { frame, Unframer } from "./dap/framing.ts";
export type { Arguments, DapEvent, DapResponse } from "./dap/protocol.ts";
export type { End, Finding } from "./end.ts";
export type { Execution, Moment } from "../interpreter/execution.ts";
export { parseExpression } from "./expression/parse.ts";
export type { Scope } from "./expression/scope.ts";
export {
  type BinaryOperator,
  type Expression,
  ExpressionError,
  type ExpressionNode,
  type ExpressionSpan,
  type UnaryOperator,
} from "./expression/tree.ts";
export type { Focus, FocusView } from "./focus.ts";
export { DebuggerError, findLocations, type Location } from "./location.ts";
export type { Probe } from "./probe.ts";
export { launchesOf } from "./program.ts";
export type { Found, Search } from "./search.ts";
export type { SessionValues } from "./session-values.ts";
export { Session, type SessionOptions, type StepRequest } from "./session.ts";
export type { LaunchNote } from "./session-options.ts";
export type { Granularity, Scope as StepScope, StepKind } from "./step-probe.ts";
export { type SourceFormat, sourceText } from "./source/source-text.ts";
export type { SourcePoint, SourceValue } from "./source/source-value.ts";
export type { BaseEncoding, Member, Place, SourceType } from "../dwarf/index.ts";
export type { Stop, StopReason } from "./stop.ts";
export { type LaunchStarter, Timeline } from "./timeline.ts";
export type { TimelineOptions } from "./timeline-options.ts";
export {
  assemblyPlace,
  type LaneFrame,
  type LanePlace,
  originPlace,
  placeOf,
  type SourcePlace,
} from "./view/lane-place.ts";
export { liveRegisters } from "./view/liveness.ts";
export type { PlainAddress, Viewpoint } from "./view/memory-view.ts";
export { type Format, formatValue, numberOf, type TypedBits } from "./view/value.ts";
export type { ModuleVariable, Names } from "./view/names.ts";
export type { NumberReader, RegisterVariable, Variable, VisaVariable } from "./view/variables.ts";
export type { WatchHit } from "./watch-probe.ts";
export type { LaneId, Watched, WatchKind, WatchOwner, Watchpoint } from "./watchpoint.ts";
