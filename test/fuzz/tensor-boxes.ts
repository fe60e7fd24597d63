import type { FunctionText } from "./function-text.ts";
import { awaitPhase, byFirstThread, declareMbarriers, initialize, invalidate, meetAll } from "./mbarriers.ts";
import type { Scope } from "./scope.ts";
import { boxSizes, type RandomTensor, randomRequest } from "./tensor-maps.ts";

/** `[map, {coordinates}]`, where the address of the map is a generic one, and coordinates are numbers or registers. */
function boxText(text: FunctionText, { parameter }: RandomTensor, coordinates: readonly number[]): string {
  const map = text.temporary(64);
  text.add(`mov.b64 ${map}, ${parameter};`, `cvta.param.u64 ${map}, ${map};`);
  const list = coordinates.map((c) => {
    if (text.random.chance(0.3)) return `${c}`;
    const register = text.temporary(32);
    text.add(`mov.b32 ${register}, ${c};`);
    return register;
  });
  return `[${map}, {${list.join(", ")}}]`;
}

/** Shared memory for a box, in a register. Swizzles depend on bits of its address. */
function boxMemory({ text, module }: Scope, bytes: number): string {
  const name = module.fresh("box");
  const shift = 128 * text.random.below(3);
  module.variable(name, () => `.shared .align 1024 .b8 ${name}[${bytes + shift}];`);
  const base = text.temporary(64);
  text.add(`mov.u64 ${base}, ${name};`);
  if (shift > 0) text.add(`add.s64 ${base}, ${base}, ${shift};`);
  return base;
}

/** A thread loads a box, and all threads read from it. */
export function tensorLoad(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const tensor = random.pick(module.tensors.filter((_, i) => i % 2 === 0));
  const request = randomRequest(random, tensor);
  const sizes = boxSizes(tensor, request);
  const base = boxMemory(scope, sizes.extent);
  const mbarriers = declareMbarriers(module, 1);
  const rank = request.coordinates.length;
  initialize(text, mbarriers, [1]);
  byFirstThread(text, () => {
    const at = boxText(text, tensor, request.coordinates);
    const mode = request.mode === "tile" ? random.pick(["", ".tile"]) : `.${request.mode}`;
    const offsets = request.info.map((n) => {
      const half = text.temporary(16);
      text.add(`mov.b16 ${half}, ${n};`);
      return half;
    });
    const info = offsets.length === 0 ? "" : `, {${offsets.join(", ")}}`;
    const to = random.pick(["shared::cta", "shared::cluster"]);
    text.add(`mbarrier.arrive.expect_tx.shared::cta.b64 _, [${mbarriers.name}], ${sizes.counted};`);
    text.add(
      `cp.async.bulk.tensor.${rank}d.${to}.global${mode}.mbarrier::complete_tx::bytes [${base}], ${at}, [${mbarriers.name}]${info};`,
    );
  });
  const parity = text.temporary(32);
  text.add(`mov.b32 ${parity}, 0;`);
  awaitPhase(text, mbarriers.name, parity);
  const [index, from, value] = [text.temporary(32), text.temporary(64), text.temporary(32)];
  const sum = text.register(32);
  for (let i = random.between(1, 6); i > 0; i--) {
    text.add(`add.u32 ${index}, %lt, ${random.below(1024)};`, `rem.u32 ${index}, ${index}, ${sizes.bytes / 4};`);
    text.add(`mad.wide.u32 ${from}, ${index}, 4, ${base};`, `ld.shared.b32 ${value}, [${from}];`);
    text.add(`mad.lo.u32 ${sum}, ${sum}, 5, ${value};`);
  }
  invalidate(text, mbarriers);
}

const wordOps = ["add", "min", "max", "and", "or", "xor"] as const;
const reductionsOf = (type: string): readonly string[] => {
  switch (type) {
    case "u32":
      return [...wordOps, "inc", "dec"];
    case "s32":
    case "u64":
      return wordOps;
    case "s64":
      return ["min", "max", "and", "or", "xor"];
    case "f16":
    case "bf16":
      return ["add", "min", "max"];
    case "f32":
    case "f32ftz":
      return ["add"];
    default:
      return [];
  }
};

/** All threads fill a box in shared memory, and one stores it into a tensor, or reduces it into that. */
export function tensorStore(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const tensor = random.pick(module.tensors.filter((_, i) => i % 2 === 1));
  const { type, box } = tensor.map;
  const request = randomRequest(random, tensor);
  // Without offsets: a store has none.
  const plain = { ...request, info: request.info.map(() => 0) };
  const sizes = boxSizes(tensor, plain);
  const base = boxMemory(scope, sizes.extent);
  const [index, to, p, top, end] = [
    ...[text.temporary(32), text.temporary(64), text.temporary(1)],
    ...[text.label(), text.label()],
  ] as const;
  meetAll(text);
  text.add(`mov.u32 ${index}, %lt;`);
  text.place(top);
  text.add(`setp.ge.u32 ${p}, ${index}, ${Math.ceil(sizes.extent / 4)};`, `@${p} bra ${end};`);
  text.add(`mad.wide.u32 ${to}, ${index}, 4, ${base};`, `st.shared.b32 [${to}], ${text.register(32)};`);
  text.add(`add.u32 ${index}, ${index}, ${module.threads};`, `bra ${top};`);
  text.place(end);
  text.add("fence.proxy.async;");
  meetAll(text);
  byFirstThread(text, () => {
    const at = boxText(text, tensor, plain.coordinates);
    const mode = box.mode === "tiled" ? random.pick(["", ".tile"]) : ".im2col_no_offs";
    const ops = reductionsOf(type);
    const reduces = ops.length > 0 && random.chance(0.5);
    const opcode = reduces ? "cp.reduce.async.bulk.tensor" : "cp.async.bulk.tensor";
    const op = reduces ? `.${random.pick(ops)}` : "";
    text.add(`${opcode}.${plain.coordinates.length}d.global.shared::cta${op}${mode}.bulk_group ${at}, [${base}];`);
    text.add("cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;");
  });
  meetAll(text);
}

/** Whether a store of a tensor's boxes is one that the instructions have. */
export const isStored = ({ map }: RandomTensor): boolean =>
  map.type !== "16u4_align16b" && map.box.mode !== "im2col::w";
