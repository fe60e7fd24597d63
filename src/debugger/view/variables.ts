import { type IrFunction, windows } from "../../ir/index.ts";
import type { Execution } from "../../interpreter/execution.ts";
import type { LoadedFunction } from "../../interpreter/loaded-function.ts";
import type { Activation } from "../../machine/activation.ts";
import { parts } from "../../machine/address-space.ts";
import type { TypedBits } from "./value.ts";

/** Registers of a function by the name that a debugger knows them by: `%r1`, and `%r1#2` for a second one in another block. */
export interface RegisterName {
  readonly name: string;
  readonly register: number;
  readonly type: string;
}

const registerNames = new WeakMap<IrFunction, readonly RegisterName[]>();

export function registersOf(ir: IrFunction): readonly RegisterName[] {
  let names = registerNames.get(ir);
  if (names !== undefined) return names;
  const seen = new Map<string, number>();
  names = ir.registers.map(({ name, class: kind, bits, type }, register) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return {
      name: count === 1 ? name : `${name}#${count}`,
      register,
      type: kind === "pred" ? "pred" : (type ?? `b${bits}`),
    };
  });
  registerNames.set(ir, names);
  return names;
}

const loadedFunction = ({ engine }: Execution, { code }: Activation): LoadedFunction =>
  engine.functions.find((f) => f.ir === code.ir)!;

/** Where a register's value for a lane lies in its activation. */
function slotBytes(execution: Execution, x: Activation, register: number, lane: number): Uint8Array {
  const { class: kind, base, bits } = loadedFunction(execution, x).file.slot(register);
  const size = kind === "b64" ? 8 : 4;
  return new Uint8Array(
    x.i32.buffer,
    kind === "pred" ? base * 4 : (base + lane) * size,
    kind === "pred" ? 4 : bits / 8,
  );
}

export function readRegister(execution: Execution, x: Activation, of: RegisterName, lane: number): TypedBits {
  const bytes = slotBytes(execution, x, of.register, lane);
  if (of.type !== "pred") return { bytes: bytes.slice(), type: of.type };
  return { bytes: Uint8Array.of((bytes[lane >> 3]! >> (lane & 7)) & 1), type: "pred" };
}

export function writeRegister(
  execution: Execution,
  x: Activation,
  of: RegisterName,
  lane: number,
  value: Uint8Array,
): void {
  const bytes = slotBytes(execution, x, of.register, lane);
  if (of.type !== "pred") bytes.set(value.subarray(0, bytes.length));
  else {
    const bit = 1 << (lane & 7);
    bytes[lane >> 3] = value.some((b) => b !== 0) ? bytes[lane >> 3]! | bit : bytes[lane >> 3]! & ~bit;
  }
}

/** A variable with bytes of its own: of a vISA function, or of a frame. */
export interface ByteVariable {
  readonly name: string;
  readonly type: string;
  /** What holds it, from its first byte on; writing there changes it. */
  readonly bytes: Uint8Array;
  /** Its address as the lane sees it; null for vISA's variables, which have none. */
  readonly address: bigint | null;
}

/** vISA's variables of an activation, which all lanes share; `at` is their place in the byte file. */
export function fileVariables(x: Activation): readonly (ByteVariable & { readonly at: number })[] {
  const { file } = x.code.ir;
  if (file === undefined) return [];
  return [...file.variables, ...(file.aliases ?? [])].map(({ name, at, bytes, type = "ud" }) => ({
    name,
    at,
    type,
    bytes: new Uint8Array(x.file.buffer, x.file.byteOffset + at, bytes),
    address: null,
  }));
}

/** `.local` and `.param` variables of a lane's activation. */
export function frameVariables(x: Activation, lane: number): readonly ByteVariable[] {
  const { views, stride, origin } = x.warp.stack;
  return x.code.ir.frame.map(({ name, size, unsized }, i) => {
    const at = x.base + x.code.frame.offsets[i]!;
    const bytes = unsized ? x.unsizedBytes : size;
    return {
      name,
      type: "u8",
      bytes: views.u8.subarray(origin + lane * stride + at, origin + lane * stride + at + bytes),
      address: BigInt(windows.local.start + at),
    };
  });
}

/** The parameters of the kernel. */
export function kernelParameters({ grid, engine }: Execution): readonly ByteVariable[] {
  const { ir } = engine.functionNamed(grid.kernel)!;
  return ir.params.flatMap(({ name, type, storage }) => {
    if (storage.kind !== "kernel") return [];
    const known = type.kind === "array" ? "u8" : `${type.kind}${8 * type.size}`;
    const bytes = grid.params.views.u8.subarray(storage.offset, storage.offset + type.size);
    return [{ name, type: known, bytes, address: BigInt(grid.params.start + storage.offset) }];
  });
}

/** The variables of the module, with their generic addresses. */
export function moduleVariables({
  program,
}: Execution): readonly { name: string; address: bigint; size: number; space: string }[] {
  return program.module.variables.map(({ name, size, space }) => ({
    name,
    size,
    space,
    address: program.addressOf(name) ?? 0n,
  }));
}

const specialNames = ["tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z"] as const;
const sizeNames = ["ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z"] as const;

export const specialRegisters = [...specialNames, ...sizeNames, "laneid", "warpid"] as const;
export type SpecialRegister = (typeof specialRegisters)[number];

/** What a lane reads of a special register. */
export const readSpecial = (x: Activation, lane: number, name: SpecialRegister): number =>
  x.code.leafValue(x, lane)({ kind: "special", ty: "i32", name }) as number;

/** The function that begins at an address, or null. */
export function functionAt({ engine }: Execution, address: bigint): string | null {
  const { high, low } = parts(address);
  return high === 0 ? (engine.functions.find((f) => f.address === low)?.ir.name ?? null) : null;
}
