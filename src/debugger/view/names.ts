import type { Execution } from "../../interpreter/execution.ts";
import type { IrFunction } from "../../ir/index.ts";
import { parts } from "../../machine/memory/address-space.ts";
import { matchName } from "../../names/index.ts";
import { nearest } from "../../source/index.ts";
import type { Viewpoint } from "./memory-view.ts";
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
  /** The name in its declaration. */
  readonly name: string;
  readonly space: string;
  readonly size: number;
  /** The generic address. */
  readonly address: bigint;
}

/** The meaning of names in a function of a launch, resolved once; without a function, their meaning to the host. */
export class Names {
  readonly registers: readonly RegisterVariable[];
  /** The variables of vISA. */
  readonly visa: readonly VisaVariable[];
  /** `.local` and `.param` variables. */
  readonly frame: readonly Variable[];
  /** The parameters of the kernel. */
  readonly parameters: readonly Variable[];
  /** Variables of the module that the function declares. */
  readonly statics: readonly ModuleVariable[];
  /** The function, or null. */
  readonly ir: IrFunction | null;
  readonly #execution: Execution;
  readonly #own: string | null;
  readonly #byName = new Map<string, Variable>();

  constructor(execution: Execution, ir: IrFunction | null) {
    const { context, grid } = execution;
    const code = context.functions.find((f) => f.ir === ir);
    this.#execution = execution;
    this.ir = ir;
    this.#own = ir && `${ir.name}.`;
    this.registers = code === undefined ? [] : registersOf(code);
    this.visa = ir === null ? [] : visaVariables(ir);
    this.frame = code === undefined ? [] : frameVariables(code);
    this.parameters = kernelParameters(context.functionNamed(grid.kernel)!.ir);
    this.statics = moduleVariables(execution).flatMap((v) =>
      this.#own !== null && v.name.startsWith(this.#own) ? [{ ...v, name: v.name.slice(this.#own.length) }] : [],
    );
    // The first variable of a name wins.
    for (const v of this.variables.toReversed()) this.#byName.set(v.name, v);
  }

  /** All variables whose value belongs to a lane or a launch. */
  get variables(): readonly Variable[] {
    return [...this.registers, ...this.visa, ...this.frame, ...this.parameters];
  }

  /**
   * Returns what reads a special register, with or without its %; null if there is none. A register of the same name
   * hides it.
   */
  special(name: string): ((of: Viewpoint) => number) | null {
    if (this.#own === null || this.#byName.get(name)?.kind === "register") return null;
    return specialReader(name.replace(/^%/, ""));
  }

  /** Returns the variable of that name which belongs to a lane or a launch, or null. */
  variable(name: string): Variable | null {
    return this.#byName.get(name) ?? null;
  }

  /**
   * Returns a variable of the module, by its name there or its name in C++, with or without scopes; those of the
   * function take precedence. Null if there is none or, in C++, several.
   */
  moduleVariable(name: string): ModuleVariable | null {
    const found = this.#plainVariable(name);
    if (found !== undefined) return found;
    const all = moduleVariables(this.#execution);
    // C++ programs have mangled names: `ns::table` is the variable of the module that has this name in the source.
    const [meant, ...others] = matchName(
      name,
      all.map((v) => v.name),
    );
    return others.length > 0 ? null : (all.find((v) => v.name === meant) ?? null);
  }

  #plainVariable(name: string): ModuleVariable | undefined {
    const isIt = (v: ModuleVariable): boolean => v.name === name;
    return this.statics.find(isIt) ?? moduleVariables(this.#execution).find(isIt);
  }

  /** Returns the generic address of a variable of the module, or the address of a function. */
  address(name: string): bigint | null {
    const { program } = this.#execution;
    return this.#plainVariable(name)?.address ?? program.addressOf(name) ?? this.moduleVariable(name)?.address ?? null;
  }

  /** Returns the name that a misspelt one may stand for. */
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

/** Returns the variables of the module; those that a function declares are called FUNCTION.NAME. */
export const moduleVariables = ({ program }: Execution): readonly ModuleVariable[] =>
  program.module.variables.map(({ name, size, space }) => ({
    name,
    size,
    space,
    address: program.addressOf(name) ?? 0n,
  }));

/** Returns the function that begins at an address, or null. */
export function functionAt({ program }: Execution, address: bigint): string | null {
  const { high, low } = parts(address);
  return high === 0 ? (program.functions.find((f) => f.address === low)?.ir.name ?? null) : null;
}
