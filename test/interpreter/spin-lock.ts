import { atAddress } from "../../src/ir/index.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";
import { access, type FunctionBuilder, ModuleBuilder, old, symbol, u64 } from "./builder.ts";

/** What a compare-and-swap of 0 for 1 leaves. */
const taken: Expr = kit.select(kit.eq(old(0), kit.i32(0)), kit.i32(1), old(0));
const volatile = access("global", 32, { volatile: true });

/** Spins until the word at `lock` is 0, and makes it 1. */
export function takeLock(k: FunctionBuilder, lock: Expr): void {
  const [got, busy, spin] = [k.reg("b32"), k.reg("pred"), k.label()];
  k.place(spin);
  k.emit({ kind: "atomic", access: access("global"), place: atAddress(lock), combine: [taken] }, { dst: [got] });
  k.set(busy, kit.ne(got.i32, kit.i32(0)));
  k.branch(spin, { when: busy });
}

/** Adds one to the word at `count`, without care, and frees the lock. */
export function countAndFree(k: FunctionBuilder, lock: Expr, count: Expr): void {
  const n = k.reg("b32");
  k.load(n, access("global"), count);
  k.store(access("global"), count, kit.add(n.i32, kit.i32(1)));
  k.store(volatile, lock, kit.i32(0));
}

/** Each thread adds one to a word under a lock. */
export function lockedCounter(): ModuleBuilder {
  const m = new ModuleBuilder();
  m.variable("lock", "global", 4);
  const k = m.kernel();
  const base = k.reg("b64");
  k.load(base, access("kernel-param", 64), k.kernelParam(u64));
  takeLock(k, symbol("lock"));
  countAndFree(k, symbol("lock"), base.i64);
  k.exit();
  return m;
}
