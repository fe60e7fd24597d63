import type { CopyTask, KernelTask } from "../../run/tasks.ts";
import { Bytes, type Call, type Handlers } from "../call.ts";
import { anyNodeCalls, createCondition } from "../graphs/generic.ts";
import { formCalls } from "../graphs/nodes.ts";
import { copyForm, copyNode, kernelForm, type ParamsForm } from "../graphs/params.ts";
import { arrayAt, regionWork } from "../regions.ts";
import { inContext } from "./driver-call.ts";
import { copyBytes3D, memoryType, regionCopy3D } from "./memory.ts";

/** CUDA_KERNEL_NODE_PARAMS_v2: that of the runtime, and a CUkernel that counts where there is no function. */
const kernelParams: ParamsForm<KernelTask> = {
  ...kernelForm,
  bytes: 72,
  read(call, view) {
    if (view.getBigUint64(0, true) === 0n) view.setBigUint64(0, view.getBigUint64(56, true), true);
    return kernelForm.read(call, view);
  },
  write(call, task) {
    const out = new Uint8Array(72);
    out.set(kernelForm.write(call, task));
    return out;
  },
};

/** CUDA_MEMCPY3D of a cudaMemcpy3DParms: an end is an array or a pitched pointer, and a position in it. */
function driverCopy(call: Call, params: Uint8Array): Uint8Array {
  const view = new DataView(params.buffer, params.byteOffset);
  const word = (at: number): bigint => view.getBigUint64(at, true);
  const ends = [0, 64];
  const arrays = ends.flatMap((at) => (word(at) === 0n ? [] : arrayAt(call, word(at))));
  const texelBytes = BigInt(arrays[0]?.image.texelBytes ?? 1);
  const out = new Bytes(copyBytes3D);
  for (const [at, to] of ends.map((end, i) => [end, 88 * i] as const)) {
    const isArray = word(at) !== 0n;
    out.u64(to, word(at + 8) * (isArray ? texelBytes : 1n));
    for (const next of [8, 16]) out.u64(to + next, word(at + 8 + next));
    out.u32(to + 32, isArray ? memoryType.array : memoryType.unified);
    if (isArray) out.u64(to + 56, word(at));
    else
      out
        .u64(to + 48, word(at + 32))
        .u64(to + 72, word(at + 40))
        .u64(to + 80, word(at + 56));
  }
  return out
    .u64(176, word(128) * texelBytes)
    .u64(184, word(136))
    .u64(192, word(144)).data;
}

/** CUDA_MEMCPY3D. The context that follows it in calls says nothing here: all contexts have one range of addresses. */
const copyParams: ParamsForm<CopyTask> = {
  ...copyForm,
  bytes: copyBytes3D,
  read: (call, view) => copyNode(call, regionWork(call, regionCopy3D(call, view))),
  write: (call, task) => driverCopy(call, copyForm.write(call, task)),
};

/** Names with an ending, and each entry point with a context. */
const versioned = (calls: Handlers, ending: string): Handlers =>
  Object.fromEntries(Object.entries(calls).map(([name, handler]) => [`${name}${ending}`, inContext(handler)]));

const anyNode = anyNodeCalls("cu", { kernel: kernelParams, copy: copyParams });

/** Nodes of graphs whose parameters the driver lays out in its own way. */
export const graphNodeCalls: Handlers = {
  ...versioned(formCalls("cuGraph", "Kernel", kernelForm), ""),
  ...versioned(formCalls("cuGraph", "Kernel", kernelParams), "_v2"),
  ...versioned(formCalls("cuGraph", "Memcpy", copyParams), ""),
  ...versioned(anyNode, ""),
  cuGraphAddNode_v2: inContext(anyNode["cuGraphAddNode"]!),
  /** handle, graph, context, value, flags */
  cuGraphConditionalHandleCreate: inContext((call) => createCondition(call, 3)),
};
