import { expect, test } from "vitest";
import type { Observer } from "../../src/machine/events.ts";
import { kit } from "../../src/semantics/index.ts";
import { access, ModuleBuilder, special, u64 } from "../interpreter/builder.ts";
import { engines, run } from "../interpreter/harness.ts";

const tid = special("tid.x");

/** Writes down what happens in one block of 40 threads, in which lanes part, call, store and meet. */
test.each(engines)("an observer sees every event of a run in order, with $name", ({ generate }) => {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const out = k.kernelParam(u64);
  const [base, p] = [k.reg("b64"), k.reg("pred")];
  const end = k.label();
  k.load(base, access("kernel-param", 64), out);
  k.set(p, kit.lt(tid, kit.i32(36), false));
  k.branch(end, { when: p });
  k.store(access("global"), kit.add(base.i64, kit.mul(kit.widen(tid, false), kit.i64(4n))), tid);
  k.emit({ kind: "call", target: { kind: "direct", function: "f" }, args: [], results: [], uniform: false });
  k.place(end);
  k.barrier();
  m.func("f").ret();

  const seen: string[] = [];
  const hex = (mask: number) => (mask >>> 0).toString(16);
  let first = 0n;
  const observer: Observer = {
    launchBegin: (grid) => seen.push(`launch ${grid.kernel}`),
    blockBegin: (cta) => seen.push(`block ${cta.id}`),
    instruction: (e) => seen.push(`${e.warp.index} ${e.activation.code.ir.name}:${e.site.index} ${hex(e.mask)}`),
    access: (e) => {
      const lane = 31 - Math.clz32(e.mask & -e.mask);
      if (e.effect === "store") first = e.addresses[lane]!;
      seen.push(`  ${e.effect} ${e.access.space} ${hex(e.mask)}`);
    },
    branch: (e) => seen.push(`  branch ${hex(e.mask)} of ${hex(e.group)} to ${e.target}`),
    call: (e) => seen.push(`  call ${e.callee.ir.name} ${hex(e.mask)}`),
    return: (e) => seen.push(`  return ${e.activation.code.ir.name} ${hex(e.mask)}`),
    exit: (e) => seen.push(`  exit ${hex(e.mask)}`),
    barrier: (e) => seen.push(`  barrier ${e.barrier} ${e.mode} ${hex(e.mask)} ${e.converged}`),
    barrierRelease: (e) => seen.push(`  release ${e.barrier}`),
    blockEnd: () => seen.push("block end"),
    launchEnd: () => seen.push("launch end"),
  };
  const { ok, memory } = run(m, { generate, observers: [observer], block: [40, 1, 1], words: 40 });
  expect(ok).toBe(true);
  const buffer = memory.allocations.find((a) => a.name === "out")!;
  expect(first).toBe(0x7f00_0000_0000n + BigInt(buffer.start + 36 * 4));
  expect(seen).toEqual([
    "launch k",
    "block 0,0,0",
    "0 k:0 ffffffff",
    "  load kernel-param ffffffff",
    "0 k:1 ffffffff",
    "0 k:2 ffffffff",
    "  branch ffffffff of ffffffff to 5",
    "0 k:5 ffffffff",
    "  barrier 0 sync ffffffff true",
    "1 k:0 ff",
    "  load kernel-param ff",
    "1 k:1 ff",
    "1 k:2 f",
    "  branch f of ff to 5",
    "1 k:3 f0",
    "  store global f0",
    "1 k:4 f0",
    "  call f f0",
    "1 f:0 f0",
    "  return f f0",
    "1 k:5 ff",
    "  barrier 0 sync ff true",
    "  release 0",
    "0 k:6 ffffffff",
    "  return k ffffffff",
    "  exit ffffffff",
    "1 k:6 ff",
    "  return k ff",
    "  exit ff",
    "block end",
    "launch end",
  ]);
});

test("an observer sees guards that let no lane pass, and functions with their arguments in place", () => {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const p = k.reg("pred");
  const r = k.reg("b32");
  k.set(p, kit.lt(tid, kit.i32(0), false));
  k.set(r, tid, { when: p });
  k.emit({ kind: "call", target: { kind: "direct", function: "f" }, args: [], results: [], uniform: false });
  m.func("f").ret();
  const seen: string[] = [];
  const hex = (mask: number) => (mask >>> 0).toString(16);
  const observer: Observer = {
    guard: (e) => seen.push(`guard ${e.site.index} ${hex(e.mask)} of ${hex(e.group)}`),
    instruction: (e) => seen.push(`${e.activation.code.ir.name}:${e.site.index} ${hex(e.mask)} of ${hex(e.group)}`),
    enter: (e) => seen.push(`enter ${e.activation.code.ir.name} from ${e.activation.callSite?.index} ${hex(e.mask)}`),
  };
  run(m, { observers: [observer], block: [8, 1, 1] });
  expect(seen).toEqual([
    "k:0 ff of ff",
    "guard 1 ff of ff",
    "k:2 ff of ff",
    "enter f from 2 ff",
    "f:0 ff of ff",
    "k:3 ff of ff",
  ]);
});
