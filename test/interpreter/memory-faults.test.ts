import { describe, expect, test } from "vitest";
import { launch } from "../../src/interpreter/index.ts";
import { atAddress, windows } from "../../src/ir/index.ts";
import { loadProgram } from "../../src/program/program.ts";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";
import { access, bytes, frame, type FunctionBuilder, ModuleBuilder, special, symbol, u64 } from "./builder.ts";
import { engines, lineOf, run } from "./harness.ts";

const tid = special("tid.x");
const offset = (size: number): Expr => kit.mul(kit.widen(tid, false), kit.i64(BigInt(size)));
const plus = (a: Expr, b: number): Expr => kit.add(a, kit.i64(BigInt(b)));

/** A kernel with one access that may fault; `out` is the address of its buffer. */
function one(body: (k: FunctionBuilder, out: Expr, m: ModuleBuilder) => void): { m: ModuleBuilder; line: number } {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const base = k.reg("b64");
  k.load(base, access("kernel-param", 64), k.kernelParam(u64));
  body(k, base.i64, m);
  const line = k.length - 1;
  k.exit();
  return { m, line };
}

describe.each(engines)("with $name", ({ generate }) => {
  test.each<readonly [string, (k: FunctionBuilder, out: Expr, m: ModuleBuilder) => void, string, number, RegExp]>([
    [
      "past the end of a buffer",
      (k, out) => k.store(access("global"), plus(kit.add(out, offset(4)), 4), tid),
      "global-out-of-bounds",
      1,
      /^stores 4 bytes \(global\) at 0x7f00[0-9a-f]{8}, 0 bytes after the end of out \(128 bytes\)$/,
    ],
    [
      "before a buffer, generically",
      (k, out) => k.load(k.reg("b32"), access("generic"), plus(kit.add(out, offset(4)), -8)),
      "global-out-of-bounds",
      2,
      /8 bytes before out/,
    ],
    [
      "across the end of a buffer",
      (k, out) => k.load([k.reg("b64")], access("global", 64, { align: 4 }), plus(out, 124)),
      "global-out-of-bounds",
      32,
      /at byte 124, 4 bytes past the end of out/,
    ],
    [
      "a shared variable, with another one after it",
      (k, _, m) => {
        m.variable("s", "shared", 64);
        m.variable("t", "shared", 64);
        k.store(access("shared"), kit.add(symbol("s"), offset(4)), tid);
      },
      "shared-out-of-bounds",
      16,
      /0 bytes after the end of `s` \(64 bytes\)/,
    ],
    [
      "a constant table",
      (k, _, m) => {
        m.variable("c", "const", 8);
        k.load(k.reg("b32"), access("const"), kit.add(symbol("c"), offset(4)));
      },
      "const-out-of-bounds",
      30,
      /after the end of `c`/,
    ],
    [
      "a local variable",
      (k) => k.store(access("local"), kit.add(frame(k.variable(16)), offset(4)), tid),
      "local-out-of-bounds",
      28,
      /after the end of `var_0`/,
    ],
    [
      "a local variable, at an address known beforehand",
      (k) => k.store(access("local"), frame(k.variable(16), 16), tid),
      "local-out-of-bounds",
      32,
      /0 bytes after the end of `var_0`/,
    ],
    [
      "null",
      (k) => k.load(k.reg("b32"), access("global"), kit.i64(0n)),
      "null-dereference",
      32,
      /^loads 4 bytes \(global\) at 0x0, near null$/,
    ],
    [
      "a member of null",
      (k) => k.load(k.reg("b32"), access("generic"), plus(offset(4), 16)),
      "null-dereference",
      32,
      /at 0x10, near null/,
    ],
    [
      "an odd address",
      (k, out) => k.load(k.reg("b64"), access("global", 64), kit.add(out, offset(4))),
      "misaligned-access",
      15,
      /which is not a multiple of 8/,
    ],
    [
      "a vector's address",
      (k, out) =>
        k.load(
          [0, 1, 2, 3].map(() => k.reg("b32")),
          access("global", 32, { count: 4 }),
          plus(out, 8),
        ),
      "misaligned-access",
      32,
      /loads 4 x 4 bytes .* not a multiple of 16/,
    ],
    [
      "a generic address where one of shared memory is wanted",
      (k, _, m) => {
        m.variable("s", "shared", 64);
        k.load(k.reg("b32"), access("shared"), symbol("s", true));
      },
      "wrong-state-space",
      32,
      /is a generic address; the instruction wants one of the shared space/,
    ],
    [
      "an address of shared memory where a generic one is wanted",
      (k, _, m) => {
        m.variable("s", "shared", 64);
        k.load(k.reg("b32"), access("generic"), symbol("s"));
      },
      "wrong-state-space",
      32,
      /is an address of the shared space; the instruction wants a generic one/,
    ],
    [
      "a global address where one of shared memory is wanted",
      (k, out) => k.load(k.reg("b32"), access("shared"), out),
      "wrong-state-space",
      32,
      /which is a global address/,
    ],
    [
      "a global address, converted as if it were one of shared memory",
      (k, out) => k.load(k.reg("b32"), access("shared"), kit.sub(out, special("window", "i64"))),
      "wrong-state-space",
      32,
      /which cvta.to made of a global address/,
    ],
    [
      "null, converted as if it were an address of local memory",
      (k) => k.load(k.reg("b32"), access("local"), kit.sub(kit.i64(8n), special("window", "i64"))),
      "null-dereference",
      32,
      /which cvta.to made of null/,
    ],
    [
      "the parameters of the kernel, generically",
      (k) => k.load(k.reg("b32"), access("generic"), plus(special("window", "i64"), windows["kernel-param"].start + 8)),
      "param-out-of-bounds",
      32,
      /0 bytes after the end of /,
    ],
    [
      "a function's address",
      (k) => k.load(k.reg("b32"), access("generic"), symbol("k")),
      "wrong-state-space",
      32,
      /the address of a function/,
    ],
    [
      "a constant, written generically",
      (k, _, m) => {
        m.variable("c", "const", 8);
        k.store(access("generic"), symbol("c", true), tid);
      },
      "wrong-state-space",
      32,
      /cannot be written/,
    ],
    [
      "an address of 33 bits and more",
      (k, out) => k.load(k.reg("b32"), access("global"), kit.add(out, kit.i64(0x1_0000_0000n))),
      "global-out-of-bounds",
      32,
      /in no state space/,
    ],
    [
      "an atomic in the last lane",
      (k, out) =>
        k.emit(
          {
            kind: "atomic",
            access: access("global"),
            place: atAddress(plus(kit.add(out, offset(4)), 4)),
            combine: [kit.i32(1)],
          },
          { dst: [null] },
        ),
      "global-out-of-bounds",
      1,
      /^updates 4 bytes/,
    ],
  ])("%s", (_, body, code, count, message) => {
    const { m, line } = one(body);
    const { ok, reports } = run(m, { generate });
    expect(ok).toBe(false);
    expect(reports).toMatchObject([{ code, count, severity: "error" }]);
    expect(reports[0]!.message).toMatch(message);
    expect(lineOf(reports[0]!)).toBe(line);
  });

  test("an address that wraps around 2^32 does not come back into its buffer", () => {
    const { m } = one((k, out) => {
      const [a, r] = [k.reg("b64"), k.reg("b32")];
      // The same instruction is good first, so that its buffer is remembered.
      const again = k.label();
      k.set(a, kit.sub(out, kit.i64(0x7000_0000n)));
      k.place(again);
      k.load(r, access("global"), kit.add(a.i64, kit.i64(0x7000_0000n)));
      k.set(a, kit.sub(a.i64, kit.i64(0x1_0000_0000n)));
      k.branch(again);
    });
    expect(run(m, { generate }).reports).toMatchObject([{ code: "global-out-of-bounds", count: 32 }]);
  });

  test("the unsized parameter ends where the argument ended", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    k.kernelParam(u64);
    const arg = k.variable(8, 4, "call-param");
    const call = (args: readonly { kind: "frame"; variable: number; size: number }[]) =>
      k.emit({ kind: "call", target: { kind: "direct", function: "f" }, args, results: [], uniform: false });
    call([{ kind: "frame", variable: arg, size: 8 }]);
    call([]);
    k.exit();
    const f = m.func("f");
    const rest = f.formalVariable("params", bytes(0, 4, true));
    f.load(f.reg("b32"), access("call-param"), frame(rest, 4));
    f.ret();
    const { reports } = run(m, { generate });
    expect(reports).toMatchObject([{ code: "param-out-of-bounds", count: 32 }]);
    expect(reports[0]!.stack.map((s) => s.function)).toEqual(["f", "k"]);
    expect(reports[0]!.message).toMatch(/4 bytes after the end of var_0 \(0 bytes\)/);
  });
});

