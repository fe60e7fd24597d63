import { describe, expect, test } from "vitest";
import { kit } from "../../src/semantics/index.ts";
import { access, frame, ModuleBuilder, special, u32, u64 } from "./builder.ts";
import { engines, range, run } from "./harness.ts";

const tid = special("tid.x");

describe.each(engines)("with $name", ({ generate }) => {
  /** Each lane takes `4 * (tid + 1)` bytes, writes the last word of them and, `beyond` bytes after it, reads again. */
  const taking = (beyond: number) => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const at = k.element(k.kernelParam(u64), tid);
    const kept = k.variable(4);
    const [piece, end] = [k.reg("b64"), k.reg("b64")];
    const [r, s] = [k.reg("b32"), k.reg("b32")];
    k.store(access("local"), frame(kept), kit.i32(7));
    const size = kit.widen(kit.mul(kit.add(tid, kit.i32(1)), kit.i32(4)), false);
    k.emit({ kind: "alloca", size, align: 16 }, { dst: [piece] });
    k.set(end, kit.add(piece.i64, kit.widen(kit.mul(tid, kit.i32(4)), false)));
    k.store(access("local"), end.i64, kit.mul(tid, tid));
    k.load(r, access("local"), kit.add(end.i64, kit.i64(BigInt(beyond))));
    k.load(s, access("local"), frame(kept));
    k.store(access("global"), at.i64, kit.add(r.i32, s.i32));
    k.exit();
    return run(m, { generate });
  };

  test("what alloca gives is the lane's own, as large as it asked for", () => {
    expect([...taking(0).out]).toEqual(range(32, (i) => i * i + 7));
    const { reports } = taking(4);
    expect(reports).toMatchObject([{ code: "local-out-of-bounds", count: 32 }]);
    expect(reports[0]!.message).toMatch(/0 bytes after the end of what alloca gave \(4 bytes\)/);
  });

  test("stackrestore gives back, and a function sees its caller's variables through a pointer", () => {
    const m = new ModuleBuilder();
    const k = m.kernel();
    const at = k.element(k.kernelParam(u64), tid);
    const mine = k.variable(8);
    const [saved, first, second, pointer] = range(4, () => k.reg("b64"));
    const r = k.reg("b32");
    const alloca = (to: typeof saved) => k.emit({ kind: "alloca", size: kit.i64(64n), align: 8 }, { dst: [to!] });
    k.emit({ kind: "stack-save" }, { dst: [saved!] });
    alloca(first);
    k.emit({ kind: "stack-restore", value: saved!.i64 });
    alloca(second);
    k.store(access("local"), frame(mine, 4), kit.add(tid, kit.i32(100)));
    k.set(pointer!, frame(mine, 0, true));
    k.emit({
      kind: "call",
      target: { kind: "direct", function: "f" },
      args: [{ kind: "value", value: pointer!.i64, bits: 64 }],
      results: [{ kind: "register", registers: [r.index] }],
      uniform: false,
    });
    const same = kit.select(kit.eq(first!.i64, second!.i64), kit.i32(1000), kit.i32(0));
    k.store(access("global"), at.i64, kit.add(r.i32, same));
    k.exit();
    const f = m.func("f");
    const [p, v] = [f.reg("b64"), f.reg("b32")];
    f.formal("params", u64, p);
    f.formal("returns", u32, v);
    f.variable(32);
    f.load(v, access("generic"), kit.add(p.i64, kit.i64(4n)));
    f.ret();
    expect([...run(m, { generate }).out]).toEqual(range(32, (i) => i + 1100));
  });
});

test("alloca beyond the stack is reported, not given", () => {
  const m = new ModuleBuilder();
  const k = m.kernel();
  k.emit({ kind: "alloca", size: kit.i64(1n << 40n), align: 8 }, { dst: [k.reg("b64")] });
  k.exit();
  expect(run(m).reports).toMatchObject([{ code: "stack-overflow" }]);
});
