import { describe, expect, test } from "vitest";
import type { Form } from "../../src/ptx/isa/index.ts";
import { instructionSet } from "../../src/ptx/isa/index.ts";
import { Device, type TensorShape } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { choicesIn, choicesOf, opcodesOf } from "../ptx/isa/opcodes.ts";

/*
 * Every form of the instructions on tensor maps, with every choice of its modifiers, in both engines. Expectations are
 * computed here element by element, from the words of sections 5.5 and 9.7.9.27 and of the CUDA driver's manual.
 */

/** A tensor of 16-bit or 32-bit elements with sizes that differ in each dimension. */
const sizes = [16, 5, 4, 3, 2];
const channels = 8;

interface Tensor {
  readonly rank: number;
  readonly dims: readonly number[];
  readonly strides: readonly number[];
}

const tensorOf = (rank: number): Tensor => {
  const dims = sizes.slice(0, rank);
  const strides = dims.slice(0, -1).map((_, i) => 4 * dims.slice(0, i + 1).reduce((a, b) => a * b, 1));
  return { rank, dims, strides };
};

const elementsOf = ({ dims }: Tensor): number => dims.reduce((a, b) => a * b, 1);
const valueAt = (n: number): number => (n * 0x9e37) | 1;

/** What the instruction takes: for each element of the box, its number in the tensor, or null outside. */
interface Expected {
  readonly shape: Omit<TensorShape, "dataType" | "globalDim" | "globalStrides">;
  readonly coordinates: readonly number[];
  readonly info: readonly number[];
  readonly elements: readonly (number | null)[];
}

function numberOf({ dims }: Tensor, place: readonly number[]): number | null {
  if (place.some((c, d) => c < 0 || c >= dims[d]!)) return null;
  return place.reduce((n, c, d) => n + c * dims.slice(0, d).reduce((a, b) => a * b, 1), 0);
}

const row = (tensor: Tensor, first: number, rest: readonly number[]): (number | null)[] =>
  Array.from({ length: channels }, (_, c) => numberOf(tensor, [first + c, ...rest]));

function tiled(tensor: Tensor): Expected {
  const box = [channels, 2, 2, 2, 2].slice(0, tensor.rank);
  // It begins inside, and reaches beyond the second dimension.
  const coordinates = [4, 4, 1, 1, 0].slice(0, tensor.rank);
  let places: number[][] = [[]];
  for (let d = 1; d < tensor.rank; d++) {
    places = [0, 1].flatMap((step) => places.map((place) => [...place, coordinates[d]! + step]));
  }
  const elements = places.flatMap((place) => row(tensor, 4, place));
  return { shape: { boxDim: box }, coordinates, info: [], elements };
}

function rows(tensor: Tensor): Expected {
  const coordinates = [4, 3, 0, 7, 1];
  const elements = coordinates.slice(1).flatMap((r) => row(tensor, 4, [r]));
  return { shape: { boxDim: [channels, 1] }, coordinates, info: [], elements };
}

/** A column from pixel (0, 0, ...) of image 0 on, in the whole tensor as pixel box; offsets move it by 1. */
function im2col(tensor: Tensor, offset: 0 | 1): Expected {
  const spatial = tensor.dims.slice(1, -1);
  const pixels = 12;
  const elements: (number | null)[] = [];
  for (let n = 0; n < pixels; n++) {
    let rest = n;
    const place = [...spatial, 1 << 30].map((size, d) => {
      const at = rest % size;
      rest = Math.floor(rest / size);
      return d < spatial.length ? at + offset : at;
    });
    elements.push(...row(tensor, 0, place));
  }
  const corner = spatial.map(() => 0);
  const box = { pixelBoxLowerCorner: corner, pixelBoxUpperCorner: corner, channelsPerPixel: channels };
  const info = spatial.map(() => offset);
  return {
    shape: { im2col: { ...box, pixelsPerColumn: pixels } },
    coordinates: tensor.dims.map(() => 0),
    info,
    elements,
  };
}

