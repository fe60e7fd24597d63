import { imageBlockPitch, type ImageBlock, type MatrixBlock, matrixBlockBytes, type Op } from "../../ir/index.ts";
import { type Expr, kit as k } from "../../semantics/index.ts";
import { lscSizeOf } from "../access-slots.ts";
import { choiceOf, has, nameOf, once, rawOf, vectorOf } from "../instruction-operands.ts";
import type { Instruction, LscAddress, LscData, RawOperand } from "../tree.ts";
import { typeBytes } from "../types.ts";
import { unsupported } from "./channel-operands.ts";
import type { LowerContext, Lowered, LowerInstruction } from "./context.ts";
import { source } from "./operands.ts";
import { isNull, rawSource, rawTarget } from "./raw-operand.ts";
import { channelNumbers, indexOf } from "./texel-channels.ts";
import { lscOperandsOf, lscSurface } from "./typed.ts";

/** A message acts once for the whole thread, whatever the mask of its lanes. */
const lanes = { first: 0, count: 1, noMask: true, uniform: false } as const;

const dwords = (bytes: number): readonly number[] => Array.from({ length: bytes / 4 }, (_, i) => i);

const loaded = (context: LowerContext, op: Op, registers: RawOperand, bytes: number): Lowered => {
  const dst = dwords(bytes).map((element) =>
    rawTarget(context, registers, { bits: 32, exec: once, element, stride: 0 }),
  );
  return { op, dst, lanes };
};

const stored = (context: LowerContext, registers: RawOperand, bytes: number): readonly Expr[] =>
  dwords(bytes).map((element) => rawSource(context, registers, { bits: 32, exec: once, element, stride: 0 }));

/** The block that the shape of the data describes; null if elements have no such size. */
function blockOf(context: LowerContext, data: LscData): MatrixBlock | null {
  const { bytes, slot, within } = lscSizeOf(data);
  if (data.block === null || slot !== bytes || within !== 0) return null;
  const { blocks, width, height, transposed, vnni } = data.block;
  const size = bytes as MatrixBlock["size"];
  const registerBytes = context.routine.grfBytes as MatrixBlock["registerBytes"];
  return { size, blocks, width, height, transposed, packed: vnni, registerBytes };
}

/**
 * Where the matrix is: its address, its sizes less 1, the position of the block. They are operands, or lie in one
 * register, as IGC builds it: the address (64 bits), bytes of a row, rows, pitch, x, y.
 */
function placeIn(context: LowerContext, { base, blockOffsets }: LscAddress): readonly Expr[] | null {
  const [first, ...rest] = base;
  if (first === undefined) return null;
  const value = ({ operand, offset }: LscAddress["base"][number]): Expr => {
    const own =
      operand.kind === "raw"
        ? rawSource(context, operand, { bits: 32, exec: once })
        : source(context, operand, once).expr;
    return offset === 0 ? own : k.add(own, k.int(own, offset));
  };
  if (rest.length === 5) {
    const address = value(first);
    return [address.ty === "i64" ? address : k.widen(address, false), ...rest.map(value)];
  }
  if (rest.length > 0 || first.operand.kind !== "general") return null;
  const { start: from, end, variable, row, column } = first.operand;
  const offset = row * context.routine.grfBytes + column * typeBytes(context.variable(variable).type);
  const start: RawOperand = { kind: "raw", start: from, end, variable, offset };
  const word = (element: number): Expr => rawSource(context, start, { bits: 32, exec: once, element, stride: 0 });
  const [dx, dy] = blockOffsets ?? [0, 0];
  const address = rawSource(context, start, { bits: 64, exec: once, stride: 0 });
  return [address, word(2), word(3), word(4), k.add(word(5), k.i32(dx)), k.add(word(6), k.i32(dy))];
}

