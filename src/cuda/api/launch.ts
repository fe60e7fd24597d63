import { errors, fail, require } from "../base/errors.ts";
import { itemKind } from "../base/wire.ts";
import type { DeviceKernel } from "../state/device-module.ts";
import { checkLaunch, functionAttributes, type LaunchSpec, type Sizes } from "../run/kernel-launch.ts";
import { kernelTask } from "../run/tasks.ts";
import {
  type Attributes,
  attributeBytes,
  attributed,
  attributeWord,
  capturedAttributes,
  hasAttribute,
  launchAttribute,
  setDeviceUpdatable,
} from "./launch-attributes.ts";
import { dependencyType, kernelPort, nodeType } from "../work/graph.ts";
import type { Event, Stream } from "../work/stream.ts";
import { Bytes, type Call, type Handlers, type Status } from "./call.ts";
import { closeForLaunch } from "./host-access.ts";
import { enqueue, recordEvent } from "./order.ts";

/** The kernel that a handle stands for: a function of the host, or what the server gave out. */
export function kernelOf(call: Call, handle: bigint): DeviceKernel {
  return call.process.kernels.find(handle) ?? call.device.kernelOf(handle);
}

/** The sizes in two registers: x and y, then z. */
const sizesAt = (call: Call, i: number): Sizes => [
  call.uint(i),
  Number(BigInt.asUintN(32, call.address(i) >> 32n)),
  call.uint(i + 1),
];

/** The bytes of all parameters, from the addresses of the arguments. */
export function gather(call: Call, kernel: DeviceKernel, list: bigint): Uint8Array {
  const params = new Uint8Array(kernel.parameterBytes);
  if (kernel.parameters.length === 0) return params;
  require(list !== 0n);
  const addresses = call.host.words(list, kernel.parameters.length);
  kernel.parameters.forEach(({ at, bytes }, i) => {
    params.set(call.host.read(addresses[i]!, bytes), at);
  });
  return params;
}

/** Marks in a list of `extra`: arguments as one buffer, with its size. */
const extra = { end: 0n, buffer: 1n, size: 2n } as const;

/** Arguments that are given as one buffer. */
export function packedArguments(call: Call, kernel: DeviceKernel, list: bigint): Uint8Array {
  let [address, size] = [0n, 0];
  for (let at = list; ; at += 16n) {
    const [mark, value] = [call.host.u64(at), call.host.u64(at + 8n)];
    if (mark === extra.end) break;
    if (mark === extra.buffer) address = value;
    else if (mark === extra.size) size = Number(call.host.u64(value));
    else fail(errors.invalidValue);
  }
  require(size <= kernel.parameterBytes || kernel.parameterBytes === 0);
  const params = new Uint8Array(kernel.parameterBytes);
  params.set(call.host.read(address, Math.min(size, kernel.parameterBytes)));
  return params;
}

const noAttributes: Attributes = new Map();

/** Checks a launch, and appends it to a stream. `attributes`: those that it was given by number. */
export function launch(
  call: Call,
  asked: LaunchSpec,
  stream: Stream,
  handle: bigint,
  attributes: Attributes = noAttributes,
): Status {
  const device = call.process.device(stream.device);
  checkLaunch(asked, device, asked.isCooperative ? call.process.streamContexts.get(stream)?.green?.count : undefined);
  for (const limit of asked.kernel.fixedLimits) device.fixedLimits.add(limit);
  // Each field by its name: programs launch kernels of microseconds, and a copy takes some of them.
  const { kernel, grid, block, shared, cluster, isCooperative, params } = asked;
  const launchedAt = call.process.callStack;
  const spec: LaunchSpec = { kernel, grid, block, shared, cluster, isCooperative, params, launchedAt };
  const own = stream.capture === null ? undefined : capturedAttributes(attributes, isCooperative, stream.priority);
  closeForLaunch(call, enqueue(call, stream, kernelTask(spec, device, handle, own)), spec, stream);
  return 0;
}

/** Tells the client how the arguments of a kernel are packed, so that further launches may go one way. */
function teach(call: Call, function_: bigint, kernel: DeviceKernel): void {
  const { bounds } = kernel.kernel.ir;
  // What depends on more than the sizes of grid and block, as on the device of the stream, is decided here each time.
  if (call.process.deviceCount > 1) return;
  if (bounds.reqntid || bounds.reqnctapercluster || bounds.explicitcluster) return;
  const out = new Bytes(16 + 8 * kernel.parameters.length)
    .u32(0, kernel.maxThreads)
    .u32(4, kernel.maxDynamicShared)
    .u32(8, kernel.parameterBytes)
    .u32(12, kernel.parameters.length);
  kernel.parameters.forEach(({ at, bytes }, i) => {
    out.u32(16 + 8 * i, at).u32(20 + 8 * i, bytes);
  });
  if (out.data.length <= 2048) call.item(itemKind.learn, function_, out.data);
}

