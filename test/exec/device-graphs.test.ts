import { expect, test } from "vitest";
import { offsetOf } from "../../src/cuda/base/addresses.ts";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// Graphs that kernels launch and change. CUDA Programming Guide, "Device Graph Launch"; cuda_device_runtime_api.h and
// driver_types.h (CUDA 13.0) for streams, structures, what graphs may have, and what nodes that kernels change may not.

const ptx = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) cudaGraphLaunch (.param .b64 graph, .param .b64 stream);
.extern .func (.param .b32 r) cudaGraphKernelNodeSetParam
  (.param .b64 node, .param .b64 offset, .param .b64 value, .param .b64 size);
.extern .func (.param .b32 r) cudaGraphKernelNodeSetEnabled (.param .b64 node, .param .b32 enable);
.extern .func (.param .b32 r) cudaGraphKernelNodeSetGridDim (.param .b64 node, .param .align 4 .b8 grid[12]);
.extern .func (.param .b32 r) cudaGraphKernelNodeUpdatesApply (.param .b64 updates, .param .b64 count);
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
  (.param .b64 f, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 buffer, .param .b64 stream);

// Appends a value to a list, whose length comes first.
.visible .entry note(.param .u64 list, .param .u64 value) {
  .reg .b64 %list, %at, %value;
  ld.param.u64 %list, [list]; ld.param.u64 %value, [value];
  atom.add.u64 %at, [%list], 1;
  shl.b64 %at, %at, 3; add.u64 %at, %at, %list;
  st.u64 [%at+8], %value;
  ret;
}

// Launches graphs, each a handle and a stream, and writes what that gives behind the handle of its own graph.
.visible .entry launch(.param .u64 out, .param .u64 graphs, .param .u64 count) {
  .reg .pred %done; .reg .b32 %status; .reg .b64 %out, %graphs, %count, %graph, %stream;
  ld.param.u64 %out, [out]; ld.param.u64 %graphs, [graphs]; ld.param.u64 %count, [count];
  mov.u64 %graph, %current_graph_exec;
  st.u64 [%out], %graph;
next:
  setp.eq.u64 %done, %count, 0;
  @%done ret;
  ld.u64 %graph, [%graphs]; ld.u64 %stream, [%graphs+8];
  { .param .b64 g; .param .b64 s; .param .b32 r;
    st.param.b64 [g], %graph; st.param.b64 [s], %stream;
    call.uni (r), cudaGraphLaunch, (g, s);
    ld.param.b32 %status, [r]; }
  add.u64 %out, %out, 8; add.u64 %graphs, %graphs, 16; sub.u64 %count, %count, 1;
  st.u32 [%out], %status;
  bra next;
}

// Counts down, and launches its own graph again until that is 0.
.visible .entry again(.param .u64 left) {
  .reg .pred %done; .reg .b64 %left, %n, %graph;
  ld.param.u64 %left, [left];
  ld.u64 %n, [%left]; sub.u64 %n, %n, 1; st.u64 [%left], %n;
  setp.eq.u64 %done, %n, 0;
  @%done ret;
  mov.u64 %graph, %current_graph_exec;
  { .param .b64 g; .param .b64 s; .param .b32 r;
    st.param.b64 [g], %graph; st.param.b64 [s], 0x0100000000000000;
    call.uni (r), cudaGraphLaunch, (g, s); }
  ret;
}

// Launches a kernel.
.visible .entry parent(.param .u64 list) {
  .reg .b64 %f; .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
  mov.u64 %f, note;
  st.param.b64 [f], %f; st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
  st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;
  call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);
  { .param .b64 p; .param .b64 t; .param .b32 q; .reg .b64 %buffer;
    ld.param.b64 %buffer, [r]; st.param.b64 [p], %buffer; st.param.b64 [t], 0;
    call.uni (q), __cudaCDP2LaunchDeviceV2, (p, t); }
  ret;
}