/** `lsc_load_block2d` and `lsc_store_block2d`, of memory. */
export const lowerMatrixBlock = (
  context: LowerContext,
  instruction: Instruction,
  access: "load" | "store",
): readonly Lowered[] => {
  const { address, data } = lscOperandsOf(instruction);
  // A load to %null is a prefetch.
  if (access === "load" && isNull(context, data.register)) return [{ op: { kind: "nothing" }, dst: [] }];
  const block = blockOf(context, data);
  if (block === null) return [unsupported(instruction, "blocks have elements of 8, 16, 32 or 64 bits")];
  if (choiceOf(instruction, "sfid") === "slm") {
    return [unsupported(instruction, "shared local memory has no blocks of matrices")];
  }
  if (address.model !== "flat") return [unsupported(instruction, "blocks of matrices in surfaces are not modelled")];
  const place = placeIn(context, address);
  if (place === null) return [unsupported(instruction, "this form of a block's address is not modelled")];
  const bytes = matrixBlockBytes(block);
  if (access === "load") {
    const op: Op = { kind: "unit", unit: { op: "block-load", block }, operands: place };
    return [loaded(context, op, data.register, bytes)];
  }
  if (block.blocks > 1) return [unsupported(instruction, "one block is stored at a time")];
  const operands = [...place, ...stored(context, data.register, bytes)];
  return [{ op: { kind: "unit", unit: { op: "block-store", block }, operands }, dst: [], lanes }];
};

function imageBlock(
  context: LowerContext,
  block: ImageBlock,
  place: readonly Expr[],
  access: "load" | "store",
  registers: RawOperand,
): readonly Lowered[] {
  const bytes = imageBlockPitch(block) * block.height;
  if (access === "load") {
    return [
      loaded(context, { kind: "unit", unit: { op: "image-block-load", block }, operands: place }, registers, bytes),
    ];
  }
  const operands = [...place, ...stored(context, registers, bytes)];
  return [{ op: { kind: "unit", unit: { op: "image-block-store", block }, operands }, dst: [], lanes }];
}

/** Typed `lsc_load_block2d` and `lsc_store_block2d`. */
export const lowerTypedBlock: LowerInstruction = (context, instruction) => {
  const { address, data } = lscOperandsOf(instruction);
  const access = instruction.row.mnemonic === "lsc_load_block2d" ? "load" : "store";
  if (access === "load" && isNull(context, data.register)) return [{ op: { kind: "nothing" }, dst: [] }];
  const surface = lscSurface(context, address, once);
  const [x, y] = address.base.map(({ operand }) => operand);
  if (typeof surface === "string") return [unsupported(instruction, surface)];
  if (x === undefined || y === undefined || x.kind === "raw" || y.kind === "raw" || data.block === null) {
    return [unsupported(instruction, "this form of a block's address is not modelled")];
  }
  const { width, height } = data.block;
  const place = [surface, source(context, x, once).expr, source(context, y, once).expr];
  return imageBlock(context, { width, height, outside: "zero", field: null }, place, access, data.register);
};

/** `sample_unorm`. Its result has 16 bits of each pixel, whatever format is named: so IGC takes it. */
export const lowerSampleBlock: LowerInstruction = (context, instruction) => {
  const channels = channelNumbers(choiceOf(instruction, "channels"));
  const at = ["u", "v", "deltaU", "deltaV"].map((name) =>
    k.bitcast(source(context, vectorOf(instruction, name), once).expr, "i32"),
  );
  const [surface, sampler] = ["surface", "sampler"].map((name) => indexOf(context, nameOf(instruction, name)));
  const op: Op = { kind: "unit", unit: { op: "sample-block", channels }, operands: [surface!, sampler!, ...at] };
  return [loaded(context, op, rawOf(instruction, "dst"), 64 * channels.length)];
};

/** The rows of an interlaced surface that count. */
const fields: Readonly<Record<string, 0 | 1>> = { top: 0, bottom: 1 };

/** `media_ld` and `media_st`. */
export const lowerMediaBlock: LowerInstruction = (context, instruction) => {
  const number = (name: string): number => {
    const operand = instruction.operands[name];
    return operand?.kind === "number" ? operand.value : 0;
  };
  if (number("plane") !== 0) return [unsupported(instruction, "images have one plane here")];
  // That a surface was modified before (`modified`, `_mod`) says which cache has it.
  const field = fields[choiceOf(instruction, "mode").replace("_mod", "")] ?? null;
  const block = { width: number("width"), height: number("height"), outside: "edge", field } as const;
  const at = (name: string): Expr => source(context, vectorOf(instruction, name), once).expr;
  const place = [indexOf(context, nameOf(instruction, "surface")), at("x"), at("y")];
  const isLoad = has(instruction, "dst");
  const registers = rawOf(instruction, isLoad ? "dst" : "src");
  return imageBlock(context, block, place, isLoad ? "load" : "store", registers);
};
