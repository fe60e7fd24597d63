import { require } from "../../base/errors.ts";
import { itemKind } from "../../base/wire.ts";
import { checkLaunch, type LaunchSpec, type Sizes } from "../../run/kernel-launch.ts";
import type { Extent, Fill } from "../../run/regions.ts";
import {
  type CopyTask,
  emptyTask,
  type FillTask,
  type HostTask,
  hostTask,
  type KernelTask,
  kernelTask,
} from "../../run/tasks.ts";
import { offsetOf } from "../../base/addresses.ts";
import { nodeType, type Task } from "../../work/graph.ts";
import { Bytes, type Call } from "../call.ts";
import { packedArguments, gather, kernelOf } from "../launch.ts";
import { type CopyWork, copyWork, fillOf } from "../memory.ts";
import { regionCopyOf, regionWork } from "../regions.ts";

const sizesIn = (view: DataView, at: number): Sizes => [
  view.getUint32(at, true),
  view.getUint32(at + 4, true),
  view.getUint32(at + 8, true),
];

/** cudaKernelNodeParams: function, grid, block, shared memory, arguments, extra. */
function kernelParams(call: Call, view: DataView): KernelTask {
  const function_ = view.getBigUint64(0, true);
  const kernel = kernelOf(call, function_);
  const [list, packed] = [view.getBigUint64(40, true), view.getBigUint64(48, true)];
  const params = list === 0n && packed !== 0n ? packedArguments(call, kernel, packed) : gather(call, kernel, list);
  const sizes = { grid: sizesIn(view, 8), block: sizesIn(view, 20), shared: view.getUint32(32, true) };
  const spec: LaunchSpec = { kernel, ...sizes, cluster: null, isCooperative: false, params };
  checkLaunch(spec, call.device);
  return kernelTask(spec, call.device, function_);
}

/** The same for the program, with the arguments in memory of the server's own. */
function writeKernelParams(call: Call, { spec, function: function_ }: KernelTask): Uint8Array {
  const { parameters } = spec.kernel;
  const list = new Uint8Array(8 * parameters.length + spec.params.length + 8);
  const address = call.kept(list);
  const view = new DataView(list.buffer);
  parameters.forEach(({ at }, i) => {
    view.setBigUint64(8 * i, address + BigInt(8 * parameters.length + at), true);
  });
  list.set(spec.params, 8 * parameters.length);
  call.process.machine.memory.write(offsetOf(address)!, list);
  const out = new Bytes(56).u64(0, function_).u32(32, spec.shared).u64(40, address);
  [...spec.grid, ...spec.block].forEach((n, i) => {
    out.u32(8 + 4 * i, n);
  });
  return out.data;
}

/** What a copy does, as the task of a node: what goes wrong then has no caller, and makes the context unusable. */
export const copyNode = ({ process }: Call, work: CopyWork): CopyTask =>
  copyWork(process, work, (code) => process.break(code));

const copyParams3D = (call: Call, view: DataView): CopyTask => {
  const given = new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
  return copyNode(call, { ...regionWork(call, regionCopyOf(call, view)), params: () => given });
};

/** cudaMemsetParams: address, pitch, value, bytes of an element, elements in a row, rows. */
function fillParams(call: Call, view: DataView): FillTask {
  const size = (at: number): number => Number(view.getBigUint64(at, true));
  const elementBytes = view.getUint32(20, true);
  require(elementBytes === 1 || elementBytes === 2 || elementBytes === 4);
  const extent: Extent = { width: size(24) * elementBytes, height: size(32), depth: 1 };
  require(extent.width > 0 && extent.height > 0);
  const pitch = size(8);
  const region = { address: view.getBigUint64(0, true), pitch, rows: extent.height };
  const fill: Fill = { region, extent, value: view.getUint32(16, true), elementBytes };
  return fillOf(call.process, fill);
}

function writeFillParams({ fill: { region, extent, value, elementBytes } }: FillTask): Uint8Array {
  return new Bytes(40)
    .u64(0, region.address)
    .u64(8, region.pitch)
    .u32(16, value)
    .u32(20, elementBytes)
    .u64(24, extent.width / elementBytes)
    .u64(32, extent.height).data;
}

/** cudaHostNodeParams: a function of the program and what it is given. */
function hostParams(call: Call, view: DataView): HostTask {
  const function_ = view.getBigUint64(0, true);
  require(function_ !== 0n);
  call.item(itemKind.callbacks, 0n);
  return hostTask(call.process, function_, view.getBigUint64(8, true));
}

const writeHostParams = (task: HostTask): Uint8Array => new Bytes(16).u64(0, task.function).u64(8, task.data).data;

/** How the parameters of a kind of nodes are read from the program's memory, and how many bytes they are. */
export interface ParamsForm<T extends Task> {
  readonly bytes: number;
  readonly read: (call: Call, view: DataView) => T;
  readonly write: (call: Call, task: T) => Uint8Array;
  readonly is: (task: Task) => task is T;
}

const isOf =
  <T extends Task>(type: Task["type"]) =>
  (task: Task): task is T =>
    task.type === type;

export const kernelForm: ParamsForm<KernelTask> = {
  bytes: 56,
  read: kernelParams,
  write: writeKernelParams,
  is: isOf(nodeType.kernel),
};

export const copyForm: ParamsForm<CopyTask> = {
  bytes: 160,
  read: copyParams3D,
  write: (_call, task) => task.params(),
  is: isOf(nodeType.copy),
};

export const fillForm: ParamsForm<FillTask> = {
  bytes: 40,
  read: fillParams,
  write: (_call, task) => writeFillParams(task),
  is: isOf(nodeType.fill),
};

export const hostForm: ParamsForm<HostTask> = {
  bytes: 16,
  read: hostParams,
  write: (_call, task) => writeHostParams(task),
  is: isOf(nodeType.host),
};

/** What has no parameters. */
export const readEmpty = (): Task => emptyTask;
