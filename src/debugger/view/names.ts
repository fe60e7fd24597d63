import type { Execution } from "../../interpreter/execution.ts";
import type { IrFunction } from "../../ir/index.ts";
import { parts } from "../../machine/memory/address-space.ts";
import { nearest } from "../../source/index.ts";
import type { Onlooker } from "./memory-view.ts";
import { specialReader, specialRegisters } from "./special-registers.ts";
import {
  frameVariables,
  kernelParameters,
  registersOf,
  type RegisterVariable,
  type Variable,
  type VisaVariable,
  visaVariables,
} from "./variables.ts";

/** A variable of the module, or one that a function declares for all of its activations. */
export interface ModuleVariable {
  /** As it is called where it is declared. */
  readonly name: string;
  readonly space: string;
  readonly size: number;
  /** Generic. */
  readonly address: bigint;
}

/** What names mean in a function of a launch, found once; without a function, what they mean to the host. */
export class Names {
  readonly registers: readonly RegisterVariable[];
  /** vISA's variables. */
  readonly visa: readonly VisaVariable[];
  /** `.local` and `.param` variables. */
  readonly frame: readonly Variable[];
  /** Of the kernel. */
  readonly parameters: readonly Variable[];
  /** Variables of the module that the function declares. */
  readonly statics: readonly ModuleVariable[];
  readonly #execution: Execution;
  readonly #own: string | null;
  readonly #byName = new Map<string, Variable>();

  constructor(execution: Execution, ir: IrFunction | null) {
    const { context, grid } = execution;
    const code = context.functions.find((f) => f.ir === ir);
    this.#execution = execution;
    this.#own = ir && `${ir.name}.`;
    this.registers = code === undefined ? [] : registersOf(code);
    this.visa = ir === null ? [] : visaVariables(ir);
    this.frame = code === undefined ? [] : frameVariables(code);
    this.parameters = kernelParameters(context.functionNamed(grid.kernel)!.ir);
    this.statics = moduleVariables(execution).flatMap((v) =>
      this.#own !== null && v.name.startsWith(this.#own) ? [{ ...v, name: v.name.slice(this.#own.length) }] : [],
    );
    // The first of a name is meant.
    for (const v of this.variables.toReversed()) this.#byName.set(v.name, v);
  }

  /** All that have a value of their own. */
  get variables(): readonly Variable[] {
    return [...this.registers, ...this.visa, ...this.frame, ...this.parameters];
  }

  /** What reads a special register, with or without its %; a register of the name hides it. */
  special(name: string): ((of: Onlooker) => number) | null {
    if (this.#own === null || this.#byName.get(name)?.kind === "register") return null;
    return specialReader(name.replace(/^%/, ""));
  }

  variable(name: string): Variable | null {
    return this.#byName.get(name) ?? null;
  }

  /** A variable of the module; those of the function come first. */
  moduleVariable(name: string): ModuleVariable | null {
    return (
      this.statics.find((v) => v.name === name) ?? moduleVariables(this.#execution).find((v) => v.name === name) ?? null
    );
  }

  /** The generic address of a variable of the module, or the address of a function. */
  address(name: string): bigint | null {
    return this.moduleVariable(name)?.address ?? this.#execution.program.addressOf(name);
  }

  /** What a misspelt name may have meant. */
  nearest(name: string): string | null {
    const all = [...this.variables, ...this.statics, ...moduleVariables(this.#execution)];
    return nearest(name, [...all.map((v) => v.name), ...specialRegisters]) ?? null;
  }
}

const known = new WeakMap<Execution, Map<IrFunction | null, Names>>();

export function namesOf(execution: Execution, ir: IrFunction | null): Names {
  let ofLaunch = known.get(execution);
  if (ofLaunch === undefined) known.set(execution, (ofLaunch = new Map()));
  let names = ofLaunch.get(ir);
  if (names === undefined) ofLaunch.set(ir, (names = new Names(execution, ir)));
  return names;
}

/** The variables of the module; those that a function declares are called FUNCTION.NAME. */
export const moduleVariables = ({ program }: Execution): readonly ModuleVariable[] =>
  program.module.variables.map(({ name, size, space }) => ({
    name,
    size,
    space,
    address: program.addressOf(name) ?? 0n,
  }));

/** The function that begins at an address, or null. */
export function functionAt({ program }: Execution, address: bigint): string | null {
  const { high, low } = parts(address);
  return high === 0 ? (program.functions.find((f) => f.address === low)?.ir.name ?? null) : null;
}
