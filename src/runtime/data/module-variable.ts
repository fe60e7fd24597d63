import type { Variable } from "../../ir/index.ts";
import { elementInfo, Elements, type ElementType, toTypedArray, type TypedArrays } from "./element.ts";
import { UsageError } from "./errors.ts";

/** The access to a program's variables that `ModuleVariable` needs. @internal */
export interface VariableMemory {
  readonly variable: Variable;
  /** The generic address. */
  readonly address: bigint;
  read(): Uint8Array;
  write(bytes: Uint8Array, at: number): void;
  /** Whether launches are in flight that may use the variable. */
  isInUse(): boolean;
}

/**
 * A `.global` or `.const` variable of a module, which the host reads and writes between launches. Made by
 * `Module.variable`.
 *
 *     module.variable("coeff").write([0.25, 0.5, 0.25]);
 *     kernel.launch({ grid: 1, block: 32, args: [x, y] });
 *     module.variable("count").read(); // Uint32Array [32]
 *
 * Compilers declare arrays and structs as arrays of `.b8`: name the type that they mean, as in
 * `variable.write([1, 2], { type: "f32" })`.
 */
export class ModuleVariable {
  readonly #memory: VariableMemory;

  /** Use `Module.variable`. @internal */
  constructor(memory: VariableMemory) {
    this.#memory = memory;
  }

  /** Its name in the program. */
  get name(): string {
    return this.#memory.variable.name;
  }

  /** The state space that holds it. */
  get space(): "global" | "const" {
    return this.#memory.variable.space as "global" | "const";
  }

  /** The size in bytes. */
  get byteLength(): number {
    return this.#memory.variable.size;
  }

  /** The alignment in bytes. */
  get align(): number {
    return this.#memory.variable.align;
  }

  /** The declared type of its elements without the dot, as in "f32" or "b8"; null in vISA, which declares none. */
  get declaredType(): string | null {
    return this.#memory.variable.declared?.type ?? null;
  }

  /** The declared array bounds, outermost first; a vector's size comes last. Empty if it is a scalar. */
  get dimensions(): readonly number[] {
    return this.#memory.variable.declared?.dimensions ?? [];
  }

  /** The type by which elements are read and written: the declared one, or unsigned integers of its size. */
  get type(): ElementType {
    return elementTypeOf(this.declaredType);
  }

  /**
   * Whether the declaration says what elements are. It does not where bytes are aligned as something larger is: so
   * compilers declare arrays and structs.
   */
  get isTyped(): boolean {
    return this.declaredType !== null && !(this.declaredType === "b8" && this.align > 1 && this.dimensions.length > 0);
  }

  /** The number of elements of `type`. */
  get length(): number {
    return Math.floor(this.byteLength / elementInfo[this.type].size);
  }

  /** The generic address, as kernels of a 64-bit module see it. */
  get address(): bigint {
    return this.#memory.address;
  }

  /**
   * Returns a copy of the values. f16 and bf16 are converted to a `Float32Array`.
   *
   * @throws UsageError if its size is no multiple of the type's, or while launches are in flight
   */
  read(): TypedArrays[ElementType];
  read<T extends ElementType>(type: T): TypedArrays[T];
  read(type: ElementType = this.type): TypedArrays[ElementType] {
    const bytes = this.readBytes();
    const { size } = this.#info(type);
    if (bytes.length % size !== 0) throw this.#wrong(`its ${bytes.length} bytes are no whole number of ${type}`);
    return toTypedArray(type, bytes);
  }

  /**
   * Returns a copy of the bytes, little-endian.
   *
   * @throws UsageError while launches are in flight
   */
  readBytes(): Uint8Array {
    this.#idle();
    return this.#memory.read();
  }

  /**
   * Writes values from element `at` on, by default as elements of `type`: numbers, or bigints for 64-bit integers.
   * Floats are rounded to the type; of integers the low bits are kept. A single number writes one element.
   *
   * @throws UsageError if they do not fit into the variable, or while launches are in flight
   */
  write(
    values: number | bigint | ArrayLike<number> | ArrayLike<bigint>,
    { type = this.type, at = 0 }: { readonly type?: ElementType; readonly at?: number } = {},
  ): this {
    const { size } = this.#info(type);
    const list = typeof values === "number" || typeof values === "bigint" ? [values] : values;
    if (!Number.isInteger(at) || at < 0 || (at + list.length) * size > this.byteLength) {
      throw this.#wrong(`${many(list.length, type)} at element ${at} do not fit its ${this.byteLength} bytes`);
    }
    const elements = Elements.zeros(type, list.length);
    for (let i = 0; i < list.length; i++) elements.set(i, list[i]!);
    return this.writeBytes(elements.bytes, at * size);
  }

  /**
   * Writes bytes from byte `at` on.
   *
   * @throws UsageError if they do not fit into the variable, or while launches are in flight
   */
  writeBytes(bytes: Uint8Array, at = 0): this {
    this.#idle();
    if (!Number.isInteger(at) || at < 0 || at + bytes.length > this.byteLength) {
      throw this.#wrong(`${bytes.length} bytes at byte ${at} do not fit its ${this.byteLength} bytes`);
    }
    this.#memory.write(bytes, at);
    return this;
  }

  #info(type: ElementType): (typeof elementInfo)[ElementType] {
    const info = Object.hasOwn(elementInfo, type) ? elementInfo[type] : undefined;
    if (info === undefined) throw this.#wrong(`there is no element type "${String(type)}"`);
    return info;
  }

  #idle(): void {
    if (this.#memory.isInUse()) {
      throw this.#wrong("launches are in flight that may use it: await their results first");
    }
  }

  #wrong(what: string): UsageError {
    return new UsageError(`variable "${this.name}": ${what}`);
  }
}

const many = (n: number, type: string): string => `${n} ${n === 1 ? "value" : "values"} of ${type}`;

/** The element type that stands for a declared one: untyped and packed elements are unsigned integers of their size. */
function elementTypeOf(declared: string | null): ElementType {
  if (declared === null) return "u8";
  if (Object.hasOwn(elementInfo, declared)) return declared as ElementType;
  const [, bits = "8", lanes = "1"] = /^[a-z]+(\d+)(?:x(\d+))?$/.exec(declared) ?? [];
  switch (Number(bits) * Number(lanes)) {
    case 16:
      return "u16";
    case 32:
      return "u32";
    case 64:
    case 128:
      return "u64";
    default:
      return /ref$/.test(declared) ? "u64" : "u8";
  }
}
