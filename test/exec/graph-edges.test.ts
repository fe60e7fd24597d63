import { expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

// Edge data of graphs: CUDA Runtime API, cudaGraphEdgeData, cudaGraphDependencyType, cudaGraphGetEdges; Programming
// Guide, "Programmatic Dependent Launch and Synchronization", "Use in CUDA Graphs".

const ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n";
const programmatic = Uint8Array.of(1, 0, 1, 0, 0, 0, 0, 0);

const handles = (program: FakeProgram, list: readonly bigint[]): bigint =>
  program.room(new Uint8Array(BigUint64Array.from(list).buffer));

/** A program with a graph of two kernels, of which the second comes after the first, as some edge data says. */
async function twoKernels(data: Uint8Array) {
  const program = new FakeProgram();
  const stub = await program.kernel(await program.register(ptx), "nothing");
  const out = program.room(8);
  expect(await program.call("cudaGraphCreate", out, 0)).toBe(0);
  const graph = program.u64(out);
  const params = new DataView(new ArrayBuffer(256));
  params.setBigUint64(16, stub, true);
  for (let at = 24; at < 48; at += 4) params.setUint32(at, 1, true);
  const given = program.room(new Uint8Array(params.buffer));
  expect(await program.call("cudaGraphAddNode", out, graph, 0, 0, 0, given)).toBe(0);
  const first = program.u64(out);
  const after = handles(program, [first]);
  const status = await program.call("cudaGraphAddNode", out, graph, after, program.room(data), 1, given);
  return { program, stub, graph, first, second: program.u64(out), status };
}

test("edges keep what was said of them, and questions that would miss it fail", async () => {
  const { program, graph, first, second, status } = await twoKernels(programmatic);
  expect(status).toBe(0);
  const [from, to, data] = [program.room(8), program.room(8), program.room(8)];
  const count = (): bigint => handles(program, [1n]);
  expect(await program.call("cudaGraphGetEdges", graph, from, to, data, count())).toBe(0);
  expect([program.u64(from), program.u64(to)]).toEqual([first, second]);
  expect(program.bytes(data, 8)).toEqual(programmatic);
  expect(await program.call("cudaGraphGetEdges", graph, from, to, 0, count())).toBe(errors.lossyQuery);
  for (const [name, node] of [
    ["cudaGraphNodeGetDependencies", second],
    ["cudaGraphNodeGetDependentNodes", first],
  ] as const) {
    const found = program.room(8);
    expect(await program.call(name, node, from, found, count())).toBe(0);
    expect(program.bytes(found, 8)).toEqual(programmatic);
    expect(await program.call(name, node, from, 0, count())).toBe(errors.lossyQuery);
    // How many there are can be asked without.
    expect(await program.call(name, node, 0, 0, count())).toBe(0);
  }
});

test("a copy of a graph has them too, and an edge is removed with what was said of it", async () => {
  const { program, graph, first, second } = await twoKernels(programmatic);
  const out = program.room(8);
  expect(await program.call("cudaGraphClone", out, graph)).toBe(0);
  const [from, to, data, count] = [program.room(8), program.room(8), program.room(8), handles(program, [1n])];
  expect(await program.call("cudaGraphGetEdges", program.u64(out), from, to, data, count)).toBe(0);
  expect(program.bytes(data, 8)).toEqual(programmatic);
  const [a, b] = [handles(program, [first]), handles(program, [second])];
  expect(await program.call("cudaGraphRemoveDependencies", graph, a, b, 0, 1)).toBe(errors.invalidValue);
  const same = program.room(programmatic);
  expect(await program.call("cudaGraphRemoveDependencies", graph, a, b, same, 1)).toBe(0);
  expect(await program.call("cudaGraphAddDependencies", graph, a, b, 0, 1)).toBe(0);
  expect(await program.call("cudaGraphGetEdges", graph, from, to, 0, count)).toBe(0);
});

test.each([
  ["a port without the type that it is for", [1, 0, 0, 0, 0, 0, 0, 0]],
  ["the type without a port", [0, 0, 1, 0, 0, 0, 0, 0]],
  ["a port of the later node", [1, 1, 1, 0, 0, 0, 0, 0]],
  ["bytes that have to be zero", [1, 0, 1, 0, 0, 0, 0, 1]],
])("refuses %s", async (_, bytes) => {
  const { program, graph, status } = await twoKernels(Uint8Array.from(bytes));
  expect(status).toBe(errors.invalidValue);
  const count = program.room(8);
  expect(await program.call("cudaGraphGetNodes", graph, 0, count)).toBe(0);
  expect(program.u64(count)).toBe(1n);
});

test("a captured launch that may begin early has a programmatic edge", async () => {
  const { program, stub } = await twoKernels(programmatic);
  const out = program.room(8);
  expect(await program.call("cudaStreamCreate", out)).toBe(0);
  const stream = program.u64(out);
  // cudaLaunchAttributeProgrammaticStreamSerialization in a cudaLaunchConfig_t.
  const attribute = new DataView(new ArrayBuffer(72));
  attribute.setUint32(0, 6, true);
  attribute.setUint32(8, 1, true);
  const config = new DataView(new ArrayBuffer(56));
  for (let at = 0; at < 24; at += 4) config.setUint32(at, 1, true);
  config.setBigUint64(32, stream, true);
  config.setBigUint64(40, program.room(new Uint8Array(attribute.buffer)), true);
  config.setUint32(48, 1, true);
  expect(await program.call("cudaStreamBeginCapture", stream, 0)).toBe(0);
  expect(await program.launch(stub, 1, 1, [], stream)).toBe(0);
  expect(await program.call("cudaLaunchKernelExC", program.room(new Uint8Array(config.buffer)), stub, 0)).toBe(0);
  expect(await program.call("cudaStreamEndCapture", stream, out)).toBe(0);
  const [from, to, data] = [program.room(8), program.room(8), program.room(8)];
  expect(await program.call("cudaGraphGetEdges", program.u64(out), from, to, data, handles(program, [1n]))).toBe(0);
  expect(program.bytes(data, 8)).toEqual(programmatic);
});

// On a GPU edges may form a circle, and nothing can be made of the graph then.
test("nodes that depend on each other are refused when the graph is instantiated, inside others too", async () => {
  const { program, graph, first, second } = await twoKernels(new Uint8Array(8));
  const [from, to, target] = [handles(program, [second]), handles(program, [first]), program.room(8)];
  expect(await program.call("cudaGraphAddDependencies", graph, from, to, 0, 1)).toBe(0);
  expect(await program.call("cudaGraphAddDependencies", graph, from, to, 0, 1)).toBe(errors.invalidValue);
  expect(await program.call("cudaGraphInstantiate", target, graph, 0)).toBe(errors.invalidValue);
  expect(await program.call("cudaGraphCreate", target, 0)).toBe(0);
  const outer = program.u64(target);
  expect(await program.call("cudaGraphAddChildGraphNode", target, outer, 0, 0, graph)).toBe(0);
  expect(await program.call("cudaGraphInstantiate", target, outer, 0)).toBe(errors.invalidValue);
  expect(await program.call("cudaGraphRemoveDependencies", graph, from, to, 0, 1)).toBe(0);
  expect(await program.call("cudaGraphInstantiate", target, graph, 0)).toBe(0);
});

// On a GPU: an error, a count of 0, and nothing is written.
test("a list without room is no question for how many there are", async () => {
  const { program, graph, first, second } = await twoKernels(new Uint8Array(8));
  const [room, other, count] = [handles(program, [1n]), handles(program, [1n]), program.room(8)];
  for (const [name, ...words] of [
    ["cudaGraphGetNodes", graph, room, count],
    ["cudaGraphGetRootNodes", graph, room, count],
    ["cudaGraphGetEdges", graph, room, other, 0, count],
    ["cudaGraphNodeGetDependencies", second, room, 0, count],
    ["cudaGraphNodeGetDependentNodes", first, room, 0, count],
  ] as const) {
    expect(await program.call(name, ...words), name).toBe(errors.invalidValue);
    expect([program.u64(count), program.u64(room), program.u64(other)]).toEqual([0n, 1n, 1n]);
  }
});
