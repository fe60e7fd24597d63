import type { IrFunction, Param } from "../../ir/index.ts";
import { AddressSpace } from "../../machine/memory/address-space.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { Buffer, type Pointer } from "./buffer.ts";
import { elementInfo, type ElementType, misfit, viewOf } from "./element.ts";
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
 * one; a texture, surface or sampler; a scalar with an explicit type; a struct; a typed array, whose bytes become those of the parameter (a vector,
 * say); or an amount of local memory.
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

/** A parameter, and its type in C++ if that is known. */
interface Target {
  readonly param: Param;
  readonly cpp: ParameterType | null;
}

/** A parameter as messages show it: `n` (.s32), or `float const*` (.u64) if its type in C++ is known. */
function describeParam({ param: { name, type }, cpp }: Target): string {
  const shown = cpp?.text ?? name;
  return type.kind === "array" ? `\`${shown}\` (${type.size} bytes)` : `\`${shown}\` (.${type.kind}${8 * type.size})`;
}

/** The parameters of a kernel, and a block of bytes in which they are put together, with the part of each. */
interface ParameterBlock {
  readonly targets: readonly Target[];
  readonly bytes: Uint8Array;
  readonly parts: readonly Uint8Array[];
}

/** Kept, since a launch takes a few microseconds: reading a C++ name and making views of bytes would be much of that. */
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
    const bytes = new Uint8Array(Math.max(0, ...params.map(({ type }, i) => starts[i]! + type.size)));
    known = {
      targets: params.map((param, i) => ({ param, cpp: types?.[i] ?? null })),
      bytes,
      parts: params.map(({ type }, i) => bytes.subarray(starts[i]!, starts[i]! + type.size)),
    };
    blocks.set(kernel, known);
  }
  return known;
}

/**
 * Lays out the arguments of a launch as the kernel's parameters require.
 *
 * @throws UsageError if their number, types or ranges are wrong
 */
export function packArguments(
  kernel: IrFunction,
  args: readonly KernelArgument[],
  context: ArgumentContext,
): Uint8Array {
  const { params } = kernel;
  const { targets, bytes, parts } = blockOf(kernel);
  if (args.length !== params.length) {
    const list = params.length === 0 ? "" : `: ${targets.map(describeParam).join(", ")}`;
    throw new UsageError(
      `kernel "${kernel.name}" has ${plural(params.length, "parameter")}, not ${args.length}${list}`,
    );
  }
  bytes.fill(0);
  targets.forEach((target, i) => {
    const wrong = (what: string): never => {
      throw new UsageError(`argument ${i} of kernel "${kernel.name}": ${what}`);
    };
    pack(parts[i]!, target, args[i]!, context, wrong);
  });
  return bytes.slice();
}

type Wrong = (what: string) => never;

function pack(into: Uint8Array, target: Target, arg: KernelArgument, context: ArgumentContext, wrong: Wrong): void {
  if (typeof arg === "number" || typeof arg === "bigint") packNumber(into, target, arg, wrong);
  else if (ArrayBuffer.isView(arg)) packBytes(into, target, bytesOf(arg), wrong);
  else if (arg instanceof Buffer) packAddress(into, target, arg, context, wrong);
  else if (arg instanceof ImageHandle) packHandle(into, target, arg, context, wrong);
  else if (arg.kind === "pointer") packAddress(into, target, arg, context, wrong);
  else if (arg.kind === "scalar") packScalar(into, target, arg, wrong);
  else if (arg.kind === "local") wrong("only vISA kernels take local memory; of PTX, a launch gives `shared`");
  else {
    packBytes(into, target, arg.bytes, wrong);
    const size = context.addressSize / 8;
    for (const { at, to } of arg.pointers) {
      if (at < 0 || at + size > into.length) wrong(`an address at byte ${at} does not fit ${describeParam(target)}`);
      writeAddress(into.subarray(at, at + size), to, context, wrong);
    }
  }
}

function packBytes(into: Uint8Array, target: Target, bytes: Uint8Array, wrong: Wrong): void {
  if (bytes.length !== into.length) wrong(`${plural(bytes.length, "byte")} given for ${describeParam(target)}`);
  into.set(bytes);
}

function packAddress(
  into: Uint8Array,
  target: Target,
  to: Buffer | Pointer,
  context: ArgumentContext,
  wrong: Wrong,
): void {
  // Before `.address_size` (PTX 2.3), modules could not declare 64-bit addresses: a 64-bit parameter may hold a 32-bit
  // one.
  if (into.length < context.addressSize / 8 || into.length > 8 || target.param.type.kind === "f") {
    wrong(`a buffer given for ${describeParam(target)}, which holds no address`);
  }
  writeAddress(into, to, context, wrong);
}

const spaces = { 32: new AddressSpace(32), 64: new AddressSpace(64) } as const;

function writeAddress(into: Uint8Array, to: Buffer | Pointer, context: ArgumentContext, wrong: Wrong): void {
  const { buffer, offset } = to instanceof Buffer ? { buffer: to, offset: 0 } : to;
  if (buffer.memory !== context.memory) wrong("the buffer belongs to another device");
  const address = spaces[context.addressSize].global(buffer.offset) + BigInt(offset);
  if (context.addressSize === 64) viewOf(into).setBigUint64(0, address, true);
  else viewOf(into).setUint32(0, Number(address), true);
}

function packHandle(into: Uint8Array, target: Target, arg: ImageHandle, context: ArgumentContext, wrong: Wrong): void {
  if (arg.memory !== context.memory) wrong(`the ${arg.kind} belongs to another device`);
  if (into.length !== 8 || target.param.type.kind === "f") {
    wrong(`a ${arg.kind} given for ${describeParam(target)}, which holds no handle of 64 bits`);
  }
  viewOf(into).setBigUint64(0, arg.handle, true);
}

function packScalar(into: Uint8Array, target: Target, { type, value }: Scalar, wrong: Wrong): void {
  const info = elementInfo[type];
  if (info.size !== into.length) wrong(`a value of type ${type} given for ${describeParam(target)}`);
  const problem = misfit(type, value);
  if (problem !== null) wrong(problem);
  info.set(viewOf(into), 0, value);
}

function packNumber(into: Uint8Array, target: Target, value: number | bigint, wrong: Wrong): void {
  const { kind, size } = target.param.type;
  const { cpp } = target;
  if (cpp?.kind === "scalar") {
    const problem = misfit(cpp.element!, value);
    if (problem !== null) wrong(`${problem}: ${describeParam(target)}`);
    elementInfo[cpp.element!].set(viewOf(into), 0, value);
    return;
  }
  if (kind === "array" || (size !== 1 && size !== 2 && size !== 4 && size !== 8)) {
    wrong(`a number given for ${describeParam(target)}; give its bytes`);
  }
  const bits = 8 * size;
  const type = (kind === "f" ? `f${bits}` : `u${bits}`) as ElementType;
  const problem = misfit(type, value);
  if (problem !== null) wrong(`${problem}: ${describeParam(target)}`);
  elementInfo[type].set(viewOf(into), 0, value);
}