/**
 * Rows along W of image after image, at the first place of the other dimensions, with a halo of 1 and an offset of 1.
 */
function wide(tensor: Tensor, is128: boolean): Expected {
  const [w, count, halo, offset] = [tensor.dims[1]!, is128 ? 128 : 9, 1, 1];
  const others = tensor.dims.slice(2, -1).map(() => 0);
  const elements: (number | null)[] = [];
  for (let n = 0; n < count; n++) {
    const [at, image] = [(n % w) + offset, Math.floor(n / w)];
    elements.push(...row(tensor, 0, [at, ...others, image]));
    const ends = is128 ? n % 32 === 31 : n === count - 1;
    if (ends) elements.push(...row(tensor, 0, [at + halo, ...others, image]));
  }
  const corners = { pixelBoxLowerCornerWidth: 0, pixelBoxUpperCornerWidth: 0 };
  const shape = { im2colWide: { ...corners, channelsPerPixel: channels, pixelsPerColumn: 9 } };
  return { shape, coordinates: tensor.dims.map(() => 0), info: [halo, offset], elements };
}

function expectedOf(opcode: string, tensor: Tensor): Expected {
  const words = opcode.split(".");
  if (words.includes("tile::gather4") || words.includes("tile::scatter4")) return rows(tensor);
  if (words.includes("im2col::w")) return wide(tensor, false);
  if (words.includes("im2col::w::128")) return wide(tensor, true);
  if (words.includes("im2col")) return im2col(tensor, 1);
  if (words.includes("im2col_no_offs")) return im2col(tensor, 0);
  return tiled(tensor);
}

const registers = (prefix: string, values: readonly number[], bits: number): { text: string; names: string } => ({
  text: values.map((v, i) => `.reg .b${bits} ${prefix}${i}; mov.b${bits} ${prefix}${i}, ${v};`).join(" "),
  names: `{${values.map((_, i) => `${prefix}${i}`).join(", ")}}`,
});

const boxBytes = 8192;

/** A kernel in which thread 0 makes the copy, and waits for it; `out` gets the box. */
function kernel(opcode: string, { coordinates, info, elements }: Expected): string {
  const c = registers("c", coordinates, 32);
  const i = registers("i", info, 16);
  const words = opcode.split(".");
  const at = `[%m, ${c.names}]`;
  const tail = [
    ...(words.includes("multicast::cluster") ? ["1"] : []),
    ...(words.includes("L2::cache_hint") ? ["%policy"] : []),
  ];
  const loads = words.some((word) => word.startsWith("shared::c")) && !words.includes("bulk_group");
  const offsets = /im2col(::w|$)/.test(words.find((w) => w.startsWith("im2col")) ?? "") ? [i.names] : [];
  const operands = words.includes("prefetch")
    ? [at, ...offsets]
    : loads
      ? ["[%s]", at, "[%b]", ...offsets]
      : [at, "[%s]"];
  const bytes = 4 * elements.length;
  const wait = loads
    ? `W: mbarrier.try_wait.shared.b64 q, [%b], %state; @!q bra W;`
    : `cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;`;
  return `.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 in, .param .u64 out)
{
  .reg .b64 %m, %i, %o, %state, %policy; .reg .b32 %s, %b, %n, %v, %t; .reg .pred p, q;
  .shared .align 1024 .b8 box[${boxBytes}]; .shared .align 8 .b64 bar;
  ${c.text} ${i.text}
  mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
  mov.b64 %policy, 0x12f0000000000000; mov.b32 %s, box; mov.b32 %b, bar;
  mov.u32 %n, 0;
F: ld.global.b32 %v, [%i]; add.u32 %t, %s, %n; st.shared.b32 [%t], %v;
  add.u64 %i, %i, 4; add.u32 %n, %n, 4; setp.lt.u32 p, %n, ${bytes}; @p bra F;
  mbarrier.init.shared.b64 [%b], 1; fence.proxy.async;
  mbarrier.arrive.expect_tx.shared.b64 %state, [%b], ${bytes};
  ${opcode} ${[...operands, ...tail].join(", ")};
  ${words.includes("prefetch") ? "" : wait}
  mov.u32 %n, 0;
L: add.u32 %t, %s, %n; ld.shared.b32 %v, [%t]; st.global.b32 [%o], %v;
  add.u64 %o, %o, 4; add.u32 %n, %n, 4; setp.lt.u32 p, %n, ${bytes}; @p bra L;
  ret;
}
`;
}

