import type { Handlers } from "../call.ts";
import { allGraphCalls } from "../graphs/index.ts";
import { streamAttributeCalls } from "../stream-attributes.ts";
import { streamCalls } from "../streams.ts";
import { driverArrayCalls } from "./arrays.ts";
import { contextCalls, sameAs } from "./contexts.ts";
import { driverDeviceCalls } from "./devices.ts";
import { inContext } from "./driver-call.ts";
import { earlierCalls } from "./earlier.ts";
import { functionStateCalls } from "./function-state.ts";
import { graphNodeCalls } from "./graph-nodes.ts";
import { greenContextCalls } from "./green-contexts.ts";
import { kernelCalls } from "./kernels.ts";
import { driverMemoryCalls } from "./memory.ts";
import { memoryOperationCalls } from "./memory-operations.ts";
import { moduleCalls } from "./modules.ts";
import { tensorMapCalls } from "./tensor-maps.ts";
import { textureReferenceCalls } from "./texture-references.ts";
import { virtualMemoryCalls } from "./virtual-memory.ts";

/** Entry points of the driver that do what one of the runtime does, with the same arguments. */
const streams: Readonly<Record<string, string>> = {
  cuStreamCreate: "cudaStreamCreateWithFlags",
  cuStreamCreateWithPriority: "cudaStreamCreateWithPriority",
  cuStreamDestroy: "cudaStreamDestroy",
  cuStreamDestroy_v2: "cudaStreamDestroy",
  cuStreamSynchronize: "cudaStreamSynchronize",
  cuStreamQuery: "cudaStreamQuery",
  cuStreamWaitEvent: "cudaStreamWaitEvent",
  cuStreamGetFlags: "cudaStreamGetFlags",
  cuStreamGetPriority: "cudaStreamGetPriority",
  cuStreamGetId: "cudaStreamGetId",
  cuStreamGetDevice: "cudaStreamGetDevice",
  cuStreamAddCallback: "cudaStreamAddCallback",
  cuStreamSetAttribute: "cudaStreamSetAttribute",
  cuStreamGetAttribute: "cudaStreamGetAttribute",
  cuStreamCopyAttributes: "cudaStreamCopyAttributes",
  cuEventCreate: "cudaEventCreateWithFlags",
  cuEventDestroy: "cudaEventDestroy",
  cuEventDestroy_v2: "cudaEventDestroy",
  cuEventRecord: "cudaEventRecord",
  cuEventRecordWithFlags: "cudaEventRecordWithFlags",
  cuEventSynchronize: "cudaEventSynchronize",
  cuEventQuery: "cudaEventQuery",
  cuEventElapsedTime: "cudaEventElapsedTime",
  cuEventElapsedTime_v2: "cudaEventElapsedTime",
};

/** The same for graphs: names without `cu` and `cuda`; what the driver calls `X_v2` is `X` in the runtime of today. */
const graphs = [
  "GraphCreate GraphDestroy GraphClone GraphNodeFindInClone GraphGetNodes GraphGetRootNodes GraphGetEdges_v2",
  "GraphNodeGetDependencies_v2 GraphNodeGetDependentNodes_v2 GraphAddDependencies_v2 GraphRemoveDependencies_v2",
  "GraphDestroyNode GraphDebugDotPrint GraphNodeGetType GraphNodeSetEnabled GraphNodeGetEnabled",
  "GraphInstantiateWithFlags GraphInstantiateWithParams GraphLaunch GraphUpload GraphExecDestroy GraphExecGetFlags",
  "GraphExecUpdate_v2 GraphKernelNodeCopyAttributes GraphKernelNodeGetAttribute",
  "GraphKernelNodeSetAttribute GraphAddMemsetNode GraphMemsetNodeGetParams GraphMemsetNodeSetParams",
  "GraphExecMemsetNodeSetParams GraphAddHostNode GraphHostNodeGetParams GraphHostNodeSetParams",
  "GraphExecHostNodeSetParams GraphAddChildGraphNode GraphChildGraphNodeGetGraph GraphExecChildGraphNodeSetParams",
  "GraphAddEmptyNode GraphAddEventRecordNode GraphEventRecordNodeGetEvent GraphEventRecordNodeSetEvent",
  "GraphExecEventRecordNodeSetEvent GraphAddEventWaitNode GraphEventWaitNodeGetEvent GraphEventWaitNodeSetEvent",
  "GraphExecEventWaitNodeSetEvent GraphAddMemAllocNode GraphMemAllocNodeGetParams GraphAddMemFreeNode",
  "GraphMemFreeNodeGetParams DeviceGetGraphMemAttribute DeviceSetGraphMemAttribute DeviceGraphMemTrim",
  "UserObjectCreate UserObjectRetain UserObjectRelease GraphRetainUserObject GraphReleaseUserObject",
  "StreamBeginCapture_v2 StreamBeginCaptureToGraph StreamEndCapture StreamIsCapturing StreamGetCaptureInfo_v3",
  "StreamUpdateCaptureDependencies_v2 ThreadExchangeStreamCaptureMode",
].flatMap((line) => line.split(" "));

const aliases: Handlers = Object.fromEntries([
  ...Object.entries(streams).map(([name, same]) => [
    name,
    inContext(sameAs({ ...streamCalls, ...streamAttributeCalls }, same)),
  ]),
  ...graphs.map((name) => [`cu${name}`, inContext(sameAs(allGraphCalls, `cuda${name.replace(/_v\d$/, "")}`))]),
]);

/** All entry points of the driver, and those of the runtime for what programs load themselves. */
export const driverCalls: Handlers = {
  ...aliases,
  ...contextCalls,
  ...driverDeviceCalls,
  ...driverArrayCalls,
  ...driverMemoryCalls,
  ...earlierCalls,
  ...memoryOperationCalls,
  ...virtualMemoryCalls,
  ...graphNodeCalls,
  ...greenContextCalls,
  ...kernelCalls,
  ...functionStateCalls,
  ...moduleCalls,
  ...tensorMapCalls,
  ...textureReferenceCalls,
};
