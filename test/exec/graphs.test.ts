import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { nodeType } from "../../src/cuda/work/graph.ts";
import { FakeProgram } from "./fake-program.ts";

// What these calls do and return: CUDA Runtime API, Graph Management and Stream Management; Programming Guide, CUDA
// Graphs.

const ptx = `.version 7.0
.target sm_75
.address_size 64
.visible .entry affine(.param .u64 at, .param .u64 times, .param .u64 plus)
{
    .reg .b32 %v, %t, %p;
    .reg .b64 %a;
    ld.param.u64 %a, [at];
    ld.param.u32 %t, [times];
    ld.param.u32 %p, [plus];
    ld.global.u32 %v, [%a];
    mad.lo.u32 %v, %v, %t, %p;
    st.global.u32 [%a], %v;
    ret;
}
`;

const [global, relaxed] = [0, 2];
const deviceToHost = 2;

/** A program with a kernel, 16 bytes of device memory that are 0, and two streams. */
async function prepared() {
  const program = new FakeProgram();
  const affine = await program.kernel(await program.register(ptx), "affine");
  const device = await program.malloc(16);
  await program.call("cudaMemset", device, 0, 16);
  const made = async (name: string, ...rest: number[]): Promise<bigint> => {
    const target = program.room(8);
    expect(await program.call(name, target, ...rest)).toBe(0);
    return program.u64(target);
  };
  const [s, t] = [await made("cudaStreamCreate"), await made("cudaStreamCreate")];
  const value = async (i = 0): Promise<number> => {
    const to = program.room(4);
    expect(await program.call("cudaMemcpy", to, device + BigInt(4 * i), 4, deviceToHost)).toBe(0);
    return program.i32(to);
  };
  return { program, affine, device, s, t, made, value };
}

type Prepared = Awaited<ReturnType<typeof prepared>>;

/** Adds a node that runs the kernel. */
async function kernelNode({ program, affine }: Prepared, graph: bigint, after: bigint[], args: (bigint | number)[]) {
  const params = program.room(kernelParams(program, affine, args));
  const list = program.room(new Uint8Array(BigUint64Array.from(after).buffer));
  const node = program.room(8);
  expect(await program.call("cudaGraphAddKernelNode", node, graph, list, after.length, params)).toBe(0);
  return program.u64(node);
}

/** cudaKernelNodeParams for one thread. */
function kernelParams(program: FakeProgram, affine: bigint, args: (bigint | number)[]): Uint8Array {
  const places = args.map((value) => program.room(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer)));
  const view = new DataView(new ArrayBuffer(56));
  view.setBigUint64(0, affine, true);
  for (let at = 8; at < 32; at += 4) view.setUint32(at, 1, true);
  view.setBigUint64(40, program.room(new Uint8Array(BigUint64Array.from(places).buffer)), true);
  return new Uint8Array(view.buffer);
}

async function instantiate({ program }: Prepared, graph: bigint): Promise<bigint> {
  const target = program.room(8);
  expect(await program.call("cudaGraphInstantiate", target, graph, 0)).toBe(0);
  return program.u64(target);
}