test("freed memory is told from other memory", () => {
  const { m } = one((k, out) => k.store(access("global"), out, tid));
  const memory = new DeviceMemory();
  memory.quarantine = true;
  const program = loadProgram(memory, m.build());
  const buffer = memory.alloc(128, "out");
  const params = new Uint8Array(new BigUint64Array([program.addresses.global(buffer)]).buffer);
  const request = { kernel: "k", grid: [1, 1, 1], block: [32, 1, 1], sharedBytes: 0, params } as const;
  expect(launch(program, request).ok).toBe(true);
  memory.free(buffer);
  expect(launch(program, request).reports).toMatchObject([{ code: "use-after-free", count: 32 }]);
});

test("a requests that makes no sense is refused", () => {
  const { m } = one((k, out) => k.store(access("global"), out, tid));
  const program = loadProgram(new DeviceMemory(), m.build());
  const good = { kernel: "k", grid: [1, 1, 1], block: [32, 1, 1], sharedBytes: 0, params: new Uint8Array(8) } as const;
  for (const bad of [
    { kernel: "x" },
    { block: [1025, 1, 1] },
    { grid: [0, 1, 1] },
    { params: new Uint8Array(4) },
  ] as const) {
    expect(() => launch(program, { ...good, ...bad })).toThrow(RangeError);
  }
});

test("a kernel that needs more than a thread or a block has does not start", () => {
  const stack = one((k) => k.store(access("local"), frame(k.variable(2 ** 20)), tid));
  expect(run(stack.m)).toMatchObject({ steps: 0, reports: [{ code: "stack-overflow" }] });
  const shared = one((_, __, m) => m.variable("s", "shared", 2 ** 26));
  expect(run(shared.m)).toMatchObject({ steps: 0, reports: [{ code: "not-executable" }] });
  const constant = one((_, __, m) => m.variable("c", "const", 2 ** 30));
  expect(() => run(constant.m)).toThrow(RangeError);
});
