import type { WasmTy } from "../wasm/operation.ts";
import type { Node, NodeParts } from "./graph.ts";

/** Makes the nodes of a simpler value. */
interface Maker {
  constant(ty: WasmTy, value: number | bigint | readonly number[]): Node;
  op(parts: NodeParts): Node;
}

const isConst = (node: Node): boolean => node.op === "const";
const int = (node: Node): number => node.constant as number;

const folded32: Readonly<Record<string, (a: number, b: number) => number>> = {
  "i32.add": (a, b) => (a + b) | 0,
  "i32.sub": (a, b) => (a - b) | 0,
  "i32.mul": (a, b) => Math.imul(a, b),
  "i32.and": (a, b) => a & b,
  "i32.or": (a, b) => a | b,
  "i32.xor": (a, b) => a ^ b,
  "i32.shl": (a, b) => a << b,
  "i32.shr_u": (a, b) => (a >>> b) | 0,
  "i32.eq": (a, b) => Number(a === b),
  "i32.ne": (a, b) => Number(a !== b),
  "i32.lt_u": (a, b) => Number(a >>> 0 < b >>> 0),
};

const words = (bytes: readonly number[]): Int32Array => new Int32Array(Uint8Array.from(bytes).buffer);
const bytesOf = (elements: ArrayLike<number>): number[] => [...new Uint8Array(Int32Array.from(elements).buffer)];
const allBytes = (node: Node, byte: number): boolean =>
  isConst(node) && node.ty === "v128" && (node.constant as readonly number[]).every((b) => b === byte);

/**
 * A simpler node with the same value, or null. Sums keep their constant last, so that values of neighbouring quads,
 * which differ by a constant, look alike.
 */
export function simplified(parts: NodeParts, make: Maker): Node | null {
  const { op } = parts;
  const args = parts.args ?? [];
  const [a, b] = args;
  if (a === undefined) return null;
  if (b !== undefined && isConst(a) && isConst(b) && op in folded32) {
    return make.constant("i32", folded32[op]!(int(a), int(b)));
  }
  if (op === "i32.eqz" && isConst(a)) return make.constant("i32", Number(int(a) === 0));
  if (op === "select" && isConst(args[2]!)) return int(args[2]!) !== 0 ? a : b!;
  if (op === "i32.add") return sum32(a, b!, make);
  if (op === "i32.sub" && isConst(b!)) {
    return make.op({ op: "i32.add", ty: "i32", args: [a, make.constant("i32", -int(b!) | 0)] });
  }
  if (op === "i32x4.splat") return splat(a, make);
  if (op === "i8x16.shuffle") return shuffle(a, b!, parts.immediates!);
  if (op === "i32x4.add") return sumOfVectors(a, b!, make);
  if (op === "i64x2.splat" && isConst(a) && a.constant === 0n) {
    return make.constant("v128", new Array<number>(16).fill(0));
  }
  if (op === "i64x2.add" && (allBytes(a, 0) || allBytes(b!, 0))) return allBytes(a, 0) ? b! : a;
  if (op === "i64x2.mul") return productOfWords(a, b!, make);
  if (op === "i32x4.max_u") return largest(a, b!);
  if (op === "v128.bitselect") return selection(a, b!, args[2]!, make);
  if (op.startsWith("v128.")) return logic(op, a, b ?? a, make);
  return null;
}

/** A shuffle that takes all bytes of one vector where they are: V8 needs some to keep loads in their order. */
function shuffle(a: Node, b: Node, bytes: readonly number[]): Node | null {
  if (bytes.every((byte, i) => byte === i)) return a;
  return bytes.every((byte, i) => byte === i + 16) ? b : null;
}

