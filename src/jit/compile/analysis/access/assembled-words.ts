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

/** A word, or two as a number of 64 bits, that instructions put together from bytes of one or two loaded words. */
export interface AssembledWord {
  readonly words: readonly LoadedWord[];
  /**
   * For each of 4 or 8 bytes, lowest first, its number among the bytes of these words; null: the byte is 0. Of 8 bytes
   * all are there, in order.
   */
  readonly bytes: readonly (number | null)[];
}

/** A byte of a word: one of a wide load, by its distance from the start; or a constant; null: not known. */
type Byte = { readonly wide: WideLoad; readonly at: number } | { readonly value: number } | null;

/** The bytes of a number, lowest first: 4 or 8. */
type Bytes = readonly Byte[];

const unknown: Bytes = [null, null, null, null];
const unknown64: Bytes = [...unknown, ...unknown];

const zero: Byte = { value: 0 };
const zeros: Bytes = [zero, zero, zero, zero];

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
      const { bits } = ir.registers[to]!;
      const kept = bytes.map((byte, i) => (8 * i < bits ? byte : zero));
      known.set(to, kept);
      const word = part !== undefined ? null : bits === 64 ? twoWordsOf(kept) : wordOf(kept.slice(0, 4));
      if (word !== null) assembled.set(index, word);
    }
  }
  return assembled;
}

function loadedBytes({ op }: Instruction, { wide, at }: WideLoadPart): Bytes | null {
  if (op.kind !== "load" || (op.access.signed && op.access.bits < 32)) return null;
  return [0, 1, 2, 3, 4, 5, 6, 7].map((i) => (8 * i < op.access.bits ? { wide, at: at + i } : zero));
}

function computedBytes({ op, dst, guard, lanes }: Instruction, known: ReadonlyMap<number, Bytes>): Bytes | null {
  if (op.kind !== "pure" || guard !== null || lanes !== undefined || dst.length !== 1) return null;
  const [value] = op.values;
  const bytes = bytesOf(value!, known);
  return bytes.some((byte) => byte !== null && "wide" in byte) ? bytes : null;
}

/** The bytes of an expression: 4 of an i32, 8 of an i64; of others none is known. */
function bytesOf(expr: Expr, known: ReadonlyMap<number, Bytes>): Bytes {
  const none = expr.ty === "i64" ? unknown64 : unknown;
  if (expr.ty !== "i32" && expr.ty !== "i64") return none;
  if (expr.kind === "reg") return known.get(expr.reg)?.slice(0, none.length) ?? none;
  if (expr.kind === "const")
    return none.map((_, i) => ({ value: Number(BigInt.asUintN(8, BigInt(expr.value) >> BigInt(8 * i))) }));
  if (expr.kind !== "prim") return none;
  const [a, b, c] = expr.args.map((arg) => bytesOf(arg, known));
  const by = expr.args[1];
  const count = by?.kind === "const" ? Number(by.value) : null;
  switch (expr.prim) {
    case "i64.extend_i32_u":
      return [...a!, ...zeros];
    case "i32.wrap_i64":
      return a!.slice(0, 4);
    case "i32.or":
    case "i32.xor":
    case "i32.add":
    case "i64.or":
    case "i64.xor":
    case "i64.add":
      return a!.every((_, i) => isValue(a![i]!, 0) || isValue(b![i]!, 0))
        ? a!.map((byte, i) => (isValue(byte, 0) ? b![i]! : byte))
        : none;
    case "i32.and":
    case "i64.and":
      return a!.map((byte, i) => common(byte, b![i]!));
    case "i32.shl":
    case "i64.shl":
      return count === null ? none : shifted(a!, count);
    case "i32.shr_u":
    case "i64.shr_u":
      return count === null ? none : shifted(a!, -count);
    case "i32.mul":
    case "i64.mul":
      return by?.kind === "const" ? shifted(a!, powerOf(BigInt.asUintN(8 * none.length, BigInt(by.value)))) : none;
    case "i32.permute":
      return permuted([...a!, ...b!], c ?? unknown);
    default:
      return none;
  }
}

/** A byte of the `and` of two words. */
function common(a: Byte, b: Byte): Byte {
  if (isValue(a, 0) || isValue(b, 0)) return zero;
  if (isValue(b, 255)) return a;
  return isValue(a, 255) ? b : null;
}

/** The exponent of a power of two; NaN for other numbers. */
const powerOf = (value: bigint): number =>
  value > 0n && (value & (value - 1n)) === 0n ? value.toString(2).length - 1 : Number.NaN;

/** Bytes shifted to the left by a number of bits. */
function shifted(bytes: Bytes, bits: number): Bytes {
  const by = bits / 8;
  if (!Number.isInteger(by) || Math.abs(by) >= bytes.length) return bytes.map(() => null);
  return bytes.map((_, i) => bytes[i - by] ?? (i - by < 0 || i - by >= bytes.length ? zero : null));
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

/** The same of 8 bytes: all of them, in the order in which they have been loaded. */
function twoWordsOf(bytes: Bytes): AssembledWord | null {
  const [first] = bytes;
  if (first == null || "value" in first || first.at % 4 !== 0) return null;
  const { wide, at } = first;
  const isNext = (byte: Byte, i: number): boolean =>
    byte !== null && "wide" in byte && byte.wide === wide && byte.at === at + i;
  if (!bytes.every(isNext)) return null;
  const word = at / 4;
  return { words: [word, word + 1].map((n) => ({ wide, word: n })), bytes: bytes.map((_, i) => i) };
}
