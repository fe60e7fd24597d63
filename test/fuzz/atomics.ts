import { atomicInstruction } from "./instruction.ts";
import { headerBytes, ownBytes } from "./module-text.ts";
import type { Scope } from "./scope.ts";

/** Operations whose order does not matter as long as a place sees no other. Each has four places of eight bytes. */
const operations = [
  ...["add.u32", "add.s32", "add.u64", "and.b32", "and.b64", "or.b32", "or.b64", "xor.b32", "xor.b64"],
  ...["min.u32", "min.s32", "min.u64", "min.s64", "max.u32", "max.s32", "max.u64", "max.s64", "inc.u32", "dec.u32"],
] as const;
const places = 4;
export const binsBytes = 8 * places * operations.length;

/** The limit of `inc` and `dec`: one for all, as with different ones the order would matter. */
const limit = 11;

/** Threads add to places that they share, and never look at what was there. */
export function sharedAtomic({ text, module, level }: Scope): void {
  const { random } = text;
  const operation = random.below(operations.length);
  const name = operations[operation]!;
  const bits = name.endsWith("64") ? 64 : 32;
  const value = /inc|dec/.test(name) ? `${limit}` : text.register(bits, random.chance(0.3));
  const shared = module.has("sb") && random.chance(0.5);
  const [base, index, at] = [text.temporary(64), text.temporary(32), text.temporary(64)];
  if (shared) text.add(`mov.u64 ${base}, sb;`);
  else if (level < 0) text.add(`mov.u64 ${base}, %bins;`);
  else text.add(`ld.global.u64 ${base}, [%own+-${headerBytes}];`);
  text.add(`and.b32 ${index}, ${random.pick(["%lt", text.register(32), "0"])}, ${places - 1};`);
  text.add(`mad.wide.u32 ${at}, ${index}, 8, ${base};`);
  let space = shared ? ".shared" : ".global";
  if (random.chance(0.25)) {
    if (shared) text.add(`cvta.shared.u64 ${at}, ${at};`);
    space = "";
  }
  const order = random.pick(["", "", ".relaxed.gpu", ".acq_rel.cta"]);
  const guard = random.chance(0.2) ? `@${text.register(1)} ` : "";
  const address = `[${at}+${8 * places * operation}]`;
  if (random.chance(0.5)) {
    text.add(`${guard}red${order.replace("acq_rel", "release")}${space}.${name} ${address}, ${value};`);
  } else text.add(`${guard}atom${order}${space}.${name} ${text.temporary(bits)}, ${address}, ${value};`);
}

/** Any atomic operation on memory that the thread has for itself, with its result. */
export function ownAtomic({ text, module }: Scope): void {
  const { random } = text;
  const at = 32 * random.below(ownBytes / 32);
  const slot = text.temporary(64);
  text.add(`mov.u64 ${slot}, ${module.shared("so", 32 * module.threads)};`, `mad.wide.u32 ${slot}, %lt, 32, ${slot};`);
  const global = `[%own+${at}]`;
  text.add(atomicInstruction(text, { global, shared: `[${slot}]`, generic: global }));
}