function sum32(a: Node, b: Node, make: Maker): Node | null {
  if (isConst(a)) return make.op({ op: "i32.add", ty: "i32", args: [b, a] });
  if (!isConst(b)) return null;
  if (int(b) === 0) return a;
  const [c, d] = a.args;
  if (a.op !== "i32.add" || d === undefined || !isConst(d)) return null;
  return make.op({ op: "i32.add", ty: "i32", args: [c!, make.constant("i32", (int(d!) + int(b)) | 0)] });
}

function splat(a: Node, make: Maker): Node | null {
  if (isConst(a)) return make.constant("v128", bytesOf(new Array<number>(4).fill(int(a))));
  const [c, d] = a.args;
  if (a.op !== "i32.add" || d === undefined || !isConst(d)) return null;
  const base = make.op({ op: "i32x4.splat", ty: "v128", args: [c!] });
  const offset = make.op({ op: "i32x4.splat", ty: "v128", args: [d!] });
  return make.op({ op: "i32x4.add", ty: "v128", args: [base, offset] });
}

function sumOfVectors(a: Node, b: Node, make: Maker): Node | null {
  if (isConst(a) && isConst(b)) {
    const [x, y] = [words(a.constant as readonly number[]), words(b.constant as readonly number[])];
    return make.constant("v128", bytesOf(x.map((n, i) => n + y[i]!)));
  }
  if (isConst(a)) return make.op({ op: "i32x4.add", ty: "v128", args: [b, a] });
  const add = (x: Node, y: Node): Node => make.op({ op: "i32x4.add", ty: "v128", args: [x, y] });
  const constantOf = (n: Node): Node | null => (n.op === "i32x4.add" && isConst(n.args[1]!) ? n.args[1]! : null);
  if (isConst(b)) {
    if (allBytes(b, 0)) return a;
    const c = constantOf(a);
    return c === null ? null : add(a.args[0]!, add(c, b));
  }
  const [c, d] = [constantOf(a), constantOf(b)];
  if (c !== null && d !== null) return add(add(a.args[0]!, b.args[0]!), add(c, d));
  if (c !== null) return add(add(a.args[0]!, b), c);
  if (d !== null) return add(add(a, b.args[0]!), d);
  return null;
}

/** Words that are extended need no product of 64 bits. */
function productOfWords(a: Node, b: Node, make: Maker): Node | null {
  const extended = /^i64x2\.extend_((?:low|high)_i32x4_[su])$/.exec(a.op);
  if (extended === null || a.op !== b.op) return null;
  return make.op({ op: `i64x2.extmul_${extended[1]}`, ty: "v128", args: [a.args[0]!, b.args[0]!] });
}

/** Lanes that a mask excludes count as zeros in the largest of all. */
function largest(a: Node, b: Node): Node | null {
  if (allBytes(a, 0) || a === b) return b;
  return allBytes(b, 0) ? a : null;
}

function selection(a: Node, b: Node, mask: Node, make: Maker): Node | null {
  if (a === b || allBytes(mask, 0xff)) return a;
  if (allBytes(mask, 0)) return b;
  if (allBytes(b, 0)) {
    return allBytes(a, 0xff) ? mask : make.op({ op: "v128.and", ty: "v128", args: [a, mask] });
  }
  return allBytes(a, 0) ? make.op({ op: "v128.andnot", ty: "v128", args: [b, mask] }) : null;
}

function logic(op: string, a: Node, b: Node, make: Maker): Node | null {
  if (op === "v128.or") {
    if (allBytes(a, 0) || allBytes(b, 0xff) || a === b) return b;
    if (allBytes(b, 0) || allBytes(a, 0xff)) return a;
  } else if (op === "v128.and") {
    if (allBytes(a, 0) || allBytes(b, 0xff) || a === b) return a;
    if (allBytes(b, 0) || allBytes(a, 0xff)) return b;
  } else if (op === "v128.not" && isConst(a)) {
    return make.constant(
      "v128",
      (a.constant as readonly number[]).map((n) => n ^ 0xff),
    );
  } else if (op === "v128.not" && a.op === "v128.not") return a.args[0]!;
  return null;
}
