import { argAt, argRegisters, fileLayout, retvalAt, retvalRegisters } from "../ir/byte-file.ts";
import { type DataType, typeBytes, type VariableKind } from "./types.ts";

/** A variable that every routine has (4_visa_header.md, "General Variables" and "Surface Variables"). */
export interface Predefined {
  readonly kind: VariableKind;
  /** As it is printed. */
  readonly name: string;
  /** Other names that refer to it in text. */
  readonly otherNames: readonly string[];
  readonly index: number;
  readonly type: DataType;
  readonly elements: number;
  /** Its first byte in the byte file of an activation. */
  readonly at: number;
  readonly writable: boolean;
}

type GeneralPlace = Exclude<keyof typeof fileLayout, "surfaces">;

/**
 * Names without their `%`, types, numbers of elements (0: whole registers, counted below) and access, in the order of
 * their numbers from V0.
 */
const general: readonly [GeneralPlace | "arg" | "retval", DataType, number, "r" | "rw"][] = [
  ["null", "ud", 1, "rw"],
  ["thread_x", "uw", 1, "r"],
  ["thread_y", "uw", 1, "r"],
  ["group_id_x", "ud", 1, "r"],
  ["group_id_y", "ud", 1, "r"],
  ["group_id_z", "ud", 1, "r"],
  ["tsc", "ud", 5, "rw"],
  ["r0", "ud", 0, "r"],
  ["arg", "ud", 0, "rw"],
  ["retval", "ud", 0, "rw"],
  ["sp", "uq", 1, "rw"],
  ["fp", "uq", 1, "rw"],
  ["hw_id", "ud", 1, "r"],
  ["sr0", "ud", 4, "rw"],
  ["cr0", "ud", 1, "rw"],
  ["ce0", "ud", 1, "r"],
  ["dbg0", "ud", 2, "rw"],
  ["color", "uw", 1, "r"],
  ["impl_arg_buf_ptr", "uq", 1, "rw"],
  ["local_id_buf_ptr", "uq", 1, "rw"],
  ["msg0", "ud", 3, "r"],
  ["scratchloc", "uq", 1, "r"],
];

const surfaces: readonly string[] = ["%slm", "T1", "T2", "TSS", "%bss", "%scratch"];

function tableFor(grfBytes: 32 | 64): readonly Predefined[] {
  const registers = { r0: 1, arg: argRegisters, retval: retvalRegisters };
  const places = { arg: argAt, retval: retvalAt(grfBytes) };
  const variables = general.map(([name, type, elements, access], index): Predefined => {
    const whole = name === "r0" || name === "arg" || name === "retval" ? registers[name] * grfBytes : null;
    return {
      kind: "G",
      name: `%${name}`,
      otherNames: [`V${index}`],
      index,
      type,
      elements: whole === null ? elements : whole / typeBytes(type),
      at: name === "arg" || name === "retval" ? places[name] : fileLayout[name].at,
      writable: access === "rw",
    };
  });
  const states = surfaces.map((name, index): Predefined => {
    const other = name === `T${index}` ? [] : [`T${index}`];
    const at = fileLayout.surfaces.at + 4 * index;
    return { kind: "T", name, otherNames: other, index, type: "ud", elements: 1, at, writable: false };
  });
  const bindless: Predefined = {
    kind: "S",
    name: "S31",
    otherNames: [],
    index: 31,
    type: "ud",
    elements: 1,
    at: fileLayout.surfaces.at + fileLayout.surfaces.bytes - 4,
    writable: false,
  };
  return [...variables, ...states, bindless];
}

const tables = { 32: tableFor(32), 64: tableFor(64) };

/** The predefined variables in order: V0 and up, T0 and up, S31. */
export const predefinedVariables = (grfBytes: 32 | 64): readonly Predefined[] => tables[grfBytes];

const byName = {
  32: new Map(tables[32].map((variable) => [variable.name, variable])),
  64: new Map(tables[64].map((variable) => [variable.name, variable])),
};

/** The predefined variable whose `Variable.name` is `name`. */
export const predefinedVariable = (name: string, grfBytes: 32 | 64): Predefined | undefined =>
  byName[grfBytes].get(name);

/** Whether no declaration may take a name: V0 to V31, T0 to T5, TSS, P0, S31, and all that begin with `%`. */
export const isReservedName = (name: string): boolean =>
  /^(?:%.*|V(?:[0-9]|[12][0-9]|3[01])|T[0-5]|TSS|P0|S31)$/s.test(name);
