import { expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// What parameters nodes of graphs may have, and which of them change in executable graphs: CUDA Runtime API, Graph
// Management; the codes are those that tests of AMD (hip-tests) expect where they are built for NVIDIA.

const [hostToDevice, deviceToHost, byAddress] = [1, 2, 4];
const words = (...all: (bigint | number)[]): Uint8Array => new Uint8Array(BigUint64Array.from(all, BigInt).buffer);
const halves = (...all: number[]): Uint8Array => new Uint8Array(Uint32Array.from(all).buffer);

/** A program with a graph, 64 bytes of a device and of pinned memory. */
async function prepared() {
  const program = new FakeProgram();
  const { get } = program;
  const [device, pinned] = [await program.malloc(64), await get("cudaMallocHost", 64)];
  return { program, get, device, pinned, graph: await get("cudaGraphCreate", 0) };
}

test("an event that is none", async () => {
  const { program, get, graph } = await prepared();
  const event = await get("cudaEventCreate");
  for (const kind of ["Record", "Wait"]) {
    const target = program.room(8);
    expect(await program.call(`cudaGraphAddEvent${kind}Node`, target, graph, 0, 0, 0)).toBe(errors.invalidValue);
    const node = await get(`cudaGraphAddEvent${kind}Node`, graph, 0, 0, event);
    expect(await program.call(`cudaGraphEvent${kind}NodeSetEvent`, node, 0)).toBe(errors.invalidValue);
  }
});

test.each([
  ["the kind", { 0: 0 }],
  ["the kind of place", { 8: 9 }],
  ["the device", { 12: 7 }],
  ["a list that is missing", { 96: 1 }],
])("memory of a graph: %s", async (_, wrong) => {
  const { program, graph } = await prepared();
  const params = new DataView(new ArrayBuffer(120));
  for (const [at, value] of Object.entries({ 0: 1, 8: 1, 104: 64 })) params.setUint32(Number(at), value, true);
  const add = (): Promise<number> =>
    program.call("cudaGraphAddMemAllocNode", program.room(8), graph, 0, 0, program.room(new Uint8Array(params.buffer)));
  expect(await add()).toBe(0);
  for (const [at, value] of Object.entries(wrong)) params.setUint32(Number(at), value, true);
  expect(await add()).toBe(errors.invalidValue);
});

test("copies of nothing, and against the direction of a variable", async () => {
  const { program, device, pinned, graph } = await prepared();
  const handle = await program.register(
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 8 .b8 table[64];\n",
  );
  const table = await program.variable(handle, "table", 64);
  const add = (ending: string, ...rest: (bigint | number)[]): Promise<number> =>
    program.call(`cudaGraphAddMemcpyNode${ending}`, program.room(8), graph, 0, 0, ...rest);
  expect(await add("1D", device, pinned, 0, byAddress)).toBe(errors.invalidValue);
  expect(await add("ToSymbol", table, pinned, 0, 0, byAddress)).toBe(errors.invalidValue);
  expect(await add("ToSymbol", table, pinned, 8, 0, deviceToHost)).toBe(errors.invalidMemcpyDirection);
  expect(await add("FromSymbol", pinned, table, 8, 0, hostToDevice)).toBe(errors.invalidMemcpyDirection);
  expect(await add("FromSymbol", pinned, table, 8, 0, deviceToHost)).toBe(0);
});

test("a copy in an executable graph keeps its direction, also when the graph is updated", async () => {
  const { program, get, device, pinned, graph } = await prepared();
  const node = await get("cudaGraphAddMemcpyNode1D", graph, 0, 0, device, pinned, 4, hostToDevice);
  const exec = await get("cudaGraphInstantiate", graph, 0);
  const set = (to: bigint, from: bigint, kind: number): Promise<number> =>
    program.call("cudaGraphExecMemcpyNodeSetParams1D", exec, node, to, from, 8, kind);
  expect(await set(device, pinned, byAddress)).toBe(errors.invalidValue);
  expect(await set(pinned, device, deviceToHost)).toBe(errors.invalidValue);
  expect(await set(device, pinned, hostToDevice)).toBe(0);
  const other = await get("cudaGraphCreate", 0);
  const against = await get("cudaGraphAddMemcpyNode1D", other, 0, 0, pinned, device, 4, deviceToHost);
  const result = program.room(24);
  expect(await program.call("cudaGraphExecUpdate", exec, other, result)).toBe(errors.graphExecUpdateFailure);
  const parametersChanged = 5;
  expect([program.i32(result), program.u64(result + 8n)]).toEqual([parametersChanged, against]);
});

test("a fill of rows in an executable graph keeps its shape, and one of a row stays one", async () => {
  const { program, get, device, graph } = await prepared();
  const params = (pitch: number, width: number, height: number): bigint =>
    program.room(Uint8Array.of(...words(device, pitch), ...halves(7, 4), ...words(width, height)));
  const rows = await get("cudaGraphAddMemsetNode", graph, 0, 0, params(16, 2, 2));
  const row = await get("cudaGraphAddMemsetNode", graph, 0, 0, params(0, 2, 1));
  const exec = await get("cudaGraphInstantiate", graph, 0);
  const set = (node: bigint, given: bigint): Promise<number> =>
    program.call("cudaGraphExecMemsetNodeSetParams", exec, node, given);
  expect(await set(rows, params(16, 3, 2))).toBe(errors.invalidValue);
  expect(await set(rows, params(16, 2, 2))).toBe(0);
  expect(await set(row, params(16, 2, 2))).toBe(errors.invalidValue);
  expect(await set(row, params(0, 4, 1))).toBe(0);
  const found = program.room(40);
  expect(await program.call("cudaGraphMemsetNodeGetParams", row, found)).toBe(0);
  // A pitch that says nothing is given back as it was.
  expect(program.bytes(found, 40)).toEqual(program.bytes(params(0, 2, 1), 40));
});

test("a copy to an array is given back as it was, and in bytes by the driver", async () => {
  const { program, get, graph } = await prepared();
  const format = program.room(halves(32, 32, 0, 0, 0));
  const [host, extent] = [await get("cudaMallocHost", 4096), [16n, 8n, 4n]];
  // The extent is passed on the stack, behind what registers hold.
  const array = await get("cudaMalloc3DArray", format, 0, 0, 0, 0, ...extent);
  const given = words(0, 0, 0, 0, host, 128, 128, 8, array, 2, 1, 0, 0, 0, 0, 0, 4, 2, 3, hostToDevice);
  const node = await get("cudaGraphAddMemcpyNode", graph, 0, 0, program.room(given));
  const found = program.room(200);
  expect(await program.call("cudaGraphMemcpyNodeGetParams", node, found)).toBe(0);
  expect(program.bytes(found, 160)).toEqual(given);
  await program.call("cuInit", 0);
  expect(await program.call("cuGraphMemcpyNodeGetParams", node, found)).toBe(0);
  const [texel, kindOfArray] = [8n, 3];
  expect([88n, 96n, 144n, 176n, 184n, 192n].map((at) => program.u64(found + at))).toEqual([
    2n * texel,
    1n,
    array,
    4n * texel,
    2n,
    3n,
  ]);
  expect(program.i32(found + 120n)).toBe(kindOfArray);
  // A pitch that is too small has an error of its own, but where an executable graph is changed.
  const narrow = words(0, 0, 0, 0, host, 8, 128, 8, array, 0, 0, 0, 0, 0, 0, 0, 4, 2, 3, hostToDevice);
  const status = await program.call("cudaGraphAddMemcpyNode", program.room(8), graph, 0, 0, program.room(narrow));
  expect(status).toBe(errors.invalidPitchValue);
  const exec = await get("cudaGraphInstantiate", graph, 0);
  const set = program.call("cudaGraphExecMemcpyNodeSetParams", exec, node, program.room(narrow));
  expect(await set).toBe(errors.invalidValue);
});

/** A kernel that writes the blocks of its cluster to where its argument points, as the function that stands for it. */
async function clusterKernel(program: FakeProgram): Promise<bigint> {
  const handle = await program.register(`.version 8.0
.target sm_90
.address_size 64
.visible .entry cluster(.param .u64 out) {
  .reg .b64 %out; .reg .b32 %n;
  ld.param.u64 %out, [out];
  mov.u32 %n, %cluster_nctaid.x;
  st.u32 [%out], %n;
  ret;
}
`);
  return await program.kernel(handle, "cluster");
}

const clusterDimension = 4;

test("the attributes of a kernel count when it runs, and stay when its parameters change", async () => {
  const { program, get, device, graph } = await prepared();
  const stub = await clusterKernel(program);
  const list = program.room(words(program.room(words(device))));
  const params = program.room(Uint8Array.of(...words(stub), ...halves(4, 1, 1, 1, 1, 1, 0, 0), ...words(list, 0)));
  const node = await get("cudaGraphAddKernelNode", graph, 0, 0, params);
  const blocks = async (): Promise<number> => {
    const exec = await get("cudaGraphInstantiate", graph, 0);
    expect(await program.call("cudaGraphLaunch", exec, 0)).toBe(0);
    const to = program.room(8);
    expect(await program.call("cudaMemcpy", to, device, 4, deviceToHost)).toBe(0);
    return program.i32(to);
  };
  expect(await blocks()).toBe(1);
  const value = program.room(Uint8Array.of(...halves(2, 1, 1), ...new Uint8Array(52)));
  expect(await program.call("cudaGraphKernelNodeSetAttribute", node, clusterDimension, value)).toBe(0);
  expect(await blocks()).toBe(2);
  expect(await program.call("cudaGraphKernelNodeSetParams", node, params)).toBe(0);
  expect(await blocks()).toBe(2);
});

test("a captured launch gives its node the attributes that it has, and the priority of its stream", async () => {
  const { program, get, device } = await prepared();
  const stub = await clusterKernel(program);
  const stream = await get("cudaStreamCreateWithPriority", 0, -3);
  expect(await program.call("cudaStreamBeginCapture", stream, 0)).toBe(0);
  const attribute = program.room(Uint8Array.of(...halves(clusterDimension, 0, 2, 1, 1), ...new Uint8Array(52)));
  const sizes = halves(4, 1, 1, 1, 1, 1);
  const config = program.room(Uint8Array.of(...sizes, ...words(0, stream, attribute, 1)));
  const args = program.room(words(program.room(words(device))));
  expect(await program.call("cudaLaunchKernelExC", config, stub, args)).toBe(0);
  const yx = 1n << 32n;
  const sizesIn = [1n | yx, 1, 1n | yx, 1];
  expect(await program.call("cudaLaunchCooperativeKernel", stub, ...sizesIn, args, 0, stream)).toBe(0);
  const [graph, nodes, count] = [program.room(8), program.room(16), program.room(words(2))];
  expect(await program.call("cudaStreamEndCapture", stream, graph)).toBe(0);
  expect(await program.call("cudaGraphGetNodes", program.u64(graph), nodes, count)).toBe(0);
  const attributeOf = async (i: number, id: number): Promise<Uint8Array> => {
    const value = program.room(64);
    const node = program.u64(nodes + BigInt(8 * i));
    expect(await program.call("cudaGraphKernelNodeGetAttribute", node, id, value)).toBe(0);
    return program.bytes(value, 12);
  };
  const [cooperative, priority] = [2, 8];
  expect(await attributeOf(0, clusterDimension)).toEqual(halves(2, 1, 1));
  expect(await attributeOf(0, cooperative)).toEqual(halves(0, 0, 0));
  expect(await attributeOf(1, cooperative)).toEqual(halves(1, 0, 0));
  expect(await attributeOf(1, priority)).toEqual(halves(-3, 0, 0));
});

// driver_types.h: which attributes of launches are for graph nodes.
test.each([3, 6, 15, 17, -1])("an attribute that kernel nodes do not have: %i", async (id) => {
  const { program, get, graph } = await prepared();
  const handle = await program.register(
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n",
  );
  const stub = await program.kernel(handle, "nothing");
  const params = program.room(Uint8Array.of(...words(stub), ...halves(1, 1, 1, 1, 1, 1, 0, 0), ...words(0, 0)));
  const node = await get("cudaGraphAddKernelNode", graph, 0, 0, params);
  const value = program.room(64);
  expect(await program.call("cudaGraphKernelNodeSetAttribute", node, id, value)).toBe(errors.invalidValue);
  expect(await program.call("cudaGraphKernelNodeGetAttribute", node, id, value)).toBe(errors.invalidValue);
  expect(await program.call("cudaGraphKernelNodeSetAttribute", node, 8, value)).toBe(0);
});

// driver_types.h: cudaGraphInstantiateFlagUpload is for cudaGraphInstantiateWithParams alone.
test("a graph that is to be uploaded when it is instantiated", async () => {
  const { program, graph } = await prepared();
  const upload = 2;
  expect(await program.call("cudaGraphInstantiate", program.room(8), graph, upload)).toBe(errors.invalidValue);
  const params = program.room(words(upload, 0, 0, 0));
  expect(await program.call("cudaGraphInstantiateWithParams", program.room(8), graph, params)).toBe(0);
});

// A program may give back more references than the graph has.
test("references of a graph to an object that are given back", async () => {
  const { program, get, graph } = await prepared();
  const object = await get("cudaUserObjectCreate", 0, 1, 3, 1);
  expect(await program.call("cudaGraphRetainUserObject", graph, object, 2, 0)).toBe(0);
  const release = (count: number): Promise<number> => program.call("cudaGraphReleaseUserObject", graph, object, count);
  expect([await release(0), await release(7), await release(1)]).toEqual([errors.invalidValue, 0, errors.invalidValue]);
  expect(await program.call("cudaUserObjectRelease", object, 2)).toBe(0);
});
