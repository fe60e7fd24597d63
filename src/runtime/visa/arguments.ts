import { AddressSpace } from "../../machine/memory/address-space.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { bytesOf, type KernelArgument } from "../data/argument.ts";
import { Buffer, type Pointer } from "../data/buffer.ts";
import { elementInfo, type ElementType, misfit, viewOf } from "../data/element.ts";
import { UsageError } from "../data/errors.ts";
import { ImageHandle } from "../data/image.ts";

/** A parameter of a kernel, by the kind of argument that it takes. */
export type Parameter =
  /** An address in device memory, and the elements there if they are known. */
  | { readonly kind: "pointer"; readonly name: string; readonly pointsTo?: ElementType }
  /** Local memory whose size the launch gives. */
  | { readonly kind: "local"; readonly name: string }
  /** A value of `elements` elements; `type` is null if the meaning of its bytes is unknown. */
  | {
      readonly kind: "value";
      readonly name: string;
      readonly type: ElementType | null;
      readonly elements: number;
      readonly bytes: number;
    }
  /** The kernel does not use it. */
  | { readonly kind: "unused"; readonly name: string };

/** An argument in the form in which the payload holds it and surfaces refer to it. */
export type ArgumentValue =
  /** `bytes` is the distance from the address to the end of the buffer. */
  | { readonly kind: "pointer"; readonly address: bigint; readonly bytes: number }
  | { readonly kind: "local"; readonly bytes: number }
  | { readonly kind: "value"; readonly bytes: Uint8Array };

const addresses = new AddressSpace(64);

/**
 * Converts the arguments of a launch to the kernel's parameters.
 *
 * @throws UsageError if their number, kinds or ranges are wrong
 */
export function resolveArguments(
  kernel: string,
  parameters: readonly Parameter[],
  args: readonly KernelArgument[],
  memory: DeviceMemory,
): ArgumentValue[] {
  if (args.length !== parameters.length) {
    const list = parameters.length === 0 ? "" : `: ${parameters.map(describe).join(", ")}`;
    const count = `${parameters.length} parameter${parameters.length === 1 ? "" : "s"}`;
    throw new UsageError(`kernel "${kernel}" has ${count}, not ${args.length}${list}`);
  }
  return parameters.map((parameter, i) => {
    const wrong = (what: string): never => {
      throw new UsageError(`argument ${i} of kernel "${kernel}": ${what}`);
    };
    return resolve(parameter, args[i]!, memory, wrong);
  });
}

function describe(parameter: Parameter): string {
  const name = parameter.name === "" ? "an argument without a name" : `\`${parameter.name}\``;
  switch (parameter.kind) {
    case "pointer":
      return `${name} (a pointer)`;
    case "local":
      return `${name} (local memory)`;
    case "unused":
      return `${name} (not used)`;
    case "value": {
      const { type, elements, bytes } = parameter;
      return `${name} (${type === null ? `${bytes} bytes` : `${type}${elements > 1 ? ` x ${elements}` : ""}`})`;
    }
  }
}

type Wrong = (what: string) => never;
type Value = Extract<Parameter, { kind: "value" }>;
type Address = Extract<ArgumentValue, { kind: "pointer" }>;

function resolve(parameter: Parameter, arg: KernelArgument, memory: DeviceMemory, wrong: Wrong): ArgumentValue {
  switch (parameter.kind) {
    case "unused":
      return { kind: "value", bytes: new Uint8Array() };
    case "local":
      return localMemory(parameter, arg, wrong);
    case "pointer":
      return isPointer(arg) ? pointerTo(arg, memory, wrong) : rawPointer(parameter, arg, wrong);
    case "value":
      return { kind: "value", bytes: valueBytes(parameter, arg, memory, wrong) };
  }
}

const isPointer = (arg: KernelArgument): arg is Buffer | Pointer =>
  arg instanceof Buffer || (isTagged(arg) && arg.kind === "pointer");

function localMemory(parameter: Parameter, arg: KernelArgument, wrong: Wrong): ArgumentValue {
  if (!isTagged(arg) || arg.kind !== "local") {
    return wrong(`something else given for ${describe(parameter)}; \`local(bytes)\` is wanted`);
  }
  const { bytes } = arg;
  if (!Number.isInteger(bytes) || bytes < 1) wrong(`${bytes} bytes of local memory`);
  return { kind: "local", bytes };
}

const isTagged = (arg: KernelArgument): arg is Extract<KernelArgument, { kind: string }> =>
  typeof arg === "object" && "kind" in arg;

