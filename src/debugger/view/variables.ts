import type { DecodedFunction } from "../../interpreter/compile/decoded-function.ts";
import type { Slot } from "../../interpreter/compile/register-file.ts";
import { type FileVariable, type FrameVariable, type IrFunction, windows } from "../../ir/index.ts";
import { elementInfo, type ElementType } from "../../runtime/data/element.ts";
import type { Viewpoint } from "./memory-view.ts";
import { firstBits, numberOf, shapeOf, type TypedBits } from "./value.ts";

/** Reads a number for a lane. */
export type NumberReader = (of: Viewpoint) => number | bigint;

/** Something with a value in a function: a register, a variable of vISA or of a frame, a parameter of the kernel. */
export interface Variable {
  readonly kind: "register" | "file" | "frame" | "parameter";
  readonly name: string;
  /** The type of its bytes, such as "u32" or "pred"; a variable may hold several values of the type. */
  readonly type: string;
  /** Returns a copy of its bytes; a predicate is one byte. */
  read(of: Viewpoint): Uint8Array;
  /** Writes bytes from an offset on; returns false if they do not fit. */
  write(of: Viewpoint, bytes: Uint8Array, from?: number): boolean;
  /** Returns its address as the lane sees it, or null if it has none. */
  address(of: Viewpoint): bigint | null;
  /** Returns a fast reader of its first bits as a type: conditions read them for every lane that arrives. */
  reader(type: string): NumberReader;
}

/** Readers of a register slot, in which the values of lanes are consecutive. */
type WordReaders = Partial<Record<ElementType, (slot: Slot) => NumberReader>>;

const word = ({ activation: x, lane }: Viewpoint, base: number): number => x!.i32[base + lane]!;

const wordReaders: WordReaders = {
  u8:
    ({ base }) =>
    (of) =>
      word(of, base) & 0xff,
  s8:
    ({ base }) =>
    (of) =>
      (word(of, base) << 24) >> 24,
  u16:
    ({ base }) =>
    (of) =>
      word(of, base) & 0xffff,
  s16:
    ({ base }) =>
    (of) =>
      (word(of, base) << 16) >> 16,
  u32:
    ({ base }) =>
    (of) =>
      word(of, base) >>> 0,
  s32:
    ({ base }) =>
    (of) =>
      word(of, base),
  f32:
    ({ base }) =>
    ({ activation: x, lane }) =>
      x!.f32[base + lane]!,
};

const longReaders: WordReaders = {
  u64:
    ({ base }) =>
    ({ activation: x, lane }) =>
      BigInt.asUintN(64, x!.i64[base + lane]!),
  s64:
    ({ base }) =>
    ({ activation: x, lane }) =>
      x!.i64[base + lane]!,
  f64:
    ({ base }) =>
    ({ activation: x, lane }) =>
      x!.f64[base + lane]!,
};

/** A register, by its name in the debugger: `%r1`, or `%r1#2` for the second one of that name in the function. */
export class RegisterVariable implements Variable {
  readonly kind = "register";
  readonly name: string;
  readonly type: string;
  /** The register's number in the function. */
  readonly register: number;
  readonly #slot: Slot;

  constructor(name: string, type: string, register: number, slot: Slot) {
    this.name = name;
    this.type = type;
    this.register = register;
    this.#slot = slot;
  }

  read(of: Viewpoint): Uint8Array {
    const bytes = this.#bytes(of);
    return this.type === "pred" ? Uint8Array.of((bytes[of.lane >> 3]! >> (of.lane & 7)) & 1) : bytes.slice();
  }

  write(of: Viewpoint, value: Uint8Array, from = 0): boolean {
    const bytes = this.#bytes(of);
    const { lane } = of;
    if (this.type === "pred") {
      if (from !== 0) return false;
      const bit = 1 << (lane & 7);
      const rest = bytes[lane >> 3]! & ~bit;
      bytes[lane >> 3] = value.some((b) => b !== 0) ? rest | bit : rest;
      return true;
    }
    if (from + value.length > bytes.length) return false;
    bytes.set(value, from);
    return true;
  }

  address(): null {
    return null;
  }

  reader(type: string): NumberReader {
    const { class: kind, bits, base } = this.#slot;
    if (type === "pred" && kind === "pred") return ({ activation: x, lane }) => (x!.i32[base]! >>> lane) & 1;
    const shape = shapeOf(type);
    if (shape !== null && kind !== "pred" && 8 * elementInfo[shape.element].size <= bits) {
      const fast = (kind === "b64" ? longReaders : wordReaders)[shape.element];
      if (fast !== undefined) return fast(this.#slot);
    }
    return (of) => numberOf(firstBits(this.read(of), type));
  }

  /** Returns the bytes that hold the value of a lane; for a predicate, the word of all lanes. */
  #bytes({ activation: x, lane }: Viewpoint): Uint8Array {
    const { class: kind, base, bits } = this.#slot;
    const { buffer } = x!.i32;
    if (kind === "pred") return new Uint8Array(buffer, base * 4, 4);
    return new Uint8Array(buffer, (base + lane) * (kind === "b64" ? 8 : 4), bits / 8);
  }
}

