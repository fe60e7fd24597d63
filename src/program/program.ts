import type { IrFunction, IrModule, Relocation } from "../ir/index.ts";
import { AddressSpace } from "../machine/memory/address-space.ts";
import type { DeviceMemory } from "../machine/memory/memory.ts";
import type { Bank } from "../machine/state/bank.ts";
import type { ProgramFunction } from "../machine/state/code.ts";
import type { ExternalFunction } from "../machine/state/externals.ts";
import type { Bindings } from "../semantics/bind.ts";
import { type FunctionTable, layFunction, tableOf } from "./functions.ts";
import { declaredSampler } from "./images/declared-sampler.ts";
import { findObstacle, type Obstacle } from "./obstacle.ts";
import { type PlacedVariable, placeVariables, type SharedLayout } from "./variables.ts";

export interface LoadOptions {
  /** Functions without a body that the machine provides, by name. Default: none. */
  readonly externals?: ReadonlyMap<string, ExternalFunction>;
}

/**
 * Loads a module into a device: places its variables, applies relocations and gives functions their addresses. Throws a
 * RangeError if the variables do not fit into the device.
 */
export const loadProgram = (memory: DeviceMemory, module: IrModule, options: LoadOptions = {}): Program =>
  new Program(memory, module, options.externals ?? new Map());

/** A module loaded into a device. Either engine can run it. */
export class Program implements FunctionTable {
  readonly module: IrModule;
  readonly memory: DeviceMemory;
  readonly addresses: AddressSpace;
  /** The values of symbols in expressions. */
  readonly bindings: Bindings;
  readonly functions: readonly ProgramFunction[];
  readonly functionNamed: (name: string) => ProgramFunction | null;
  readonly externals: ReadonlyMap<string, ExternalFunction>;
  readonly constants: Bank;
  readonly variables: ReadonlyMap<string, PlacedVariable>;
  readonly shared: SharedLayout;
  readonly #obstacles = new Map<IrFunction, Obstacle | null>();

  /** Use `loadProgram`. */
  constructor(memory: DeviceMemory, module: IrModule, externals: ReadonlyMap<string, ExternalFunction>) {
    this.module = module;
    this.memory = memory;
    this.externals = externals;
    this.addresses = new AddressSpace(module.addressSize);
    const { byName, shared, constants } = placeVariables(memory, module);
    this.variables = byName;
    this.shared = shared;
    this.constants = constants;
    ({ functions: this.functions, functionNamed: this.functionNamed } = tableOf(module, layFunction));
    this.bindings = { symbol: (name, generic) => this.#symbol(name, generic), window: this.addresses.window };
    this.#initialize();
  }

  /** Returns the instruction that keeps a kernel from being executed, or null. */
  obstacleOf(kernel: IrFunction): Obstacle | null {
    let found = this.#obstacles.get(kernel);
    if (found === undefined) {
      found = findObstacle(this.module, kernel, (name) => this.externals.has(name));
      this.#obstacles.set(kernel, found);
    }
    return found;
  }

  /** The generic address of a variable, or the address of a function; null if the name is unknown. */
  addressOf(name: string): bigint | null {
    return this.#addressIn(name, true);
  }

  /** Returns a copy of a `.global` or `.const` variable. Throws a RangeError if there is none of that name. */
  readVariable(name: string): Uint8Array {
    return this.#bytesOf(name).slice();
  }

  /**
   * Writes to a `.global` or `.const` variable; `offset` is in bytes. Throws a RangeError if there is no such variable,
   * or if the bytes do not fit.
   */
  writeVariable(name: string, bytes: Uint8Array, offset = 0): void {
    this.memory.history.forget();
    this.#bytesOf(name).set(bytes, offset);
  }

  /** Frees the module's global variables. */
  unload(): void {
    for (const { variable, address } of this.variables.values()) {
      if (variable.space === "global") this.memory.free(address);
    }
  }

  /** Fills the variables with their initial values, some of which are addresses of other variables. */
  #initialize(): void {
    for (const { variable } of this.variables.values()) {
      if (variable.space === "shared") continue;
      const bytes = this.#bytesOf(variable.name);
      for (const piece of variable.init) bytes.set(piece.bytes, piece.at);
      if (variable.sampler !== undefined) {
        const handle = this.memory.images.add({ kind: "sampler", sampler: declaredSampler(variable.sampler) });
        for (let i = 0; i < 8; i++) bytes[i] = Number((handle >> BigInt(8 * i)) & 0xffn);
      }
      for (const r of variable.relocations) relocate(bytes, r, this.#symbol(r.symbol, r.generic));
    }
  }

  #symbol(name: string, generic: boolean): bigint {
    const address = this.#addressIn(name, generic);
    if (address === null) throw new Error(`there is no symbol ${name}`);
    return address;
  }

  #addressIn(name: string, generic: boolean): bigint | null {
    const code = this.functionNamed(name);
    if (code !== null) return BigInt(code.address);
    const found = this.variables.get(name);
    if (found === undefined) return null;
    if (found.variable.space === "global") return this.addresses.global(found.address);
    return BigInt(found.address) + (generic ? this.addresses.window : 0n);
  }

  /** The bytes of a `.global` or `.const` variable, as a view of the memory that holds it. */
  #bytesOf(name: string): Uint8Array {
    const found = this.variables.get(name);
    if (found === undefined || found.variable.space === "shared") throw new RangeError(`no variable ${name} to access`);
    const { variable, address } = found;
    if (variable.space === "global") return this.memory.views.u8.subarray(address, address + variable.size);
    const at = address - this.constants.start;
    return this.constants.views.u8.subarray(at, at + variable.size);
  }
}

function relocate(bytes: Uint8Array, { at, size, shift, addend }: Relocation, address: bigint): void {
  const value = (address + BigInt(addend)) >> BigInt(shift);
  for (let i = 0; i < size; i++) bytes[at + i] = Number((value >> BigInt(8 * i)) & 0xffn);
}