function pointerTo(to: Buffer | Pointer, memory: DeviceMemory, wrong: Wrong): Address {
  const { buffer, offset } = to instanceof Buffer ? { buffer: to, offset: 0 } : to;
  if (buffer.memory !== memory) wrong("the buffer belongs to another device");
  const address = addresses.global(buffer.offset) + BigInt(offset);
  return { kind: "pointer", address, bytes: Math.max(0, buffer.byteLength - offset) };
}

/** Converts a null pointer or another plain address, at which no memory is known. */
function rawPointer(parameter: Parameter, arg: KernelArgument, wrong: Wrong): ArgumentValue {
  const value = isTagged(arg) && arg.kind === "scalar" ? arg.value : arg;
  if ((typeof value !== "number" && typeof value !== "bigint") || misfit("u64", value) !== null) {
    return wrong(`a value given for ${describe(parameter)}; a buffer or an address is wanted`);
  }
  return { kind: "pointer", address: BigInt.asUintN(64, BigInt(value)), bytes: 0 };
}

/** Returns the bytes of a value, as many as the parameter has. */
function valueBytes(parameter: Value, arg: KernelArgument, memory: DeviceMemory, wrong: Wrong): Uint8Array {
  const into = new Uint8Array(parameter.bytes);
  if (typeof arg === "number" || typeof arg === "bigint") {
    if (parameter.elements > 1) wrong(`a number given for ${describe(parameter)}; a typed array is wanted`);
    put(into, parameter.type ?? typeOfSize(parameter, arg, wrong), arg, parameter, wrong);
  } else if (ArrayBuffer.isView(arg)) fill(into, bytesOf(arg), parameter, wrong);
  else if (isPointer(arg)) wrong(`a buffer given for ${describe(parameter)}`);
  else if (arg instanceof ImageHandle) wrong(`a ${arg.kind} given for ${describe(parameter)}`);
  else if (arg.kind === "local") wrong(`local memory given for ${describe(parameter)}`);
  else if (arg.kind === "scalar") put(into, typeFor(parameter, arg.type), arg.value, parameter, wrong);
  else {
    fill(into, arg.bytes, parameter, wrong);
    for (const { at, to } of arg.pointers) {
      if (at < 0 || at + 8 > into.length) wrong(`an address at byte ${at} does not fit ${describe(parameter)}`);
      viewOf(into).setBigUint64(at, pointerTo(to, memory, wrong).address, true);
    }
  }
  return into;
}

/**
 * An integer takes the type of an integer parameter, and a float that of a float parameter, as C converts between
 * those.
 */
function typeFor({ type }: Value, given: ElementType): ElementType {
  const float = (t: ElementType): boolean => elementInfo[t].kind === "float";
  return type !== null && float(type) === float(given) ? type : given;
}

function put(into: Uint8Array, type: ElementType, value: number | bigint, parameter: Value, wrong: Wrong): void {
  const { size, set } = elementInfo[type];
  const { elements, type: own } = parameter;
  if (size > into.length || elements > 1 || (own !== null && own !== type)) {
    wrong(`a value of type ${type} given for ${describe(parameter)}`);
  }
  const problem = misfit(type, value);
  if (problem !== null) wrong(`${problem}: ${describe(parameter)}`);
  set(viewOf(into), 0, value);
}

/** Copies the bytes of a vector or struct. Vectors of three elements occupy the space of four. */
function fill(into: Uint8Array, bytes: Uint8Array, parameter: Value, wrong: Wrong): void {
  const { type, elements } = parameter;
  const three = elements === 3 && type !== null ? 3 * elementInfo[type].size : into.length;
  if (bytes.length !== into.length && bytes.length !== three) {
    wrong(`${bytes.length} bytes given for ${describe(parameter)}, which has ${into.length}`);
  }
  into.set(bytes);
}

function typeOfSize(parameter: Value, value: number | bigint, wrong: Wrong): ElementType {
  const { bytes } = parameter;
  if (typeof value === "number" && !Number.isInteger(value)) {
    return wrong(
      `${value} given for ${describe(parameter)}, whose type is not known; say it, as in scalar("f32", 1.5)`,
    );
  }
  if (bytes !== 1 && bytes !== 2 && bytes !== 4 && bytes !== 8) {
    return wrong(`a number given for ${describe(parameter)}; give its bytes`);
  }
  return `u${8 * bytes}` as ElementType;
}