describe("graphs", () => {
  test("nodes run in the order of their edges, as often as the graph is launched", async () => {
    const p = await prepared();
    const { program, made, device, value, s } = p;
    const graph = await made("cudaGraphCreate", 0);
    const last = await kernelNode(p, graph, [], [device, 10, 1]);
    const first = await kernelNode(p, graph, [], [device, 1, 2]);
    const edge = [program.room(new Uint8Array(BigUint64Array.of(first).buffer)), program.room(8)] as const;
    program.view.setBigUint64(Number(edge[1] - 0x5000_0000n), last, true);
    expect(await program.call("cudaGraphAddDependencies", graph, edge[0], edge[1], 0, 1)).toBe(0);
    const exec = await instantiate(p, graph);
    for (let i = 0; i < 2; i++) expect(await program.call("cudaGraphLaunch", exec, s)).toBe(0);
    expect(await value()).toBe(((0 + 2) * 10 + 1 + 2) * 10 + 1);
  });

  // Runtime API, cudaGraphKernelNodeCopyAttributes
  test("attributes that a node has been given are gone when it gets those of another", async () => {
    const p = await prepared();
    const { program, made, device } = p;
    const graph = await made("cudaGraphCreate", 0);
    const [node, other] = [
      await kernelNode(p, graph, [], [device, 1, 2]),
      await kernelNode(p, graph, [], [device, 1, 2]),
    ];
    const priority = 8;
    const value = program.room(new Uint8Array(Int32Array.of(-5).buffer));
    expect(await program.call("cudaGraphKernelNodeSetAttribute", node, priority, value)).toBe(0);
    expect(await program.call("cudaGraphKernelNodeCopyAttributes", node, other)).toBe(0);
    const found = program.room(64);
    expect(await program.call("cudaGraphKernelNodeGetAttribute", node, priority, found)).toBe(0);
    expect(program.i32(found)).toBe(0);
  });

  test("an executable graph keeps what it was made of, and takes other parameters for itself", async () => {
    const p = await prepared();
    const { program, made, device, value, s, affine } = p;
    const graph = await made("cudaGraphCreate", 0);
    const node = await kernelNode(p, graph, [], [device, 1, 5]);
    const [one, other] = [await instantiate(p, graph), await instantiate(p, graph)];
    const params = program.room(kernelParams(program, affine, [device, 1, 100]));
    expect(await program.call("cudaGraphExecKernelNodeSetParams", other, node, params)).toBe(0);
    expect(await program.call("cudaGraphDestroy", graph)).toBe(0);
    await program.call("cudaGraphLaunch", one, s);
    await program.call("cudaGraphLaunch", other, s);
    expect(await value()).toBe(105);
    expect(await program.call("cudaGraphExecDestroy", one)).toBe(0);
    expect(await program.call("cudaGraphLaunch", one, s)).toBe(errors.invalidValue);
  });

  test("the parameters of a node can be asked for", async () => {
    const p = await prepared();
    const { program, made, device } = p;
    const graph = await made("cudaGraphCreate", 0);
    const node = await kernelNode(p, graph, [], [device, 3, 4]);
    const out = program.room(56);
    expect(await program.call("cudaGraphKernelNodeGetParams", node, out)).toBe(0);
    expect(program.u64(out)).toBe(p.affine);
    const type = program.room(4);
    expect(await program.call("cudaGraphNodeGetType", node, type)).toBe(0);
    expect(program.i32(type)).toBe(nodeType.kernel);
    expect(await program.call("cudaGraphMemsetNodeGetParams", node, out)).toBe(errors.invalidValue);
  });

  test("a child graph is copied when its node is added", async () => {
    const p = await prepared();
    const { program, made, device, value, s } = p;
    const [child, graph] = [await made("cudaGraphCreate", 0), await made("cudaGraphCreate", 0)];
    await kernelNode(p, child, [], [device, 1, 7]);
    const node = program.room(8);
    expect(await program.call("cudaGraphAddChildGraphNode", node, graph, 0, 0, child)).toBe(0);
    await kernelNode(p, child, [], [device, 1, 1000]);
    await kernelNode(p, graph, [program.u64(node)], [device, 2, 0]);
    await program.call("cudaGraphLaunch", await instantiate(p, graph), s);
    expect(await value()).toBe(14);
  });

  // Runtime API, cudaGraphExecChildGraphNodeSetParams: the topology of the other graph must be that of the node's.
  test("a child graph in an executable one takes other parameters, and its nodes stay known", async () => {
    const p = await prepared();
    const { program, made, affine, device, value, s } = p;
    const [child, graph] = [await made("cudaGraphCreate", 0), await made("cudaGraphCreate", 0)];
    const original = await kernelNode(p, child, [], [device, 0, 7]);
    const target = program.room(8);
    expect(await program.call("cudaGraphAddChildGraphNode", target, graph, 0, 0, child)).toBe(0);
    const node = program.u64(target);
    expect(await program.call("cudaGraphChildGraphNodeGetGraph", node, target)).toBe(0);
    const list = program.room(8);
    expect(
      await program.call(
        "cudaGraphGetNodes",
        program.u64(target),
        list,
        program.room(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)),
      ),
    ).toBe(0);
    const inside = program.u64(list);
    const exec = await instantiate(p, graph);
    const launched = async (): Promise<number> => {
      expect(await program.call("cudaGraphLaunch", exec, s)).toBe(0);
      return value();
    };
    const params = (plus: number): bigint => program.room(kernelParams(program, affine, [device, 0, plus]));
    await program.call("cudaGraphKernelNodeSetParams", original, params(8));
    expect(await program.call("cudaGraphExecChildGraphNodeSetParams", exec, node, child)).toBe(0);
    expect(await launched()).toBe(8);
    expect(await program.call("cudaGraphExecKernelNodeSetParams", exec, inside, params(9))).toBe(0);
    expect(await launched()).toBe(9);
    await kernelNode(p, child, [original], [device, 0, 10]);
    expect(await program.call("cudaGraphExecChildGraphNodeSetParams", exec, node, child)).toBe(errors.invalidValue);
    expect(await launched()).toBe(9);
  });

  test("a picture of a graph is a file of the program", async () => {
    const p = await prepared();
    const graph = await p.made("cudaGraphCreate", 0);
    await kernelNode(p, graph, [], [p.device, 1, 1]);
    expect(await p.program.call("cudaGraphDebugDotPrint", graph, p.program.text("g.dot"), 0)).toBe(0);
    expect(p.program.files.get("g.dot")).toMatch(/^digraph dot \{\n {2}"\d+" \[label="kernel affine"\];\n\}\n$/);
  });

  test("memory that a node allocates can be freed by another, or by the program", async () => {
    const p = await prepared();
    const { program, made, s } = p;
    const graph = await made("cudaGraphCreate", 0);
    const { address } = await allocationNode(p, graph);
    const exec = await instantiate(p, graph);
    // Not freed since the last launch: the next one is refused until the program does it.
    expect(await program.call("cudaGraphLaunch", exec, s)).toBe(0);
    expect(await program.call("cudaGraphLaunch", exec, s)).toBe(errors.invalidValue);
    expect(await program.call("cudaFree", address)).toBe(0);
    expect(await program.call("cudaGraphLaunch", exec, s)).toBe(0);
    expect(await graphMemory(p)).toEqual([64n, 64n, 64n, 64n]);
  });
});

