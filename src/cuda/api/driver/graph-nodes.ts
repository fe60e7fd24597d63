import type { CopyTask, KernelTask } from "../../run/tasks.ts";
import { Bytes, type Handlers } from "../call.ts";
import { anyNodeCalls, createCondition } from "../graphs/generic.ts";
import { formCalls } from "../graphs/nodes.ts";
import { copyForm, copyNode, kernelForm, type ParamsForm } from "../graphs/params.ts";
import { regionWork } from "../regions.ts";
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

/** CUDA_MEMCPY3D of a cudaMemcpy3DParms whose ends are pitched pointers. */
function driverCopy(params: Uint8Array): Uint8Array {
  const view = new DataView(params.buffer, params.byteOffset);
  const word = (at: number): bigint => view.getBigUint64(at, true);
  const [from, to] = [32, 96];
  return new Bytes(copyBytes3D)
    .u32(32, memoryType.unified)
    .u64(48, word(from))
    .u64(72, word(from + 8))
    .u64(80, word(from + 24))
    .u32(120, memoryType.unified)
    .u64(136, word(to))
    .u64(160, word(to + 8))
    .u64(168, word(to + 24))
    .u64(176, word(128))
    .u64(184, word(136))
    .u64(192, word(144)).data;
}

/** CUDA_MEMCPY3D. The context that follows it in calls says nothing here: all contexts have one range of addresses. */
const copyParams: ParamsForm<CopyTask> = {
  ...copyForm,
  bytes: copyBytes3D,
  read: (call, view) => copyNode(call, regionWork(call, regionCopy3D(call, view))),
  write: (call, task) => driverCopy(copyForm.write(call, task)),
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
