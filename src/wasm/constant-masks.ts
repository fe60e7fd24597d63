import type { ValueOp } from "./value-ops.ts";
import type { Wasm } from "./graph.ts";

type Constant = Extract<Wasm, { kind: "const"; ty: "v128" }>;

const constantOf = (value: Wasm | undefined): Constant | null =>
  value !== undefined && value.kind === "const" && value.ty === "v128" ? value : null;

const isFilled = (value: Constant | null, byte: number): boolean => value?.value.every((b) => b === byte) === true;

/** What folding makes of bytes, of which `wasm` would make values. */
interface Makers {
  readonly vector: (bytes: readonly number[]) => Wasm;
  readonly words: (words: readonly number[]) => Wasm;
  readonly i32: (value: number) => Wasm;
  readonly shuffle: (a: Wasm, b: Wasm, elements: readonly number[]) => Wasm;
}

/**
 * An operation on masks in simpler form, where some are constants, as those of lanes that are known while code is
 * written, or it is undone; null if there is none.
 */
export function foldedMask(op: ValueOp, args: readonly Wasm[], make: Makers): Wasm | null {
  switch (op) {
    case "v128.and":
    case "v128.or":
      return foldedPair(op, args, make);
    case "v128.not": {
      const [arg] = args;
      if (arg?.kind === "op" && arg.op === "v128.not") return arg.args[0]!;
      const bits = constantOf(arg);
      return bits === null ? null : make.vector(bits.value.map((b) => ~b & 0xff));
    }
    case "v128.any_true": {
      const bits = constantOf(args[0]);
      return bits === null ? null : make.i32(isFilled(bits, 0) ? 0 : 1);
    }
    case "i32x4.add": {
      const [a, b] = [constantOf(args[0]), constantOf(args[1])];
      return a === null || b === null ? null : make.words(addedWords(a.value, b.value));
    }
    case "v128.bitselect":
    case "i8x16.relaxed_laneselect":
      return selected(args, make);
    default:
      return null;
  }
}

/** The four words of a vector's bytes. */
export const wordsOf = (bytes: readonly number[]): readonly number[] =>
  [0, 4, 8, 12].map((at) => bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));

function addedWords(a: readonly number[], b: readonly number[]): readonly number[] {
  const others = wordsOf(b);
  return wordsOf(a).map((word, i) => (word + others[i]!) | 0);
}

function foldedPair(op: "v128.and" | "v128.or", args: readonly Wasm[], make: Makers): Wasm | null {
  const [a, b] = [constantOf(args[0]), constantOf(args[1])];
  if (a === null && b === null) return null;
  if (a !== null && b !== null) {
    return make.vector(a.value.map((x, i) => (op === "v128.and" ? x & b.value[i]! : x | b.value[i]!)));
  }
  const [constant, other] = a !== null ? [a, args[1]!] : [b!, args[0]!];
  const [neutral, absorbing] = op === "v128.and" ? [0xff, 0] : [0, 0xff];
  if (isFilled(constant, neutral)) return other;
  return isFilled(constant, absorbing) ? constant : null;
}

/** Whole bytes of one vector or another are a shuffle, of which the host makes one instruction. */
function selected([a, b, mask]: readonly Wasm[], make: Makers): Wasm | null {
  const bits = constantOf(mask);
  if (bits === null || bits.value.some((byte) => byte !== 0 && byte !== 0xff)) return null;
  if (isFilled(bits, 0xff)) return a!;
  if (isFilled(bits, 0)) return b!;
  return make.shuffle(
    a!,
    b!,
    bits.value.map((byte, i) => (byte === 0 ? i + 16 : i)),
  );
}