// Runtime API, cudaGraphAddMemAllocNode and cudaGraphAddMemFreeNode: one executable graph at a time, nodes and edges
// that stay, one free for each allocation.
test("graphs with memory of their own are limited", async () => {
  const p = await prepared();
  const { program, made } = p;
  const graph = await made("cudaGraphCreate", 0);
  const { node, address } = await allocationNode(p, graph);
  const [free, target] = [program.room(8), program.room(8)];
  expect(await program.call("cudaGraphAddMemFreeNode", free, graph, node, 1, address)).toBe(0);
  expect(await program.call("cudaGraphAddMemFreeNode", target, graph, node, 1, address)).toBe(errors.invalidValue);
  expect(await program.call("cudaGraphRemoveDependencies", graph, node, free, 0, 1)).toBe(errors.notSupported);
  expect(await program.call("cudaGraphAddEmptyNode", target, graph, 0, 0)).toBe(0);
  expect(await program.call("cudaGraphDestroyNode", program.u64(target))).toBe(errors.notSupported);
  const exec = await instantiate(p, graph);
  expect(await program.call("cudaGraphInstantiate", target, graph, 0)).toBe(errors.notSupported);
  expect(await program.call("cudaGraphExecDestroy", exec)).toBe(0);
  await instantiate(p, graph);
});

/** A node that allocates 64 bytes: where its handle is, and the address of the bytes. */
async function allocationNode({ program }: Awaited<ReturnType<typeof prepared>>, graph: bigint) {
  const params = program.room(120);
  const [kind, place, size] = [0, 8, 104].map((at) => Number(params - 0x5000_0000n) + at);
  program.view.setUint32(kind!, 1, true);
  program.view.setUint32(place!, 1, true);
  program.view.setBigUint64(size!, 64n, true);
  const node = program.room(8);
  expect(await program.call("cudaGraphAddMemAllocNode", node, graph, 0, 0, params)).toBe(0);
  return { node, address: program.u64(params + 112n) };
}

/** Bytes of the memory of graphs: used, at most, reserved, at most. */
async function graphMemory({ program }: Awaited<ReturnType<typeof prepared>>): Promise<bigint[]> {
  const values: bigint[] = [];
  for (const attribute of [0, 1, 2, 3]) {
    const value = program.room(8);
    expect(await program.call("cudaDeviceGetGraphMemAttribute", 0, attribute, value)).toBe(0);
    values.push(program.u64(value));
  }
  return values;
}

