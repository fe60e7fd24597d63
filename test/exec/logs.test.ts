import { describe, expect, test } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import type { Callback } from "../../src/cuda/state/callbacks.ts";
import { lastText, Logs, wholeText } from "../../src/cuda/state/logs.ts";
import { callbackThread, FakeProgram } from "./fake-program.ts";

/*
 * Runtime API, Error Log Management Functions: what iterators are, what is dumped, and that what no longer fits is said
 * to be missing. The words of an entry are our own.
 */

const word = (value: number): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);

/** Dumps the entries from an iterator on into so many bytes: the status, the text, and how long it is said to be. */
async function dump(program: FakeProgram, iterator: bigint, room: number) {
  const [buffer, size] = [program.room(room), program.room(word(room))];
  const status = await program.call("cudaLogsDumpToMemory", iterator, buffer, size, 0);
  const bytes = Number(program.u64(size));
  return { status, bytes, text: new TextDecoder().decode(program.bytes(buffer, bytes)) };
}

describe("the log of errors", () => {
  test("has the calls that returned errors since the place of an iterator, each once", async () => {
    const program = new FakeProgram();
    expect(await program.call("cudaSetDevice", 7)).toBe(errors.invalidDevice);
    const iterator = program.room(4);
    expect(await program.call("cudaLogsCurrent", iterator, 0)).toBe(0);
    expect(await program.call("cudaMemset", 1, 0, 4)).toBe(errors.invalidValue);
    const { status, bytes, text } = await dump(program, iterator, 1000);
    expect([status, bytes]).toEqual([0, text.length]);
    expect(text).toMatch(/^[^\n]*cudaMemset[^\n]*cudaErrorInvalidValue[^\n]*\n$/);
    expect(await dump(program, iterator, 1000)).toEqual({ status: 0, bytes: 0, text: "" });
    const all = await dump(program, 0n, 1000);
    expect(all.text.split("\n").map((line) => /cuda\w+/.exec(line)?.[0])).toEqual([
      "cudaSetDevice",
      "cudaMemset",
      undefined,
    ]);
  });

  test("what does not fit is left out, from the oldest on, and the text says so", async () => {
    const program = new FakeProgram();
    for (let i = 0; i < 5; i++) await program.call("cudaSetDevice", 7);
    const whole = (await dump(program, 0n, 2000)).text;
    const line = whole.slice(0, whole.indexOf("\n") + 1);
    const { status, text } = await dump(program, 0n, whole.length);
    expect(status).toBe(0);
    expect(text).toMatch(/missing\n/);
    expect(text.endsWith(line)).toBe(true);
    expect(text.length).toBeLessThan(whole.length);
    expect((await dump(program, 0n, 10)).status).toBe(errors.invalidValue);
  });

  test("is written into a file", async () => {
    const program = new FakeProgram();
    await program.call("cudaSetDevice", 7);
    expect(await program.call("cuLogsDumpToFile", 0, program.text("log.txt"), 0)).toBe(0);
    expect(program.files.get("log.txt")).toMatch(/^[^\n]*cudaSetDevice[^\n]*\n$/);
    expect(await program.call("cuLogsDumpToFile", 0, program.text("log.txt"), 1)).toBe(errors.invalidValue);
  });

  test("keeps 25,600 bytes", () => {
    const logs = new Logs();
    for (let i = 0; i < 300; i++) logs.add("x".repeat(99));
    expect(logs.next).toBe(300);
    const { lines, isWhole } = logs.from(0);
    expect([lines.length, isWhole]).toEqual([256, false]);
    expect(wholeText(logs.from(0))).toMatch(/^\[CUDA\]\[W\]/);
    expect(wholeText(logs.from(290))).toBe(`${"x".repeat(99)}\n`.repeat(10));
    expect(lastText(logs.from(298), 100)).toBe("");
  });

  test("functions of the program are called before the call that failed returns", async () => {
    const program = new FakeProgram();
    const handle = program.room(8);
    expect(await program.call("cudaLogsRegisterCallback", 0x77, 0x88, handle)).toBe(0);
    const asked = new Promise<Callback>((resolve) => program.process.callbacks.ask(callbackThread, resolve));
    let hasReturned = false;
    const failed = program.call("cudaSetDevice", 7).then((status) => {
      hasReturned = true;
      return status;
    });
    expect(await asked).toMatchObject({ kind: 3, function: 0x77n, data: 0x88n, status: 0 });
    expect((await asked).message).toMatch(/cudaSetDevice/);
    expect(hasReturned).toBe(false);
    program.process.callbacks.ask(callbackThread, () => {});
    expect(await failed).toBe(errors.invalidDevice);
    expect(await program.call("cudaLogsUnregisterCallback", program.u64(handle))).toBe(0);
    expect(await program.call("cudaSetDevice", 7)).toBe(errors.invalidDevice);
  });
});

// Runtime API, cudaDeviceGetHostAtomicCapabilities and cudaDeviceGetP2PAtomicCapabilities; the bits are those of
// cudaAtomicOperationCapability, for what PTX has (9.7.13.7: 128 bits from sm_90 on).
test("a link's atomic operations", async () => {
  const program = new FakeProgram({ devices: 2 });
  const [add, exchange] = [0, 8];
  const list = program.room(new Uint8Array(Uint32Array.of(add, exchange).buffer));
  const out = program.room(8);
  const found = (): readonly number[] => [program.i32(out), program.i32(out + 4n)];
  expect(await program.call("cudaDeviceGetP2PAtomicCapabilities", out, list, 2, 0, 1)).toBe(0);
  const [signed, unsigned, reduction, scalar32, scalar64, scalar128] = [1, 2, 4, 8, 16, 32];
  expect(found()).toEqual([
    signed | unsigned | reduction | scalar32 | scalar64,
    unsigned | scalar32 | scalar64 | scalar128,
  ]);
  expect(await program.call("cudaDeviceGetHostAtomicCapabilities", out, list, 2, 0)).toBe(0);
  expect(found()).toEqual([0, 0]);
  expect(await program.call("cudaDeviceGetP2PAtomicCapabilities", out, list, 2, 1, 1)).toBe(errors.invalidDevice);
  expect(await program.call("cudaDeviceGetHostAtomicCapabilities", out, list, 2, 2)).toBe(errors.invalidDevice);
  expect(await program.call("cudaDeviceGetHostAtomicCapabilities", out, list, 0, 0)).toBe(errors.invalidValue);
});