/** Programming guide, "Stream and Event Behavior": kernels are launched into streams of the current device alone. */
function requireOwn(call: Call, stream: Stream): void {
  require(stream.device === call.device.number, errors.invalidResourceHandle);
}

/** function, grid (2 words), block (2 words), arguments; on the stack: shared memory, stream */
function launchKernel(call: Call, isCooperative: boolean): Status {
  const handle = call.address(0);
  const kernel = kernelOf(call, handle);
  const stream = call.stream(7);
  requireOwn(call, stream);
  const spec: LaunchSpec = {
    kernel,
    grid: sizesAt(call, 1),
    block: sizesAt(call, 3),
    shared: call.size(6),
    cluster: null,
    isCooperative,
    params: gather(call, kernel, call.address(5)),
  };
  const status = launch(call, spec, stream, handle);
  if (!isCooperative) teach(call, handle, kernel);
  return status;
}

/** Notes of a captured launch that it may begin before the kernel ahead of it in the stream has ended. */
function noteSerialization(stream: Stream): void {
  for (const node of stream.capture?.tipsOf(stream) ?? []) {
    const [from, ...others] = node.dependencies;
    if (from?.task.type !== nodeType.kernel || others.length > 0) continue;
    node.edgeData.set(from, { fromPort: kernelPort.programmatic, type: dependencyType.programmatic });
  }
}

/** A launch with a configuration in the program's memory: cudaLaunchConfig_t, or CUlaunchConfig, which is the same. */
export function launchFrom(
  call: Call,
  { handle, config: at, params }: { readonly handle: bigint; readonly config: bigint; readonly params: Uint8Array },
): Status {
  const config = call.host.view(at, 56);
  const sizes = (i: number): Sizes => [0, 4, 8].map((k) => config.getUint32(i + k, true)) as unknown as Sizes;
  const kernel = kernelOf(call, handle);
  const stream = call.streamOf(config.getBigUint64(32, true));
  const entries = attributesOf(call, config);
  const attributes = new Map([...entries].map(([id, { value }]) => [id, value]));
  const has = (id: number): boolean => attributeWord(attributes.get(id) ?? new Uint8Array(attributeBytes)) !== 0;
  const shared = config.getUint32(24, true);
  const plain = { kernel, grid: sizes(0), block: sizes(12), shared, cluster: null, isCooperative: false, params };
  // Only nodes can be changed by kernels.
  require(!has(launchAttribute.deviceUpdatable) || stream.capture !== null);
  const events = eventsIn(call, attributes);
  const status = launch(call, attributed(plain, attributes), stream, handle, attributes);
  if (has(launchAttribute.programmaticSerialization)) noteSerialization(stream);
  if (has(launchAttribute.deviceUpdatable)) {
    const { at } = entries.get(launchAttribute.deviceUpdatable)!;
    for (const node of stream.capture!.tipsOf(stream)) setDeviceUpdatable(call, node, at);
  }
  // Both kinds are reached when blocks have begun, or said so: the end of the kernel is late enough.
  for (const event of events) recordEvent(call, event, stream);
  return status;
}

/** The events that a launch is to record by its attributes. Throws for those that measure time. */
function eventsIn(call: Call, attributes: Attributes): readonly Event[] {
  return [launchAttribute.programmaticEvent, launchAttribute.completionEvent].flatMap((id) => {
    const value = attributes.get(id);
    if (value === undefined) return [];
    const event = call.process.events.get(new DataView(value.buffer, value.byteOffset).getBigUint64(0, true));
    require(!event.timing);
    return event;
  });
}

/** The value of an attribute, and where the program has it. */
interface AttributeEntry {
  readonly at: bigint;
  readonly value: Uint8Array;
}

/** The attributes of a cudaLaunchConfig_t: each a number, and its value at 8. */
function attributesOf(call: Call, config: DataView): ReadonlyMap<number, AttributeEntry> {
  const list = config.getBigUint64(40, true);
  const found = new Map<number, AttributeEntry>();
  for (let i = 0; i < config.getUint32(48, true); i++) {
    const at = list + BigInt((8 + attributeBytes) * i);
    const id = call.host.u32(at);
    require(hasAttribute("launch", id));
    found.set(id, { at: at + 8n, value: call.host.read(at + 8n, attributeBytes) });
  }
  return found;
}

