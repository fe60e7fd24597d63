import { errors, fail, require } from "../../base/errors.ts";
import { Capture, captureMode } from "../../work/capture.ts";
import { areJoined, type Graph } from "../../work/graph.ts";
import type { Stream } from "../../work/stream.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { captureOf } from "../order.ts";
import { edgeDataBytes } from "./edges.ts";
import { addGraph, graphAt, nodesAt, writeNodes } from "./handles.ts";

const status = { none: 0, active: 1, invalidated: 2 } as const;

/** What becomes of the nodes that a stream depends on: flags of cudaStreamUpdateCaptureDependencies. */
const dependencyFlags = { add: 0, set: 1 } as const;

function begin(call: Call, mode: number, graph?: Graph): Capture {
  const stream = call.stream(0);
  require(mode >= captureMode.global && mode <= captureMode.relaxed);
  require(stream.kind !== "legacy", errors.streamCaptureUnsupported);
  require(stream.capture === null, errors.illegalState);
  const capture = new Capture(stream, { mode, thread: call.thread.id, ...(graph === undefined ? {} : { graph }) });
  call.process.beginCapture(capture);
  return capture;
}

function end(call: Call): Status {
  const stream = call.stream(0);
  // Nobody needs the graph of a capture that goes into one that is there already.
  const tell = (graph: bigint): void => {
    if (call.address(1) !== 0n) call.set64(call.address(1), graph);
  };
  const { capture } = stream;
  require(capture !== null, call.address(1) === 0n ? errors.invalidValue : errors.illegalState);
  require(capture.origin === stream, errors.streamCaptureUnmatched);
  const isOwnThread = capture.thread === call.thread.id || capture.mode === captureMode.relaxed;
  require(isOwnThread, errors.streamCaptureWrongThread);
  call.process.endCapture(capture);
  const isJoined = areJoined(capture.made, [...capture.tipsOf(stream), ...capture.released]);
  if (!capture.isInvalid && isJoined) {
    tell(addGraph(call, capture.graph));
    return 0;
  }
  tell(0n);
  return capture.isInvalid ? errors.streamCaptureInvalidated : errors.streamCaptureUnjoined;
}

/** Throws where the legacy stream is asked about, while it would have to wait for one that is being captured. */
function statusOf(call: Call, stream: Stream): number {
  const { streams } = call.process.device(stream.device);
  if (stream.kind === "legacy" && streams.implicit.size > 0) fail(errors.streamCaptureImplicit);
  if (stream.capture === null) return status.none;
  return stream.capture.isInvalid ? status.invalidated : status.active;
}

/** stream, status, id, graph, dependencies, edge data, count: all but the first two may be null */
function info(call: Call): Status {
  const stream = call.stream(0);
  const state = statusOf(call, stream);
  call.set32(call.target(1), state);
  const { capture } = stream;
  if (capture === null || state !== status.active) return 0;
  if (call.address(2) !== 0n) call.set64(call.address(2), capture.id);
  if (call.address(3) !== 0n) call.set64(call.address(3), addGraph(call, capture.graph));
  const tips = [...capture.tipsOf(stream)];
  if (call.address(4) !== 0n) call.set64(call.address(4), writeNodes(call, tips));
  if (call.address(5) !== 0n)
    call.set64(call.address(5), call.kept(new Uint8Array(edgeDataBytes * (tips.length || 1))));
  if (call.address(6) !== 0n) call.set64(call.address(6), tips.length);
  return 0;
}

export const captureCalls: Handlers = {
  cudaStreamBeginCapture(call) {
    begin(call, call.int(1));
    return 0;
  },
  /** stream, graph, dependencies, edge data, count, mode */
  cudaStreamBeginCaptureToGraph(call) {
    const graph = graphAt(call, 1);
    const after = nodesAt(call, call.address(2), call.size(4));
    require(after.every((node) => node.graph === graph));
    const capture = begin(call, call.int(5), graph);
    capture.join(capture.origin, new Set(after));
    return 0;
  },
  cudaStreamEndCapture: end,
  cudaStreamIsCapturing(call) {
    const target = call.target(1);
    call.set32(target, statusOf(call, call.stream(0)));
    return 0;
  },
  cudaStreamGetCaptureInfo: info,
  /** stream, nodes, edge data, count, flags */
  cudaStreamUpdateCaptureDependencies(call) {
    const stream = call.stream(0);
    const capture = captureOf(stream) ?? fail(errors.illegalState);
    const nodes = nodesAt(call, call.address(1), call.size(3));
    const flags = call.uint(4);
    require(flags <= dependencyFlags.set && nodes.every((node) => node.graph === capture.graph));
    const before = capture.tipsOf(stream);
    if (flags === dependencyFlags.set) for (const node of before) capture.released.add(node);
    capture.join(stream, new Set([...(flags === dependencyFlags.add ? before : []), ...nodes]));
    return 0;
  },
  cudaThreadExchangeStreamCaptureMode(call) {
    const target = call.target(0);
    const mode = call.host.u32(target);
    require(mode <= captureMode.relaxed);
    call.set32(target, call.thread.captureMode);
    call.thread.captureMode = mode;
    return 0;
  },
};
