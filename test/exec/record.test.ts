import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Recorder } from "../../src/cuda/record/recorder.ts";
import { Recording } from "../../src/cuda/record/recording.ts";
import { UsageError } from "../../src/runtime/data/errors.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { FakeProgram } from "./fake-program.ts";

const ptx = `.version 8.0
.target sm_80
.address_size 64
.const .u32 step;
.global .u32 total;
.visible .entry add(.param .u64 p) {
  .reg .u64 %a; .reg .u32 %v, %s, %o;
  ld.param.u64 %a, [p];
  ld.const.u32 %s, [step];
  ld.global.u32 %v, [%a];
  add.u32 %v, %v, %s;
  st.global.u32 [%a], %v;
  atom.global.add.u32 %o, [total], %v;
  ret;
}`;

/** Launches `add` three times; what the host does in between changes what each of them finds. */
async function recorded(): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const sink = { write: (bytes: Uint8Array) => void pieces.push(bytes.slice()), deflate: deflateRawSync };
  const program = new FakeProgram({}, null, new Recorder(sink, { program: "./a.out", args: ["1"] }));
  const handle = await program.register(ptx);
  const add = await program.kernel(handle, "add");
  const step = await program.variable(handle, "step", 4);
  const word = (value: number): bigint => program.room(new Uint8Array(Uint32Array.of(value).buffer));
  const first = await program.malloc(8192);
  const setStep = (value: number) => program.call("cudaMemcpyToSymbol", step, word(value), 4, 0, 1);
  await setStep(5);
  await program.call("cudaMemcpy", first, word(100), 4, 1);
  expect(await program.launch(add, 1, 1, [first])).toBe(0);
  await program.call("cudaMemset", first, 0, 4);
  const second = await program.malloc(256);
  await setStep(7);
  expect(await program.launch(add, 1, 1, [second])).toBe(0);
  await program.call("cudaFree", first);
  expect(await program.launch(add, 1, 1, [second])).toBe(0);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const all = new Uint8Array(length);
  pieces.reduce((at, piece) => (all.set(piece, at), at + piece.length), 0);
  return all;
}

/** Runs a launch again. Returns what `total` was before it and after it. */
function totals(recording: Recording, device: PtxDevice, index: number): readonly number[] {
  const { execution, end } = recording.begin(index, {}, () => {});
  const { start } = device.memory.allocations.find(({ name }) => name === "`total`")!;
  const total = (): number => device.memory.views.i32[start >> 2]!;
  const before = total();
  while (execution.moment !== null) execution.step();
  end();
  return [before, total()];
}

// By hand: 100 + 5, then 0 + 7, then 7 + 7.
const wanted = [
  [0, 105],
  [105, 112],
  [112, 126],
] as const;

describe("recordings of programs", () => {
  test.each([
    ["one after the other", [0, 1, 2]],
    ["the last one alone", [2]],
    ["backwards", [2, 1, 0]],
  ])("run their launches again: %s", async (_, order) => {
    const device = new PtxDevice();
    const recording = new Recording(await recorded(), device);
    expect(recording.program).toMatchObject({ program: "./a.out", args: ["1"] });
    for (const index of order) expect(totals(recording, device, index)).toEqual(wanted[index]);
  });

  test("have the allocations that there were at each launch", async () => {
    const device = new PtxDevice();
    const recording = new Recording(await recorded(), device);
    const names = (index: number): readonly string[] => {
      recording.begin(index, {}, () => {});
      return device.memory.allocations.map(({ name }) => name).sort();
    };
    expect(names(0)).toEqual(["`step`", "`total`", "the allocation of 8192 bytes"]);
    expect(names(1)).toEqual(["`step`", "`total`", "the allocation of 256 bytes", "the allocation of 8192 bytes"]);
    expect(names(2)).toEqual(["`step`", "`total`", "the allocation of 256 bytes"]);
  });

  test("that end in the middle have the launches before", async () => {
    const file = await recorded();
    expect(new Recording(file.subarray(0, file.length - 3), new PtxDevice()).launches.length).toBe(2);
  });

  test("are refused when they are none", () => {
    expect(() => new Recording(new Uint8Array(100), new PtxDevice())).toThrow("it is no recording");
  });

  test("that are damaged are refused, or run: nothing else happens", async () => {
    const file = await recorded();
    for (let at = 21; at < file.length; at += 3) {
      const damaged = file.slice();
      damaged[at]! ^= 1 << (at % 8);
      try {
        const recording = new Recording(damaged, new PtxDevice());
        for (const i of recording.launches.keys()) recording.begin(i, {}, () => {});
      } catch (error) {
        expect(["UsageError", "LoadError", "NotExecutableError"], String((error as Error).stack)).toContain(
          (error as Error).name,
        );
        if (error instanceof UsageError) expect(error.message).not.toBe("");
      }
    }
  });
});