function launchWithConfig(call: Call): Status {
  const config = call.target(0);
  requireOwn(call, call.streamOf(call.host.u64(config + 32n)));
  const kernel = kernelOf(call, call.address(1));
  return launchFrom(call, { handle: call.address(1), config, params: gather(call, kernel, call.address(2)) });
}

/** What the client sends when it knows that a launch is accepted: struct lw_launch. */
export function launchOneWay(call: Call, data: DataView, params: Uint8Array): void {
  const handle = data.getBigUint64(0, true);
  const kernel = kernelOf(call, handle);
  const sizes = (at: number): Sizes => [0, 4, 8].map((i) => data.getUint32(at + i, true)) as unknown as Sizes;
  const stream = call.streamOf(data.getBigUint64(8, true));
  const shared = data.getUint32(40, true);
  const spec = { kernel, grid: sizes(16), block: sizes(28), shared, cluster: null, isCooperative: false, params };
  launch(call, spec, stream, handle);
}

/** Attributes of functions that can be set, by number. */
const functionAttribute = { maxDynamicShared: 8, carveout: 9, clusterX: 11, last: 15, nonPortableCluster: 14 } as const;

function getFunctionAttributes(call: Call): Status {
  const target = call.target(0);
  call.poke(target, functionAttributes(kernelOf(call, call.address(1)), call.process.gpu));
  return 0;
}

function setFunctionAttribute(call: Call): Status {
  const kernel = kernelOf(call, call.address(0));
  const [attribute, value] = [call.int(1), call.int(2)];
  require(attribute === functionAttribute.maxDynamicShared || (attribute >= 9 && attribute <= functionAttribute.last));
  if (attribute !== functionAttribute.maxDynamicShared) {
    if (attribute === functionAttribute.carveout) require(value >= -1 && value <= 100);
    kernel.hints.set(attribute, value);
    return 0;
  }
  require(value >= 0 && value + kernel.staticShared <= call.process.gpu.sharedOptIn);
  kernel.maxDynamicShared = value;
  call.item(itemKind.forget, call.address(0));
  return 0;
}

export const launchCalls: Handlers = {
  cudaLaunchKernel: (call) => launchKernel(call, false),
  cudaLaunchCooperativeKernel: (call) => launchKernel(call, true),
  cudaLaunchKernelExC: launchWithConfig,
  cudaFuncGetAttributes: getFunctionAttributes,
  cudaFuncSetAttribute: setFunctionAttribute,
  /** kernel, attribute, value, device: a kernel has one code for all devices */
  cudaKernelSetAttributeForDevice(call) {
    call.process.device(call.int(3));
    return setFunctionAttribute(call);
  },
  cudaFuncSetCacheConfig(call) {
    kernelOf(call, call.address(0));
    require(call.uint(1) <= 3);
    return 0;
  },
  cudaFuncSetSharedMemConfig(call) {
    kernelOf(call, call.address(0));
    require(call.uint(1) <= 2);
    return 0;
  },
  /** function, index, offset, size */
  cudaFuncGetParamInfo(call) {
    const place = kernelOf(call, call.address(0)).parameters[call.size(1)];
    require(place !== undefined);
    call.set64(call.target(2), place.at);
    if (call.address(3) !== 0n) call.set64(call.address(3), place.bytes);
    return 0;
  },
  cudaFuncGetName(call) {
    const target = call.target(0);
    const { name } = kernelOf(call, call.address(1)).kernel;
    const address = call.process.text(name);
    call.protect(address, name.length + 1, "open");
    call.set64(target, address);
    return 0;
  },
  __cudaRegisterFatBinary(call) {
    call.process.registry.addBinary(call.address(0), call.address(1));
    return 0;
  },
  __cudaUnregisterFatBinary(call) {
    for (const stub of call.process.unload(call.address(0))) call.item(itemKind.forget, stub);
    return 0;
  },
  __cudaRegisterFunction(call) {
    call.process.registry.addFunction(call.address(0), call.address(1), call.address(2));
    return 0;
  },
  __cudaRegisterVar(call) {
    const rest = { bytes: call.size(3), isConstant: call.uint(4) !== 0, pointer: null };
    call.process.registry.addVariable(call.address(0), call.address(1), call.address(2), rest);
    return 0;
  },
  __cudaRegisterManagedVar(call) {
    const rest = { bytes: call.size(3), isConstant: false, pointer: call.address(1) };
    call.process.registry.addVariable(call.address(0), call.address(1), call.address(2), rest);
    return 0;
  },
  __cudaInitModule(call) {
    const { device } = call;
    for (const variable of call.process.registry.managed(call.address(0))) {
      const address = device.variableAddress(variable);
      call.protect(address, variable.bytes, "open");
      call.set64(variable.pointer ?? fail(errors.invalidSymbol), address);
    }
    return 0;
  },
};
