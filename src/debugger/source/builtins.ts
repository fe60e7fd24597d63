import type { Member, SourceType } from "../../dwarf/index.ts";
import { specialReader } from "../view/special-registers.ts";
import { type SourcePoint, SourceValue } from "./source-value.ts";

const unsigned: SourceType = { kind: "base", name: "unsigned int", size: 4, encoding: "unsigned" };

const structOf = (name: string): SourceType => {
  const members = ["x", "y", "z"].map(
    (member, i): Member => ({ name: member, type: unsigned, offset: 4 * i, bits: null, isBase: false }),
  );
  return { kind: "struct", keyword: "struct", name, size: 12, members: () => members };
};

/** The variables that CUDA C++ has in every kernel: their types, and the special registers that hold them. */
const builtins: Readonly<Record<string, { readonly type: SourceType; readonly registers: readonly string[] }>> = {
  threadIdx: { type: structOf("uint3"), registers: ["tid.x", "tid.y", "tid.z"] },
  blockIdx: { type: structOf("uint3"), registers: ["ctaid.x", "ctaid.y", "ctaid.z"] },
  blockDim: { type: structOf("dim3"), registers: ["ntid.x", "ntid.y", "ntid.z"] },
  gridDim: { type: structOf("dim3"), registers: ["nctaid.x", "nctaid.y", "nctaid.z"] },
};

/** The names of the variables that CUDA C++ has in every kernel. */
export const builtinNames: readonly string[] = [...Object.keys(builtins), "warpSize"];

/** Returns the type of such a variable, or null if there is none of the name. */
export function builtinType(name: string): SourceType | null {
  if (name === "warpSize") return { kind: "base", name: "int", size: 4, encoding: "signed" };
  return Object.hasOwn(builtins, name) ? builtins[name]!.type : null;
}

/** Returns the value of such a variable in a lane, or null. */
export function builtinValue(name: string, point: SourcePoint): SourceValue | null {
  const type = builtinType(name);
  if (type === null || point.activation === null) return null;
  const numbers = name === "warpSize" ? [32] : builtins[name]!.registers.map((at) => specialReader(at)!(point));
  return new SourceValue(point, type, { kind: "value", bytes: new Uint8Array(Uint32Array.from(numbers).buffer) });
}
