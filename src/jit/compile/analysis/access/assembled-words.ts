import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import type { WideLoad, WideLoadPart } from "./wide-loads.ts";

/** A word of a wide load. */
export interface LoadedWord {
  readonly wide: WideLoad;
  /** Which of its words. */
  readonly word: number;
}

/** A word that instructions put together from bytes of one or two words that a wide load has loaded. */
export interface AssembledWord {
  readonly words: readonly LoadedWord[];
  /** For each byte, lowest first, its number among the bytes of these words; null: the byte is 0. */
  readonly bytes: readonly (number | null)[];
}

/** A byte of a word: one of a wide load, by its distance from the start; or a constant; null: not known. */
type Byte = { readonly wide: WideLoad; readonly at: number } | { readonly value: number } | null;

type Bytes = readonly Byte[];

const unknown: Bytes = [null, null, null, null];

const zero: Byte = { value: 0 };

const isValue = (byte: Byte, value: number): boolean => byte !== null && "value" in byte && byte.value === value;

/**
 * The words that a function puts together from bytes that it loads, by the instruction that computes them: programs
 * that read keys, blocks of ciphers or pixels a byte at a time shift and combine them.
 */
export function assembledWordsOf(
  { ir, instructions, graph }: PreparedCode,
  parts: ReadonlyMap<number, WideLoadPart>,
): ReadonlyMap<number, AssembledWord> {
  const assembled = new Map<number, AssembledWord>();
  if (parts.size === 0) return assembled;
  for (const { start, end } of graph.blocks) {
    const known = new Map<number, Bytes>();
    for (let index = start; index < end; index++) {
      const instruction = instructions[index]!;
      const part = parts.get(index);
      const bytes = part === undefined ? computedBytes(instruction, known) : loadedBytes(instruction, part);
      writesOf(instruction, (r) => known.delete(r));
      const [to] = instruction.dst;
      if (bytes === null || typeof to !== "number") continue;
      known.set(
        to,
        bytes.map((byte, i) => (8 * i < ir.registers[to]!.bits ? byte : zero)),
      );
      const word = part === undefined ? wordOf(known.get(to)!) : null;
      if (word !== null) assembled.set(index, word);
    }
  }
  return assembled;
}

function loadedBytes({ op }: Instruction, { wide, at }: WideLoadPart): Bytes | null {
  if (op.kind !== "load" || (op.access.signed && op.access.bits < 32)) return null;
  return [0, 1, 2, 3].map((i) => (8 * i < op.access.bits ? { wide, at: at + i } : zero));
}

function computedBytes({ op, dst, guard, lanes }: Instruction, known: ReadonlyMap<number, Bytes>): Bytes | null {
  if (op.kind !== "pure" || guard !== null || lanes !== undefined || dst.length !== 1) return null;
  const [value] = op.values;
  if (value!.ty !== "i32") return null;
  const bytes = bytesOf(value!, known);
  return bytes.some((byte) => byte !== null && "wide" in byte) ? bytes : null;
}

/** The bytes of an expression of type i32. */
function bytesOf(expr: Expr, known: ReadonlyMap<number, Bytes>): Bytes {
  if (expr.ty !== "i32") return unknown;
  if (expr.kind === "reg") return known.get(expr.reg) ?? unknown;
  if (expr.kind === "const") return [0, 8, 16, 24].map((shift) => ({ value: (Number(expr.value) >>> shift) & 255 }));
  if (expr.kind !== "prim") return unknown;
  const [a, b, c] = expr.args.map((arg) => bytesOf(arg, known));
  if (a === undefined || b === undefined) return unknown;
  const by = expr.args[1]!;
  switch (expr.prim) {
    case "i32.or":
    case "i32.xor":
    case "i32.add":
      return a.every((_, i) => isValue(a[i]!, 0) || isValue(b[i]!, 0))
        ? a.map((byte, i) => (isValue(byte, 0) ? b[i]! : byte))
        : unknown;
    case "i32.and":
      return a.map((byte, i) => common(byte, b[i]!));
    case "i32.shl":
      return by.kind === "const" ? shifted(a, Number(by.value)) : unknown;
    case "i32.shr_u":
      return by.kind === "const" ? shifted(a, -Number(by.value)) : unknown;
    case "i32.mul":
      return by.kind === "const" ? shifted(a, Math.log2(Number(by.value) >>> 0)) : unknown;
    case "i32.permute":
      return permuted([...a, ...b], c ?? unknown);
    default:
      return unknown;
  }
}

/** A byte of the `and` of two words. */
function common(a: Byte, b: Byte): Byte {
  if (isValue(a, 0) || isValue(b, 0)) return zero;
  if (isValue(b, 255)) return a;
  return isValue(a, 255) ? b : null;
}

/** Bytes shifted to the left by a number of bits. */
function shifted(bytes: Bytes, bits: number): Bytes {
  const by = bits / 8;
  if (!Number.isInteger(by) || Math.abs(by) > 3) return unknown;
  return bytes.map((_, i) => (i - by < 0 || i - by > 3 ? zero : bytes[i - by]!));
}

/** What `prmt` selects by the digits of a constant. */
function permuted(from: Bytes, [low, high]: Bytes): Bytes {
  if (low == null || high == null || !("value" in low) || !("value" in high)) return unknown;
  const digits = [low.value & 15, low.value >> 4, high.value & 15, high.value >> 4];
  // A digit of 8 or more asks for copies of a sign.
  return digits.map((digit) => (digit < 8 ? from[digit]! : null));
}

/** The assembled word of which these are the bytes; null if there is none. */
function wordOf(bytes: Bytes): AssembledWord | null {
  const words: LoadedWord[] = [];
  const numbers: (number | null)[] = [];
  for (const byte of bytes) {
    if (byte === null) return null;
    if ("value" in byte) {
      if (byte.value !== 0) return null;
      numbers.push(null);
      continue;
    }
    const word = byte.at >> 2;
    let i = words.findIndex((other) => other.wide === byte.wide && other.word === word);
    if (i < 0) i = words.push({ wide: byte.wide, word }) - 1;
    numbers.push(4 * i + (byte.at & 3));
  }
  // A single byte is in a register of its own. A shuffle takes two vectors, of which zeros need one.
  const loaded = numbers.filter((n) => n !== null).length;
  return loaded < 2 || words.length + (loaded < 4 ? 1 : 0) > 2 ? null : { words, bytes: numbers };
}
