import { captureMode } from "../../work/capture.ts";
import { adviceCalls } from "../advice.ts";
import { batchCalls } from "../batches.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { update } from "../graphs/exec.ts";
import { allGraphCalls } from "../graphs/index.ts";
import { sameAs } from "./contexts.ts";
import { inContext } from "./driver-call.ts";

/**
 * Entry points as they were before a later version gave them other arguments: programs that were built with an older
 * toolkit, or ask `cuGetProcAddress` for an older version, still call them. They do what the runtime's function of
 * today does.
 */

/** What a word of today's arguments is made of: one of the words given, or what a function makes of them. */
type Source = number | ((call: Call) => bigint);

const zero: Source = () => 0n;

/** Calls a function with other words than were given. */
const taking = (handler: (call: Call) => Status, sources: readonly Source[]) =>
  inContext((call) => {
    call.words.set(sources.map((source) => (typeof source === "number" ? call.words[source]! : source(call))));
    return handler(call);
  });

const graph = (name: string, sources: readonly Source[]) => taking(sameAs(allGraphCalls, name), sources);

/** The number of a device, or -1 for the host, as a CUmemLocation. */
const location =
  (i: number): Source =>
  (call) => {
    const [device, host] = [1n, 2n];
    const number = call.int(i);
    return number < 0 ? host : device | (BigInt(number) << 32n);
  };

/** exec, graph, the node that fails, log, its size */
const instantiate = inContext((call) => {
  if (call.address(2) !== 0n) call.set64(call.address(2), 0n);
  call.words[2] = 0n;
  return sameAs(allGraphCalls, "cudaGraphInstantiateWithFlags")(call);
});

/** exec, graph, the node that does not fit, result */
const updateWithNode = inContext((call) =>
  update(call, ({ result, node }) => {
    if (call.address(2) !== 0n) call.set64(call.address(2), node?.handle ?? 0n);
    call.set32(call.target(3), result);
  }),
);

export const earlierCalls: Handlers = {
  /** graph, from, to, count */
  cuGraphAddDependencies: graph("cudaGraphAddDependencies", [0, 1, 2, zero, 3]),
  cuGraphRemoveDependencies: graph("cudaGraphRemoveDependencies", [0, 1, 2, zero, 3]),
  cuGraphGetEdges: graph("cudaGraphGetEdges", [0, 1, 2, zero, 3]),
  /** node, list, count */
  cuGraphNodeGetDependencies: graph("cudaGraphNodeGetDependencies", [0, 1, zero, 2]),
  cuGraphNodeGetDependentNodes: graph("cudaGraphNodeGetDependentNodes", [0, 1, zero, 2]),
  cuGraphInstantiate: instantiate,
  cuGraphInstantiate_v2: instantiate,
  cuGraphExecUpdate: updateWithNode,
  cuStreamBeginCapture: graph("cudaStreamBeginCapture", [0, () => BigInt(captureMode.global)]),
  /** stream, status, id */
  cuStreamGetCaptureInfo: graph("cudaStreamGetCaptureInfo", [0, 1, 2, zero, zero, zero, zero]),
  /** stream, status, id, graph, dependencies, count */
  cuStreamGetCaptureInfo_v2: graph("cudaStreamGetCaptureInfo", [0, 1, 2, 3, 4, zero, 5]),
  /** stream, nodes, count, flags */
  cuStreamUpdateCaptureDependencies: graph("cudaStreamUpdateCaptureDependencies", [0, 1, zero, 2, 3]),
  /** pointer, bytes, advice, device */
  cuMemAdvise: taking(sameAs(adviceCalls, "cudaMemAdvise"), [0, 1, 2, location(3)]),
  /** pointer, bytes, device, stream */
  cuMemPrefetchAsync: taking(sameAs(adviceCalls, "cudaMemPrefetchAsync"), [0, 1, location(2), zero, 3]),
  /** Today's, with the copy that fails before the stream: which it is stays unknown. */
  cuMemcpyBatchAsync: taking(sameAs(batchCalls, "cudaMemcpyBatchAsync"), [0, 1, 2, 3, 4, 5, 6, 8]),
  cuMemcpy3DBatchAsync: taking(sameAs(batchCalls, "cudaMemcpy3DBatchAsync"), [0, 1, 3, 4]),
};
