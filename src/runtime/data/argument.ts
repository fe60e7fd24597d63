import type { IrFunction, Param } from "../../ir/index.ts";
import { AddressSpace } from "../../machine/memory/address-space.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { Buffer, type Pointer } from "./buffer.ts";
import { type ElementInfo, elementInfo, type ElementType, misfit, viewOf } from "./element.ts";
import { UsageError } from "./errors.ts";
import { ImageHandle } from "./image.ts";
import { type ParameterType, parameterTypes } from "./parameter-type.ts";

/**
 * A value with an explicit type, for a parameter whose own type is ambiguous (`.b32` may hold an integer or a float).
 * The type must have the size of the parameter. Made by `scalar`.
 */
export interface Scalar {
  readonly kind: "scalar";
  readonly type: ElementType;
  readonly value: number | bigint;
}

/**
 * The bytes of a parameter passed by value: as many as the parameter has, little-endian. The address of each of
 * `pointers` is written at byte `at`. Made by `struct`.
 */
export interface Struct {
  readonly kind: "struct";
  readonly bytes: Uint8Array;
  readonly pointers: readonly { readonly at: number; readonly to: Buffer | Pointer }[];
}

/**
 * Shared local memory for a parameter of a vISA kernel: `bytes` of it (at least 1), separate for each group. Made by
 * `local`.
 */
export interface LocalMemory {
  readonly kind: "local";
  readonly bytes: number;
}

/**
 * An argument of a kernel: a number or bigint, which takes the type of the parameter; a buffer or an address within
 * one; a texture, surface or sampler; a scalar with an explicit type; a struct; a typed array, whose bytes become those
 * of the parameter (a vector, say); or an amount of local memory.
 */
export type KernelArgument =
  | (number | bigint | ArrayBufferView)
  | (Buffer | Pointer | ImageHandle | Scalar | Struct | LocalMemory);

/**
 * Makes a kernel argument with an explicit type: `scalar("f32", 1.5)`. Integers must fit the type, and floats are
 * rounded to it; a launch throws a UsageError otherwise.
 */
export const scalar = (type: ElementType, value: number | bigint): Scalar => ({ kind: "scalar", type, value });

/**
 * Makes a struct passed by value: `struct(bytes, [{ at: 8, to: buffer }])` has the address of `buffer` at byte 8. A
 * launch throws a UsageError if its size is not that of the parameter, or if an address does not fit into it.
 */
export const struct = (bytes: Uint8Array, pointers: Struct["pointers"] = []): Struct => ({
  kind: "struct",
  bytes,
  pointers,
});

/**
 * Makes an argument of `bytes` of local memory for a parameter of a vISA kernel: `local(256)`. For PTX, give `shared`
 * of the launch instead.
 */
export const local = (bytes: number): LocalMemory => ({ kind: "local", bytes });

/** The bytes of a typed array as they lie in memory, without a copy. */
export const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** The target of arguments: the memory whose buffers they may name, and the size of an address in bits. */
export interface ArgumentContext {
  readonly memory: DeviceMemory;
  readonly addressSize: 32 | 64;
}

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