// Changes a node in one of several ways.
.visible .entry change(.param .u64 node, .param .u64 way, .param .u64 data, .param .u64 out) {
  .reg .pred %is; .reg .b32 %status; .reg .b64 %node, %way, %data, %out;
  .param .b64 n; .param .b32 r;
  ld.param.u64 %node, [node]; ld.param.u64 %way, [way]; ld.param.u64 %data, [data]; ld.param.u64 %out, [out];
  ld.u64 %way, [%way];
  st.param.b64 [n], %node;
  setp.eq.u64 %is, %way, 0; @%is bra parameter;
  setp.eq.u64 %is, %way, 1; @%is bra disable;
  setp.eq.u64 %is, %way, 2; @%is bra grid;
  setp.eq.u64 %is, %way, 3; @%is bra several;
  ret;
parameter:
  { .param .b64 o; .param .b64 v; .param .b64 s;
    st.param.b64 [o], 8; st.param.b64 [v], %data; st.param.b64 [s], 8;
    call.uni (r), cudaGraphKernelNodeSetParam, (n, o, v, s); }
  bra end;
disable:
  { .param .b32 e; st.param.b32 [e], 0; call.uni (r), cudaGraphKernelNodeSetEnabled, (n, e); }
  bra end;
grid:
  { .param .align 4 .b8 g[12]; st.param.b32 [g], 3; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
    call.uni (r), cudaGraphKernelNodeSetGridDim, (n, g); }
  bra end;
several:
  { .param .b64 u; .param .b64 c; st.param.b64 [u], %data; st.param.b64 [c], 2;
    call.uni (r), cudaGraphKernelNodeUpdatesApply, (u, c); }
end:
  ld.param.b32 %status, [r];
  st.u32 [%out], %status;
  ret;
}
`;

const [tail, fireAndForget, sibling] = [1n << 56n, 2n << 56n, 3n << 56n];
const deviceLaunch = 4;
const [hostToDevice, deviceToHost] = [1, 2];
const words = (...all: (bigint | number)[]): Uint8Array => new Uint8Array(BigUint64Array.from(all, BigInt).buffer);

async function prepared() {
  const program = new FakeProgram();
  const { get } = program;
  const handle = await program.register(ptx);
  const kernels = new Map<string, bigint>();
  for (const name of ["note", "launch", "again", "parent", "change"]) {
    kernels.set(name, await program.kernel(handle, name));
  }
  /** Adds a kernel of one thread to a graph. */
  const add = async (
    graph: bigint,
    kernel: string,
    args: (bigint | number)[],
    after: bigint[] = [],
  ): Promise<bigint> => {
    const places = args.map((value) => program.room(words(value)));
    const params = words(kernels.get(kernel)!, 0, 0, 0, 0, program.room(words(...places)), 0);
    new Uint32Array(params.buffer, 8, 6).fill(1);
    const before = program.room(words(...after));
    return await get("cudaGraphAddKernelNode", graph, before, after.length, program.room(params));
  };
  const graphOf = async (kernel: string, ...args: (bigint | number)[]): Promise<bigint> => {
    const graph = await get("cudaGraphCreate", 0);
    await add(graph, kernel, args);
    return graph;
  };
  /** A graph of one kernel that kernels may launch. */
  const launchable = async (kernel: string, ...args: (bigint | number)[]): Promise<bigint> => {
    const exec = await get("cudaGraphInstantiate", await graphOf(kernel, ...args), deviceLaunch);
    expect(await program.call("cudaGraphUpload", exec, 0)).toBe(0);
    return exec;
  };
  const on = async (...all: (bigint | number)[]): Promise<bigint> => {
    const at = await program.malloc(8 * all.length);
    await program.call("cudaMemcpy", at, program.room(words(...all)), 8 * all.length, hostToDevice);
    return at;
  };
  const read = async (at: bigint, count: number): Promise<number[]> => {
    const to = program.room(8 * count);
    expect(await program.call("cudaMemcpy", to, at, 8 * count, deviceToHost)).toBe(0);
    return Array.from({ length: count }, (_, i) => Number(program.u64(to + BigInt(8 * i))));
  };
  const list = await on(...new Array<number>(16).fill(0));
  /** What the kernels `note` have left so far. */
  const noted = async (): Promise<number[]> => {
    const [count = 0, ...values] = await read(list, 16);
    return values.slice(0, count);
  };
  /** A graph whose kernel launches others, and where that kernel leaves the results. */
  const launching = async (flags: number, ...graphs: (readonly [exec: bigint, stream: bigint])[]) => {
    const out = await on(...new Array<number>(graphs.length + 1).fill(77));
    const graph = await graphOf("launch", out, await on(...graphs.flat()), graphs.length);
    return { out, exec: await get("cudaGraphInstantiate", graph, flags) };
  };
  const run = async (exec: bigint): Promise<void> => {
    expect(await program.call("cudaGraphLaunch", exec, 0)).toBe(0);
    expect(await program.call("cudaDeviceSynchronize")).toBe(0);
  };
  return { program, get, add, graphOf, launchable, on, read, list, noted, launching, run, kernels };
}

test("what a graph launches by itself is a part of it, and comes before what it launches last", async () => {
  const { launchable, launching, list, noted, read, run } = await prepared();
  const [first, second] = [await launchable("note", list, 1), await launchable("note", list, 2)];
  const { exec, out } = await launching(0, [first, tail], [second, fireAndForget]);
  await run(exec);
  expect(await noted()).toEqual([2, 1]);
  // The graph of the host is none that kernels can launch.
  expect(await read(out, 3)).toEqual([0, 0, 0]);
});

test("what a tail launches last comes before the other tails", async () => {
  const { program, launchable, launching, list, noted, run } = await prepared();
  const [one, two] = [await launchable("note", list, 1), await launchable("note", list, 2)];
  const inner = await launching(deviceLaunch, [one, tail]);
  await program.call("cudaGraphUpload", inner.exec, 0);
  const beside = await launchable("note", list, 3);
  const { exec } = await launching(0, [inner.exec, tail], [two, tail], [beside, fireAndForget]);
  await run(exec);
  expect(await noted()).toEqual([3, 1, 2]);
});

test("the stream goes on when all has ended that a graph has launched, beside it too", async () => {
  const { program, launchable, launching, list, noted, run, kernels } = await prepared();
  const { exec } = await launching(0, [await launchable("note", list, 1), sibling]);
  expect(await program.call("cudaGraphLaunch", exec, 0)).toBe(0);
  expect(await program.launch(kernels.get("note")!, 1, 1, [list, 2])).toBe(0);
  expect(await program.call("cudaDeviceSynchronize")).toBe(0);
  expect(await noted()).toEqual([1, 2]);
  await run(exec);
  expect(await noted()).toEqual([1, 2, 1]);
});

test("a graph launches itself again", async () => {
  const { launchable, on, read, run } = await prepared();
  const left = await on(100);
  await run(await launchable("again", left));
  expect(await read(left, 1)).toEqual([0]);
});

test("a kernel knows its graph, if kernels may launch that", async () => {
  const { launching, read, run } = await prepared();
  const { exec, out } = await launching(deviceLaunch);
  await run(exec);
  expect(await read(out, 1)).toEqual([Number(exec)]);
});

test("launches that are refused", async () => {
  const { get, graphOf, launchable, launching, list, noted, read, run } = await prepared();
  const note = await launchable("note", list, 1);
  const notUploaded = await get("cudaGraphInstantiate", await graphOf("note", list, 2), deviceLaunch);
  const ofHost = await get("cudaGraphInstantiate", await graphOf("note", list, 3), 0);
  const { exec, out } = await launching(
    0,
    ...([
      [note, fireAndForget],
      [note, fireAndForget],
      [notUploaded, tail],
      [ofHost, tail],
    ] as const),
    ...([
      [note, 0n],
      [0x1234n, tail],
    ] as const),
  );
  await run(exec);
  expect(await noted()).toEqual([1]);
  const { invalidValue } = errors;
  expect(await read(out, 7)).toEqual([0, 0, ...new Array<number>(5).fill(invalidValue)]);
});

test("a graph launches at most 120 others by themselves", async () => {
  const { launchable, launching, list, read, run } = await prepared();
  const graphs: bigint[] = [];
  for (let i = 0; i < 121; i++) graphs.push(await launchable("launch", list, list, 0));
  const { exec, out } = await launching(0, ...graphs.map((graph) => [graph, fireAndForget] as const));
  await run(exec);
  expect((await read(out, 122)).slice(1)).toEqual([...new Array<number>(120).fill(0), 69]);
});

test("a kernel outside of graphs launches none", async () => {
  const { program, kernels, launchable, list, noted, on, read } = await prepared();
  const out = await on(77, 77);
  const graphs = await on(await launchable("note", list, 1), fireAndForget);
  expect(await program.launch(kernels.get("launch")!, 1, 1, [out, graphs, 1])).toBe(0);
  expect(await read(out, 2)).toEqual([0, errors.notSupported]);
  expect(await noted()).toEqual([]);
});

test("graphs that cannot be launched by kernels", async () => {
  const { program, get, graphOf, list } = await prepared();
  const params = program.room(32);
  const target = program.room(8);
  const refusal = async (graph: bigint): Promise<[result: number, node: bigint]> => {
    program.memory.set(words(deviceLaunch, 0, 77, 77), Number(params - 0x5000_0000n));
    expect(await program.call("cudaGraphInstantiateWithParams", target, graph, params)).not.toBe(0);
    return [program.i32(params + 24n), program.u64(params + 16n)];
  };
  const empty = await get("cudaGraphCreate", 0);
  expect(await refusal(empty)).toEqual([2, 0n]);
  const hostNode = await get("cudaGraphAddHostNode", empty, 0, 0, program.room(words(0x4000, 0)));
  expect(await refusal(empty)).toEqual([3, hostNode]);
  const [result] = await refusal(await graphOf("parent", list));
  expect(result).toBe(3);
  const autoFree = 1;
  const note = await graphOf("note", list, 1);
  expect(await program.call("cudaGraphInstantiate", target, note, deviceLaunch | autoFree)).toBe(errors.invalidValue);
});

test("a kernel changes a node: its parameters, its grid, whether it runs", async () => {
  const { program, get, add, list, noted, on, read, run } = await prepared();
  const graph = await get("cudaGraphCreate", 0);
  const [way, data, out] = [await on(9), await on(5, 0, 0, 0, 0, 0, 0, 0, 0, 0), await on(77)];
  const node = await add(graph, "note", [list, 1]);
  const deviceUpdatable = 13;
  const value = program.room(64);
  const set = (is: number): Promise<number> => {
    program.view.setUint32(Number(value - 0x5000_0000n), is, true);
    return program.call("cudaGraphKernelNodeSetAttribute", node, deviceUpdatable, value);
  };
  expect(await set(2)).toBe(errors.invalidValue);
  expect(await set(0)).toBe(0);
  expect(await set(1)).toBe(0);
  expect(await set(0)).toBe(errors.invalidValue);
  const known = program.u64(value + 8n);
  // The change comes first, so that it counts in the same launch.
  const changing = await add(graph, "change", [known, way, data, out]);
  const edge = [program.room(words(changing)), program.room(words(node))] as const;
  expect(await program.call("cudaGraphAddDependencies", graph, ...edge, 0, 1)).toBe(0);
  expect(await program.call("cudaGraphDestroyNode", node)).toBe(errors.invalidValue);
  const exec = await get("cudaGraphInstantiate", graph, 0);
  expect(await program.call("cudaGraphInstantiate", program.room(8), graph, 0)).not.toBe(0);
  const info = program.room(24);
  expect(await program.call("cudaGraphExecUpdate", exec, graph, info)).toBe(errors.invalidValue);
  const go = async (kind: number): Promise<number[]> => {
    await program.call("cudaMemcpy", way, program.room(words(kind)), 8, hostToDevice);
    await program.call("cudaMemset", list, 0, 8);
    await run(exec);
    if (kind < 4) expect(await read(out, 1)).toEqual([0]);
    return await noted();
  };
  expect(await go(9)).toEqual([1]);
  expect(await go(0)).toEqual([5]);
  expect(await go(2)).toEqual([5, 5, 5]);
  expect(await go(1)).toEqual([]);
  expect(await go(9)).toEqual([]);
  // Two structures of 40 bytes: the node, the kind of change, and at 16 what belongs to it.
  const [ofGrid, ofEnabled] = [1, 3];
  const updates = words(known, ofGrid, 2n | (1n << 32n), 1, 0, known, ofEnabled, 1, 0, 0);
  await program.call("cudaMemcpy", data, program.room(updates), 80, hostToDevice);
  expect(await go(3)).toEqual([5, 5]);
});

// driver_types.h: cudaGraphInstantiateResult, cudaConditionalNodeParams.
test("conditions without a node, with two, and nodes that may not depend on one", async () => {
  const { program, get } = await prepared();
  const graph = await get("cudaGraphCreate", 0);
  const condition = await get("cudaGraphConditionalHandleCreate", graph, 0, 0);
  const [params, target] = [program.room(32), program.room(8)];
  const instantiate = async (): Promise<number> => {
    const status = await program.call("cudaGraphInstantiateWithParams", target, graph, params);
    expect(status !== 0).toBe(program.i32(params + 24n) !== 0);
    return program.i32(params + 24n);
  };
  const [invalidStructure, unused] = [2, 5];
  expect(await instantiate()).toBe(unused);
  const [conditional, kindIf] = [13n, 0];
  const node = (): bigint =>
    program.room(Uint8Array.of(...words(conditional, 0, condition, kindIf), ...new Uint8Array(224)));
  const own = node();
  program.view.setUint32(Number(own - 0x5000_0000n) + 28, 1, true);
  expect(await program.call("cudaGraphAddNode", target, graph, 0, 0, 0, own)).toBe(0);
  const other = node();
  program.view.setUint32(Number(other - 0x5000_0000n) + 28, 1, true);
  expect(await program.call("cudaGraphAddNode", target, graph, 0, 0, 0, other)).toBe(errors.invalidValue);
  expect(await instantiate()).toBe(0);
  const list = offsetOf(program.u64(own + 32n))!;
  const body = new DataView(program.process.machine.memory.views.u8.buffer).getBigUint64(list, true);
  await get("cudaGraphAddHostNode", body, 0, 0, program.room(words(0x4000, 0)));
  expect(await instantiate()).toBe(invalidStructure);
});