// CUDA programming guide, "Graph Memory Nodes": physical memory stays mapped by a graph after it is freed, until it is
// trimmed; it is what NVIDIA's sample graphMemoryFootprint prints.
test("memory that graphs have freed stays with them until it is trimmed", async () => {
  const p = await prepared();
  const { program, made, s } = p;
  const graph = await made("cudaGraphCreate", 0);
  const { node, address } = await allocationNode(p, graph);
  expect(await program.call("cudaGraphAddMemFreeNode", program.room(8), graph, node, 1, address)).toBe(0);
  const exec = await instantiate(p, graph);
  expect(await graphMemory(p)).toEqual([0n, 0n, 0n, 0n]);
  for (let i = 0; i < 2; i++) {
    expect(await program.call("cudaGraphLaunch", exec, s)).toBe(0);
    expect(await program.call("cudaStreamSynchronize", s)).toBe(0);
    expect(await graphMemory(p)).toEqual([64n, 64n, 64n, 64n]);
  }
  expect(await program.call("cudaDeviceGraphMemTrim", 0)).toBe(0);
  expect(await graphMemory(p)).toEqual([0n, 64n, 0n, 64n]);
});

describe("captures", () => {
  test("into a graph that is there", async () => {
    const p = await prepared();
    const { program, made, affine, device, s, value } = p;
    const graph = await made("cudaGraphCreate", 0);
    expect(await program.call("cudaStreamBeginCaptureToGraph", s, graph, 0, 0, 0, global)).toBe(0);
    await program.launch(affine, 1, 1, [device, 1, 5], s);
    expect(await program.call("cudaStreamEndCapture", s, 0)).toBe(0);
    await program.call("cudaGraphLaunch", await instantiate(p, graph), s);
    expect(await value()).toBe(5);
  });

  test("a fork and a join by events, replayed", async () => {
    const p = await prepared();
    const { program, made, affine, device, s, t, value } = p;
    const [fork, join] = [await made("cudaEventCreate"), await made("cudaEventCreate")];
    expect(await program.call("cudaStreamBeginCapture", s, global)).toBe(0);
    await program.launch(affine, 1, 1, [device, 2, 3], s);
    await program.call("cudaEventRecord", fork, s);
    await program.call("cudaStreamWaitEvent", t, fork, 0);
    await program.launch(affine, 1, 1, [device + 4n, 5, 1], t);
    await program.call("cudaEventRecord", join, t);
    await program.call("cudaStreamWaitEvent", s, join, 0);
    // A stream that has been joined again takes no part any more, and may be destroyed.
    expect(await program.call("cudaStreamDestroy", t)).toBe(0);
    const graph = program.room(8);
    expect(await program.call("cudaStreamEndCapture", s, graph)).toBe(0);
    expect([await value(0), await value(1)]).toEqual([0, 0]);
    const exec = await instantiate(p, program.u64(graph));
    for (let i = 0; i < 2; i++) await program.call("cudaGraphLaunch", exec, s);
    expect([await value(0), await value(1)]).toEqual([9, 6]);
  });

  test.each([
    ["cudaStreamSynchronize", errors.streamCaptureUnsupported],
    ["cudaStreamQuery", errors.streamCaptureUnsupported],
  ])("%s is refused, and makes the capture invalid", async (name, wanted) => {
    const { program, s } = await prepared();
    await program.call("cudaStreamBeginCapture", s, relaxed);
    expect(await program.call(name, s)).toBe(wanted);
    const graph = program.room(8);
    expect(await program.call("cudaStreamEndCapture", s, graph)).toBe(errors.streamCaptureInvalidated);
    expect(await program.call("cudaStreamSynchronize", s)).toBe(0);
  });

  test("work in the legacy stream would have to wait for what is being captured", async () => {
    const { program, s, affine, device } = await prepared();
    await program.call("cudaStreamBeginCapture", s, relaxed);
    expect(await program.launch(affine, 1, 1, [device, 1, 1])).toBe(errors.streamCaptureImplicit);
  });

  test.each([
    [0, errors.streamCaptureUnsupported],
    [1, 0],
    [2, 0],
  ])("an allocation in another thread, in mode %i", async (mode, wanted) => {
    const { program, s } = await prepared();
    await program.call("cudaStreamBeginCapture", s, mode);
    expect(await program.callAs(2, "cudaMalloc", program.room(8), 64)).toBe(wanted);
  });

  test("a stream that is destroyed while it is captured takes its capture along", async () => {
    const { program, s } = await prepared();
    await program.call("cudaStreamBeginCapture", s, global);
    expect(await program.call("cudaStreamDestroy", s)).toBe(0);
    expect(await program.call("cudaMalloc", program.room(8), 64)).toBe(0);
    expect(await program.call("cudaDeviceSynchronize")).toBe(0);
  });

  // Those that may wait for what another stream does: the thread's own captures, unless they are relaxed.
  test.each(["cudaEventSynchronize", "cudaEventQuery", "cudaStreamSynchronize", "cudaStreamQuery"])(
    "%s is refused also for what is not captured",
    async (name) => {
      const { program, made, s, t } = await prepared();
      const other = name.includes("Event") ? await made("cudaEventCreate") : t;
      await program.call("cudaStreamBeginCapture", s, relaxed);
      expect(await program.call(name, other)).toBe(0);
      expect(await program.call("cudaStreamEndCapture", s, program.room(8))).toBe(0);
      await program.call("cudaStreamBeginCapture", s, global);
      expect(await program.call(name, other)).toBe(errors.streamCaptureUnsupported);
      const graph = program.room(8);
      expect(await program.call("cudaStreamEndCapture", s, graph)).toBe(errors.streamCaptureInvalidated);
      expect(await program.call("cudaStreamEndCapture", s, 0)).toBe(errors.invalidValue);
    },
  );

  // As tests for GPUs expect (hip-tests), also of launches.
  test("streams and events that were destroyed", async () => {
    const { program, made, s, affine, device } = await prepared();
    const event = await made("cudaEventCreate");
    for (const [name, handle] of [
      ["cudaStreamDestroy", s],
      ["cudaEventDestroy", event],
    ] as const) {
      expect(await program.call(name, handle)).toBe(0);
      expect(await program.call(name, handle)).toBe(errors.contextIsDestroyed);
      expect(await program.call(name, 0xff)).toBe(errors.invalidResourceHandle);
    }
    expect(await program.launch(affine, 1, 1, [device, 1, 1], s)).toBe(errors.contextIsDestroyed);
  });

  test("what is prohibited in captures makes all of them invalid", async () => {
    const { program, s, t } = await prepared();
    for (const stream of [s, t]) await program.call("cudaStreamBeginCapture", stream, global);
    expect(await program.call("cudaDeviceSynchronize")).toBe(errors.streamCaptureUnsupported);
    for (const stream of [s, t]) {
      const status = await program.call("cudaStreamEndCapture", stream, program.room(8));
      expect(status).toBe(errors.streamCaptureInvalidated);
    }
  });

  test("a stream that is not joined again ends the capture with an error", async () => {
    const { program, made, s, t, affine, device } = await prepared();
    const fork = await made("cudaEventCreate");
    await program.call("cudaStreamBeginCapture", s, relaxed);
    await program.call("cudaEventRecord", fork, s);
    await program.call("cudaStreamWaitEvent", t, fork, 0);
    await program.launch(affine, 1, 1, [device, 1, 1], t);
    expect(await program.call("cudaStreamEndCapture", s, program.room(8))).toBe(errors.streamCaptureUnjoined);
    expect(await program.launch(affine, 1, 1, [device, 1, 1], t)).toBe(0);
  });

  // Runtime API, cudaStreamUpdateCaptureDependencies: nodes that it removes need not be reached at the end.
  test("what the program takes out of the dependencies of a stream need not be joined", async () => {
    const p = await prepared();
    const { program, made, affine, device, s } = p;
    const graph = await made("cudaGraphCreate", 0);
    const first = await kernelNode(p, graph, [], [device, 1, 1]);
    const list = program.room(new Uint8Array(BigUint64Array.of(first).buffer));
    expect(await program.call("cudaStreamBeginCaptureToGraph", s, graph, 0, 0, 0, relaxed)).toBe(0);
    await program.launch(affine, 1, 1, [device, 1, 5], s);
    const set = 1;
    expect(await program.call("cudaStreamUpdateCaptureDependencies", s, list, 0, 1, set)).toBe(0);
    await program.launch(affine, 1, 1, [device, 1, 5], s);
    expect(await program.call("cudaStreamEndCapture", s, 0)).toBe(0);
  });

  test("the capture ends in the stream in which it began, and in the thread", async () => {
    const { program, made, s, t } = await prepared();
    const fork = await made("cudaEventCreate");
    await program.call("cudaStreamBeginCapture", s, global);
    await program.call("cudaEventRecord", fork, s);
    await program.call("cudaStreamWaitEvent", t, fork, 0);
    const graph = program.room(8);
    expect(await program.call("cudaStreamEndCapture", t, graph)).toBe(errors.streamCaptureUnmatched);
    expect(await program.callAs(2, "cudaStreamEndCapture", s, graph)).toBe(errors.streamCaptureWrongThread);
    expect(await program.call("cudaEventSynchronize", fork)).toBe(errors.capturedEvent);
  });
});
