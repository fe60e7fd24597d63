/**
 * Lanewise reads, checks and runs GPU assembly (NVIDIA PTX and Intel vISA) with no GPU, in Node and in the browser.
 *
 *     const device = new Device();
 *     const saxpy = device.load(ptx).kernel("saxpy");
 *     const x = device.buffer(new Float32Array([1, 2, 3, 4]));
 *     const y = device.buffer("f32", 4);
 *     const result = saxpy.launch({ grid: 1, block: 4, args: [4, 2.5, x, y], sanitize: "all" });
 *     for (const report of result.reports) console.error(report.message);
 *     y.read(); // Float32Array [2.5, 5, 7.5, 10]
 *
 * A kernel of vISA is launched in work items; what its compiler says about its arguments comes along, as objects:
 *
 *     const files = [{ path: "saxpy.visaasm", text }];
 *     const kernel = device.load(files, { target: "skl", zeinfo: parseYaml(info) }).kernel("saxpy");
 *     kernel.launch({ global: 16, local: 16, args: [4, 2.5, x, y] });
 *
 * @module lanewise
 */
export {
  type CodeImage,
  type CodeImageKind,
  type Compression,
  type ContainedFile,
  type Container,
  ContainerError,
  type DeviceModule,
  isContainer,
  readContainer,
  type SectionRelocation,
  type SectionSymbol,
} from "./container/index.ts";
export type {
  AccessEvent,
  CellsEvent,
  ClusterBarrierEvent,
  ClusterReleaseEvent,
  TensorCells,
  RangeEvent,
  BarrierEvent,
  BarrierReleaseEvent,
  BranchEvent,
  CallEvent,
  EnterEvent,
  InstructionEvent,
  LaneEvent,
  Observer,
  ReturnEvent,
  UndefinedEvent,
  WarpEvent,
} from "./machine/events.ts";
/** The state of the machine while a kernel runs, as observers and debuggers see it. */
export type * as machine from "./machine/index.ts";
export type {
  BlockRange,
  LaunchRequest,
  LaunchResult,
  LaunchShadow,
  ShadowRange,
  SanitizerName,
  Steering,
} from "./machine/launch.ts";
export type { Dim3, RelatedPlace, Report, ReportListener, StackEntry, ThreadId } from "./machine/reports/report.ts";
export { demangle, type DemangledName } from "./names/index.ts";
export * from "./profiler/index.ts";
export * from "./runtime/index.ts";
export * from "./source/index.ts";