/** A variable that consists of bytes. */
abstract class ByteVariable implements Variable {
  abstract readonly kind: Variable["kind"];
  readonly name: string;
  readonly type: string;

  constructor(name: string, type: string) {
    this.name = name;
    this.type = type;
  }

  /** Returns the bytes themselves: writing to them changes the variable. */
  protected abstract view(of: Viewpoint): Uint8Array;
  /** Returns its address as the lane sees it, or null if it has none. */
  abstract address(of: Viewpoint): bigint | null;

  read(of: Viewpoint): Uint8Array {
    return this.view(of).slice();
  }

  write(of: Viewpoint, bytes: Uint8Array, from = 0): boolean {
    const view = this.view(of);
    if (from + bytes.length > view.length) return false;
    view.set(bytes, from);
    return true;
  }

  reader(type: string): NumberReader {
    return (of) => numberOf(firstBits(this.view(of), type));
  }
}

/** A variable of vISA, shared by the lanes of an activation. */
export class VisaVariable extends ByteVariable {
  readonly kind = "file";
  /** Its offset in the byte file. */
  readonly at: number;
  readonly bytes: number;

  constructor({ name, at, bytes, type = "ud" }: FileVariable) {
    super(name, type);
    this.at = at;
    this.bytes = bytes;
  }

  protected view({ activation: x }: Viewpoint): Uint8Array {
    return new Uint8Array(x!.file.buffer, x!.file.byteOffset + this.at, this.bytes);
  }

  address(): null {
    return null;
  }

  /** Returns a fast reader of its first bits as a type. */
  override reader(type: string): NumberReader {
    const shape = shapeOf(type);
    if (shape === null || elementInfo[shape.element].size > this.bytes) return super.reader(type);
    const { get } = elementInfo[shape.element];
    return ({ activation: x }) => get(x!.file, this.at);
  }
}

/** A `.local` or `.param` variable of a frame; each lane has its own. */
class StackVariable extends ByteVariable {
  readonly kind = "frame";
  readonly #offset: number;
  /** Null if the size is that of the call's argument. */
  readonly #size: number | null;

  constructor({ name, size, unsized }: FrameVariable, offset: number) {
    super(name, "u8");
    this.#offset = offset;
    this.#size = unsized ? null : size;
  }

  protected view({ activation: x, lane }: Viewpoint): Uint8Array {
    const { views, stride, origin } = x!.warp.stack;
    const at = origin + lane * stride + x!.base + this.#offset;
    return views.u8.subarray(at, at + (this.#size ?? x!.unsizedBytes));
  }

  address({ activation: x }: Viewpoint): bigint {
    return BigInt(windows.local.start + x!.base + this.#offset);
  }
}

/** A parameter of the kernel. */
class ParameterVariable extends ByteVariable {
  readonly kind = "parameter";
  readonly #offset: number;
  readonly #size: number;

  constructor(name: string, type: string, offset: number, size: number) {
    super(name, type);
    this.#offset = offset;
    this.#size = size;
  }

  protected view({ grid }: Viewpoint): Uint8Array {
    return grid.params.views.u8.subarray(this.#offset, this.#offset + this.#size);
  }

  address({ grid }: Viewpoint): bigint {
    return BigInt(grid.params.start + this.#offset);
  }
}

/** Returns the whole variable in its type; untyped bytes get a `b` type by their number. */
export function typedBits(v: Variable, of: Viewpoint): TypedBits {
  const bytes = v.read(of);
  return { bytes, type: v.type === "u8" && [2, 4, 8].includes(bytes.length) ? `b${bytes.length * 8}` : v.type };
}

export function registersOf({ ir, file }: DecodedFunction): readonly RegisterVariable[] {
  const seen = new Map<string, number>();
  return ir.registers.map(({ name, class: kind, bits, type }, register) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const own = count === 1 ? name : `${name}#${count}`;
    return new RegisterVariable(own, kind === "pred" ? "pred" : (type ?? `b${bits}`), register, file.slot(register));
  });
}

export const visaVariables = ({ file }: IrFunction): readonly VisaVariable[] =>
  [...(file?.variables ?? []), ...(file?.aliases ?? [])].map((v) => new VisaVariable(v));

export const frameVariables = ({ ir, frame }: DecodedFunction): readonly Variable[] =>
  ir.frame.map((v, i) => new StackVariable(v, frame.offsets[i]!));

export const kernelParameters = ({ params }: IrFunction): readonly Variable[] =>
  params.flatMap(({ name, type, storage }) => {
    if (storage.kind !== "kernel") return [];
    const known = type.kind === "array" ? "u8" : `${type.kind}${8 * type.size}`;
    return [new ParameterVariable(name, known, storage.offset, type.size)];
  });
