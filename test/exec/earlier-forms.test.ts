import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { FakeProgram } from "./fake-program.ts";

/** Prototypes of the CUDA driver's functions by version: cudaTypedefs.h, PFN_cuGraphGetEdges_v10000 and its like. */

async function withContext() {
  const program = new FakeProgram();
  await program.call("cuInit", 0);
  expect(await program.call("cuCtxCreate_v2", program.room(8), 0, 0)).toBe(0);
  const made = async (name: string, ...args: (number | bigint)[]): Promise<bigint> => {
    const out = program.room(8);
    expect(await program.call(name, out, ...args), name).toBe(0);
    return program.u64(out);
  };
  const list = (...words: bigint[]): bigint => program.room(new Uint8Array(BigUint64Array.from(words).buffer));
  return { program, made, list };
}

async function withNodes() {
  const p = await withContext();
  const graph = await p.made("cuGraphCreate", 0);
  const [first, last] = [
    await p.made("cuGraphAddEmptyNode", graph, 0, 0),
    await p.made("cuGraphAddEmptyNode", graph, 0, 0),
  ];
  return { ...p, graph, first, last };
}

describe("graphs without data of edges", () => {
  test("edges are added, listed and removed", async () => {
    const { program, list, graph, first, last } = await withNodes();
    const [from, to, count] = [list(first), list(last), list(1n)];
    expect(await program.call("cuGraphAddDependencies", graph, from, to, 1)).toBe(0);
    const [gotFrom, gotTo] = [program.room(8), program.room(8)];
    expect(await program.call("cuGraphGetEdges", graph, gotFrom, gotTo, count)).toBe(0);
    expect([gotFrom, gotTo, count].map((at) => program.u64(at))).toEqual([first, last, 1n]);
    expect(await program.call("cuGraphNodeGetDependencies", last, gotFrom, count)).toBe(0);
    expect(await program.call("cuGraphNodeGetDependentNodes", first, gotTo, count)).toBe(0);
    expect([gotFrom, gotTo].map((at) => program.u64(at))).toEqual([first, last]);
    expect(await program.call("cuGraphRemoveDependencies", graph, from, to, 1)).toBe(0);
    expect(await program.call("cuGraphGetEdges", graph, 0, 0, count)).toBe(0);
    expect(program.u64(count)).toBe(0n);
  });

  test.each(["cuGraphInstantiate", "cuGraphInstantiate_v2"])("%s, and an update that does not fit", async (name) => {
    const { program, made, list, graph } = await withNodes();
    const exec = await made(name, graph, 0, 0, 0);
    const [node, result] = [list(77n), program.room(4)];
    expect(await program.call("cuGraphExecUpdate", exec, graph, node, result)).toBe(0);
    expect([program.u64(node), program.i32(result)]).toEqual([0n, 0]);
    const other = await made("cuGraphCreate", 0);
    expect(await program.call("cuGraphExecUpdate", exec, other, node, result)).toBe(errors.graphExecUpdateFailure);
    // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
    expect(program.i32(result)).toBe(2);
  });

  test("captures", async () => {
    const { program, made } = await withContext();
    const stream = await made("cuStreamCreate", 1);
    expect(await program.call("cuStreamBeginCapture", stream)).toBe(0);
    const [status, id, graph, nodes, count] = [4, 8, 8, 8, 8].map((bytes) => program.room(bytes));
    expect(await program.call("cuStreamGetCaptureInfo", stream, status!, id!)).toBe(0);
    expect([program.i32(status!), program.u64(id!) > 0n]).toEqual([1, true]);
    expect(await program.call("cuStreamGetCaptureInfo_v2", stream, status!, id!, graph!, nodes!, count!)).toBe(0);
    const added = await made("cuGraphAddEmptyNode", program.u64(graph!), 0, 0);
    const one = program.room(new Uint8Array(BigUint64Array.of(added).buffer));
    const set = 1;
    expect(await program.call("cuStreamUpdateCaptureDependencies", stream, one, 1, set)).toBe(0);
    expect(await program.call("cuStreamGetCaptureInfo_v2", stream, status!, 0, 0, 0, count!)).toBe(0);
    expect(program.u64(count!)).toBe(1n);
    expect(await program.call("cuStreamEndCapture", stream, graph!)).toBe(0);
  });
});

test("managed memory, with the numbers of devices", async () => {
  const { program, made } = await withContext();
  const attachGlobal = 1;
  const memory = await made("cuMemAllocManaged", 4096, attachGlobal);
  const [preferred, prefetched] = [2, 4];
  const stateOf = async (attribute: number): Promise<number> => {
    const out = program.room(4);
    expect(await program.call("cuMemRangeGetAttribute", out, 4, attribute, memory, 4096)).toBe(0);
    return program.i32(out);
  };
  const host = 0xffff_ffff;
  const setPreferred = 3;
  expect(await program.call("cuMemAdvise", memory, 4096, setPreferred, host)).toBe(0);
  expect(await stateOf(preferred)).toBe(-1);
  expect(await program.call("cuMemAdvise", memory, 4096, setPreferred, 0)).toBe(0);
  expect(await stateOf(preferred)).toBe(0);
  expect(await program.call("cuMemPrefetchAsync", memory, 4096, 0, 0)).toBe(0);
  expect(await stateOf(prefetched)).toBe(0);
  expect(await program.call("cuMemPrefetchAsync", memory, 4096, host, 0)).toBe(0);
  expect(await stateOf(prefetched)).toBe(-1);
  expect(await program.call("cuMemPrefetchAsync", memory, 4096, 5, 0)).toBe(errors.invalidDevice);
});

test("what has no effect any more", async () => {
  const { program } = await withContext();
  const out = program.room(4);
  expect(await program.call("cuCtxSetSharedMemConfig", 2)).toBe(0);
  expect(await program.call("cuCtxGetSharedMemConfig", out)).toBe(0);
  expect(await program.call("cuProfilerStart")).toBe(0);
  expect(await program.call("cuProfilerStop")).toBe(0);
  expect(await program.call("cuProfilerInitialize", 0, 0, 0)).toBe(errors.notSupported);
});
