import type { DeviceGraphLaunch, DeviceNodeUpdate, GraphTurn } from "../../machine/state/device-work.ts";
import type { ExternalCall, ExternalFunction } from "../../machine/state/externals.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { status } from "./device-status.ts";
import { readBytes } from "./lane-memory.ts";

/** The streams that say when a graph begins which a kernel launches (cuda_device_runtime_api.h). */
const turns: ReadonlyMap<bigint, GraphTurn> = new Map([
  [0x0100_0000_0000_0000n, "tail"],
  [0x0200_0000_0000_0000n, "fire-and-forget"],
  [0x0300_0000_0000_0000n, "sibling"],
]);

/** The graphs that the kernel of a grid has launched so far. */
const launched = new WeakMap<object, DeviceGraphLaunch[]>();

/** `cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)` */
export const launchGraph: ExternalFunction = (call) => {
  const { grid } = call.x.warp.cta;
  const { graphs, handOver } = grid.device;
  if (graphs === null || handOver === null) return status.notSupported;
  const [graph = 0n, stream = 0n] = call.args;
  const turn = turns.get(stream);
  if (turn === undefined) return status.invalidValue;
  const launch: DeviceGraphLaunch = { graph, turn };
  const earlier = launched.get(grid) ?? [];
  const refusal = graphs.refusal(launch, earlier);
  if (refusal !== 0) return BigInt(refusal);
  launched.set(grid, [...earlier, launch]);
  handOver({ kind: "operation", run: () => graphs.launch(launch) });
  return status.success;
};

function update({ x: { warp } }: ExternalCall, node: bigint, change: DeviceNodeUpdate): bigint {
  const { graphs } = warp.cta.grid.device;
  return graphs === null ? status.notSupported : BigInt(graphs.update(node, change));
}

/** `cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t, size_t offset, const void *value, size_t size)` */
export const setNodeParameter: ExternalFunction = (call) => {
  const [node = 0n, offset = 0n, value = 0n, size = 0n] = call.args;
  const bytes = readBytes(call, value, Number(size));
  return update(call, node, { kind: "parameters", offset: Number(offset), bytes });
};

/** `cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node, bool enable)` */
export const setNodeEnabled: ExternalFunction = (call) => {
  const [node = 0n, enable = 0n] = call.args;
  return update(call, node, { kind: "enabled", isEnabled: (enable & 0xffn) !== 0n });
};

/** `cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node, dim3 grid)` */
export const setNodeGrid: ExternalFunction = (call) => {
  const [node = 0n, ...sizes] = call.args;
  return update(call, node, { kind: "grid", grid: sizes.map(Number) as unknown as Dim3 });
};

/** A cudaGraphKernelNodeUpdate: the node, which field, and what belongs to that. */
const updateBytes = 40;
const field = { grid: 1, parameters: 2, enabled: 3 } as const;

function updateAt(call: ExternalCall, view: DataView): DeviceNodeUpdate | null {
  switch (view.getUint32(8, true)) {
    case field.grid:
      return { kind: "grid", grid: [16, 20, 24].map((at) => view.getUint32(at, true)) as unknown as Dim3 };
    case field.parameters: {
      const [value, offset, size] = [16, 24, 32].map((at) => view.getBigUint64(at, true));
      return { kind: "parameters", offset: Number(offset), bytes: readBytes(call, value!, Number(size)) };
    }
    case field.enabled:
      return { kind: "enabled", isEnabled: view.getUint32(16, true) !== 0 };
    default:
      return null;
  }
}

/** `cudaError_t cudaGraphKernelNodeUpdatesApply(const cudaGraphKernelNodeUpdate *updates, size_t count)` */
export const applyNodeUpdates: ExternalFunction = (call) => {
  const [list = 0n, count = 0n] = call.args;
  for (let i = 0n; i < count; i++) {
    const view = new DataView(readBytes(call, list + i * BigInt(updateBytes), updateBytes).buffer);
    const change = updateAt(call, view);
    const result = change === null ? status.invalidValue : update(call, view.getBigUint64(0, true), change);
    if (result !== status.success) return result;
  }
  return status.success;
};