const reductions: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  min: Math.min,
  max: Math.max,
  inc: (a, b) => (a >= b ? 0 : a + 1),
  dec: (a, b) => (a === 0 || a > b ? b : a - 1),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

function run(opcode: string, engine: (typeof usualEngines)[number]): void {
  const words = opcode.split(".");
  const tensor = tensorOf(Number(words.find((w) => /^[1-5]d$/.test(w))![0]));
  const expected = expectedOf(opcode, tensor);
  const device = new Device({ engine });
  const contents = Array.from({ length: elementsOf(tensor) }, (_, n) => valueAt(n));
  const global = device.buffer("u32", contents);
  const before = expected.elements.map((_, n) => 7 * n + 3);
  const [input, out] = [device.buffer("u32", before), device.buffer("u32", before.length)];
  const map = device.tensorMap({
    dataType: "u32",
    globalAddress: global,
    globalDim: tensor.dims,
    globalStrides: tensor.strides,
    ...expected.shape,
  });
  const loaded = device.load(kernel(opcode, expected));
  const result = loaded.kernel("k").launch({
    ...{ grid: 1, block: 1, args: [map, input, out] },
    // Sanitizers watch the interpreter.
    sanitize: engine === "interpreter" ? "all" : [],
  });
  expect(result.engine).toBe(engine);
  expect(result.reports, opcode).toEqual([]);
  const loads = words.includes("mbarrier::complete_tx::bytes");
  const box = expected.elements.map((n, i) => (loads ? (n === null ? 0 : valueAt(n)) : before[i]!));
  expect([...out.read()], `${opcode}: the box`).toEqual(box);
  const after = [...contents];
  const reduce = words[0] === "cp" && words[1] === "reduce" ? reductions[words.find((w) => w in reductions)!]! : null;
  if (!loads && !words.includes("prefetch")) {
    expected.elements.forEach((n, i) => {
      if (n !== null) after[n] = reduce === null ? before[i]! : reduce(contents[n]!, before[i]!);
    });
  }
  expect([...global.read()], `${opcode}: the tensor`).toEqual(after);
}

const formsOf = (name: string): readonly Form[] => instructionSet.instructions.find((i) => i.name === name)!.forms;

/** Opcodes of a form in which every choice of its modifiers occurs. */
function opcodesCovering(form: Form): string[] {
  const missing = new Set(choicesOf(form));
  const chosen: string[] = [];
  for (const opcode of opcodesOf(form, 4000)) {
    const candidate = instructionSet.resolve(opcode).candidates.find((c) => c.form === form);
    const fresh = candidate === undefined ? [] : choicesIn(candidate.mods).filter((choice) => missing.has(choice));
    if (fresh.length === 0) continue;
    for (const choice of fresh) missing.delete(choice);
    chosen.push(opcode);
  }
  expect([...missing]).toEqual([]);
  return chosen;
}

const names = ["cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "cp.async.bulk.prefetch.tensor"];

describe.each(names)("%s", (name) => {
  test.each(formsOf(name).map((form) => ({ text: form.text, form })))("$text", ({ form }) => {
    for (const opcode of opcodesCovering(form)) for (const engine of usualEngines) run(opcode, engine);
  });
});