/** A parameter of a kernel: its type in C++ if that is known, and its part of the block of parameters. */
interface Target {
  readonly kernel: string;
  readonly index: number;
  readonly param: Param;
  readonly cpp: ParameterType | null;
  /** What a number becomes; null if it cannot be given. */
  readonly number: { readonly type: ElementType; readonly info: ElementInfo } | null;
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** A parameter as messages show it: `n` (.s32), or `float const*` (.u64) if its type in C++ is known. */
function describeParam({ param: { name, type }, cpp }: Target): string {
  const shown = cpp?.text ?? name;
  return type.kind === "array" ? `\`${shown}\` (${type.size} bytes)` : `\`${shown}\` (.${type.kind}${8 * type.size})`;
}

/** An argument that means the same as long as it is the same object: scalars are copies. */
type LastingArgument = number | bigint | Buffer | Scalar;

/** The parameters of a kernel, and the bytes in which they are put together: a launch writes those that are new. */
interface ParameterBlock {
  readonly targets: readonly Target[];
  readonly bytes: Uint8Array;
  /** The arguments that the bytes are; null where the next one has to be written in any case. */
  readonly args: (LastingArgument | null)[];
  /** The memory whose buffers these are. */
  memory: DeviceMemory | null;
  /**
   * Copies of the bytes that nobody changes: of the last launch, and of the one before that had others, since two
   * launches may take turns, as where each reads what the other has written.
   */
  last: Uint8Array | null;
  other: Uint8Array | null;
}

/** Kept, since a launch takes a microsecond: reading a C++ name and making views of bytes would be much of that. */
const blocks = new WeakMap<IrFunction, ParameterBlock>();

function blockOf(kernel: IrFunction): ParameterBlock {
  let known = blocks.get(kernel);
  if (known === undefined) {
    const { name, params } = kernel;
    const types = parameterTypes(
      name,
      params.map(({ type }) => type.size),
    );
    const starts = params.map(({ storage }) => (storage.kind === "kernel" ? storage.offset : 0));
    const all = new Uint8Array(Math.max(0, ...params.map(({ type }, i) => starts[i]! + type.size)));
    const targets = params.map((param, index): Target => {
      const cpp = types?.[index] ?? null;
      const bytes = all.subarray(starts[index]!, starts[index]! + param.type.size);
      const type = numberType(param, cpp);
      const number = type === null ? null : { type, info: elementInfo[type] };
      return { kernel: name, index, param, cpp, number, bytes, view: viewOf(bytes) };
    });
    known = { targets, bytes: all, args: targets.map(() => null), memory: null, last: null, other: null };
    blocks.set(kernel, known);
  }
  return known;
}

function numberType({ type: { kind, size } }: Param, cpp: ParameterType | null): ElementType | null {
  if (cpp?.kind === "scalar") return cpp.element;
  if (kind === "array" || (size !== 1 && size !== 2 && size !== 4 && size !== 8)) return null;
  return `${kind === "f" ? "f" : "u"}${(8 * size) as 8 | 16 | 32 | 64}` as ElementType;
}

/**
 * Lays out the arguments of a launch as the kernel's parameters require. Nobody may change the bytes, which launches
 * with the same arguments share.
 *
 * @throws UsageError if their number, types or ranges are wrong
 */
export function packArguments(
  kernel: IrFunction,
  args: readonly KernelArgument[],
  context: ArgumentContext,
): Uint8Array {
  const block = blockOf(kernel);
  const { targets, last } = block;
  if (args.length !== targets.length) {
    const list = targets.length === 0 ? "" : `: ${targets.map(describeParam).join(", ")}`;
    throw new UsageError(
      `kernel "${kernel.name}" has ${plural(targets.length, "parameter")}, not ${args.length}${list}`,
    );
  }
  const isNew = writeNew(block, args, context);
  const { bytes, other } = block;
  if (last !== null && (!isNew || isSame(last, bytes))) return last;
  block.other = last;
  return (block.last = other !== null && isSame(other, bytes) ? other : bytes.slice());
}

/** Writes the arguments that may be others than those of the last launch. Returns whether there are any. */
function writeNew(block: ParameterBlock, args: readonly KernelArgument[], context: ArgumentContext): boolean {
  const { targets, args: written } = block;
  if (block.memory !== context.memory) written.fill(null);
  block.memory = context.memory;
  let isNew = false;
  for (let i = 0; i < targets.length; i++) {
    const arg = args[i]!;
    const last = written[i]!;
    if (last !== null && meansSame(last, arg)) continue;
    isNew = true;
    // Until it is written whole: it may be wrong.
    written[i] = null;
    pack(targets[i]!, arg, context);
    written[i] = lasting(arg);
  }
  return isNew;
}

/** Null where an argument may mean another while it is the same object, as the bytes of a struct. */
function lasting(arg: KernelArgument): LastingArgument | null {
  if (typeof arg !== "object" || arg instanceof Buffer) return arg;
  return isScalar(arg) ? scalar(arg.type, arg.value) : null;
}

/** Whether an argument certainly becomes the same bytes as another. */
function meansSame(last: LastingArgument, arg: KernelArgument): boolean {
  // 0 and -0 are not the same bits.
  if (Object.is(last, arg)) return true;
  if (typeof last !== "object" || last instanceof Buffer || !isScalar(arg)) return false;
  return last.type === arg.type && Object.is(last.value, arg.value);
}

const isScalar = (arg: KernelArgument): arg is Scalar =>
  typeof arg === "object" && !(arg instanceof Buffer) && "kind" in arg && arg.kind === "scalar";

/** Whether bytes are the same: from the end, as sizes and numbers of steps, which change most often, come last. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = a.length - 1; i >= 0; i--) if (a[i] !== b[i]) return false;
  return true;
}

function wrong({ kernel, index }: Target, what: string): never {
  throw new UsageError(`argument ${index} of kernel "${kernel}": ${what}`);
}

function pack(target: Target, arg: KernelArgument, context: ArgumentContext): void {
  if (typeof arg === "number" || typeof arg === "bigint") packNumber(target, arg);
  else if (arg instanceof Buffer) packAddress(target, arg, context);
  else if (ArrayBuffer.isView(arg)) packBytes(target, bytesOf(arg));
  else if (arg instanceof ImageHandle) packHandle(target, arg, context);
  else if (arg.kind === "pointer") packAddress(target, arg, context);
  else if (arg.kind === "scalar") packScalar(target, arg);
  else if (arg.kind === "local") wrong(target, "only vISA kernels take local memory; of PTX, a launch gives `shared`");
  else if (!("bytes" in arg)) {
    wrong(target, "it is no argument; of an image, pass its texture() or its surface()");
  } else {
    packBytes(target, arg.bytes);
    const size = context.addressSize / 8;
    for (const { at, to } of arg.pointers) {
      if (at < 0 || at + size > target.bytes.length) {
        wrong(target, `an address at byte ${at} does not fit ${describeParam(target)}`);
      }
      writeAddress(target, at, to, context);
    }
  }
}

function packBytes(target: Target, bytes: Uint8Array): void {
  if (bytes.length !== target.bytes.length) {
    wrong(target, `${plural(bytes.length, "byte")} given for ${describeParam(target)}`);
  }
  target.bytes.set(bytes);
}

function packAddress(target: Target, to: Buffer | Pointer, context: ArgumentContext): void {
  const { size, kind } = target.param.type;
  // Before `.address_size` (PTX 2.3), modules could not declare 64-bit addresses: a 64-bit parameter may hold a 32-bit
  // one.
  if (size < context.addressSize / 8 || size > 8 || kind === "f") {
    wrong(target, `a buffer given for ${describeParam(target)}, which holds no address`);
  }
  if (size > context.addressSize / 8) target.bytes.fill(0);
  writeAddress(target, 0, to, context);
}

const narrowSpace = new AddressSpace(32);
const wideSpace = new AddressSpace(64);

function writeAddress(target: Target, at: number, to: Buffer | Pointer, context: ArgumentContext): void {
  const isWhole = to instanceof Buffer;
  const buffer = isWhole ? to : to.buffer;
  if (buffer.memory !== context.memory) wrong(target, "the buffer belongs to another device");
  const space = context.addressSize === 64 ? wideSpace : narrowSpace;
  // An address may lie before or beyond all memory.
  const low = space.globalLow + buffer.offset + (isWhole ? 0 : to.offset);
  target.view.setUint32(at, low, true);
  if (context.addressSize === 64) target.view.setUint32(at + 4, space.globalHigh + Math.floor(low / 2 ** 32), true);
}

function packHandle(target: Target, arg: ImageHandle, context: ArgumentContext): void {
  if (arg.memory !== context.memory) wrong(target, `the ${arg.kind} belongs to another device`);
  if (target.param.type.size !== 8 || target.param.type.kind === "f") {
    wrong(target, `a ${arg.kind} given for ${describeParam(target)}, which holds no handle of 64 bits`);
  }
  target.view.setBigUint64(0, arg.handle, true);
}

function packScalar(target: Target, { type, value }: Scalar): void {
  const info = elementInfo[type];
  if (info.size !== target.bytes.length) wrong(target, `a value of type ${type} given for ${describeParam(target)}`);
  const problem = misfit(type, value);
  if (problem !== null) wrong(target, problem);
  info.set(target.view, 0, value);
}

function packNumber(target: Target, value: number | bigint): void {
  const { number, view } = target;
  if (number === null) wrong(target, `a number given for ${describeParam(target)}; give its bytes`);
  const problem = misfit(number.type, value, number.info);
  if (problem !== null) wrong(target, `${problem}: ${describeParam(target)}`);
  number.info.set(view, 0, value);
}
