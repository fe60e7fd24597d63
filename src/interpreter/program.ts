import { type IrFunction, type IrModule, type Relocation, type Variable, windows } from "../ir/index.ts";
import { AddressSpace, functionStride } from "../machine/memory/address-space.ts";
import { type Extent, Layout } from "../machine/memory/extent.ts";
import type { DeviceMemory } from "../machine/memory/memory.ts";
import { Views } from "../machine/memory/views.ts";
import type { ExternalFunction } from "../machine/state/externals.ts";
import type { Bank } from "../machine/state/bank.ts";
import { foldCompiler } from "./compile/fold-compiler.ts";
import { LoadedFunction } from "./compile/loaded-function.ts";
import { canGenerate, loopCompiler } from "./compile/loop-compiler.ts";
import type { ProgramContext } from "./compile/program-context.ts";
import { decode } from "./decode.ts";
import { findObstacle, type Obstacle } from "./obstacle.ts";

/** Bytes at most between two shared or constant variables. */
const maxGap = 1024;

export interface LoadOptions {
  /** Whether to make code from text: much faster, but a page's content security policy may forbid it. Default: if possible. */
  readonly generate?: boolean;
  /** Functions without a body that the machine provides, by name. Default: none. */
  readonly externals?: ReadonlyMap<string, ExternalFunction>;
}

/** A module-level variable in its place. */
interface LoadedVariable {
  readonly variable: Variable;
  /** Within its own state space. */
  readonly address: number;
}

/** A module loaded into a device. */
export interface Program {
  readonly module: IrModule;
  readonly memory: DeviceMemory;
  readonly addresses: AddressSpace;
  readonly engine: ProgramContext;
  /** The same functions in finer blocks, for schedules that are permuted or steered. */
  readonly fineEngine: ProgramContext;
  readonly constants: Bank;
  readonly variables: ReadonlyMap<string, LoadedVariable>;
  readonly shared: SharedLayout;
  /** What keeps a kernel from being executed, or null. */
  obstacleOf(kernel: IrFunction): Obstacle | null;
  /** The generic address of a variable, or the address of a function; null when there is no such name. */
  addressOf(name: string): bigint | null;
  /** A copy of a `.global` or `.const` variable. */
  readVariable(name: string): Uint8Array;
  writeVariable(name: string, bytes: Uint8Array, offset?: number): void;
  /** Frees the module's global variables. */
  unload(): void;
}

interface SharedLayout {
  readonly extents: readonly Extent[];
  /** Where dynamic shared memory begins. */
  readonly dynamicStart: number;
  readonly dynamicName: string;
  /** Bytes of the static variables. */
  readonly staticBytes: number;
}

/**
 * Lays out a module's variables, applies relocations and gives functions their addresses. Throws a RangeError when the
 * variables do not fit into the device.
 */
export function loadProgram(memory: DeviceMemory, module: IrModule, options: LoadOptions = {}): Program {
  const generate = options.generate ?? canGenerate();
  const addresses = new AddressSpace(module.addressSize);
  const variables = new Map<string, LoadedVariable>();
  const shared = layShared(module, variables);
  const constants = layConstants(module, variables);
  for (const v of module.variables) {
    if (v.space === "global") variables.set(v.name, { variable: v, address: memory.alloc(v.size, `\`${v.name}\``) });
  }

  const symbol = (name: string, generic: boolean): bigint => {
    const address = addressIn(name, generic);
    if (address === null) throw new Error(`there is no symbol ${name}`);
    return address;
  };
  const addressIn = (name: string, generic: boolean): bigint | null => {
    const code = engine.functionNamed(name);
    if (code !== null) return BigInt(code.address);
    const found = variables.get(name);
    if (found === undefined) return null;
    if (found.variable.space === "global") return addresses.global(found.address);
    return BigInt(found.address) + (generic ? addresses.window : 0n);
  };
  const makeEngine = (fine: boolean): ProgramContext => {
    const functions: LoadedFunction[] = [];
    const byName = new Map<string, LoadedFunction>();
    const made: ProgramContext = {
      module,
      addresses,
      bindings: { symbol, window: addresses.window },
      compiler: generate ? loopCompiler : foldCompiler,
      generate,
      fine,
      functionNamed: (name) => byName.get(name) ?? null,
      functions,
      externals: options.externals ?? new Map(),
    };
    module.functions.forEach((ir, i) => {
      const code = new LoadedFunction(ir, windows.function.start + i * functionStride, addresses.window, (f) =>
        decode(f, made),
      );
      functions.push(code);
      byName.set(ir.name, code);
    });
    for (const [alias, index] of module.aliases) byName.set(alias, functions[index]!);
    return made;
  };
  const engine = makeEngine(false);
  let fineEngine: ProgramContext | null = null;

  /** The bytes of a variable, wherever they lie. */
  const bytesOf = (name: string): Uint8Array => {
    const found = variables.get(name);
    if (found === undefined || found.variable.space === "shared") throw new RangeError(`no variable ${name} to access`);
    const { variable, address } = found;
    if (variable.space === "global") return memory.views.u8.subarray(address, address + variable.size);
    const at = address - constants.start;
    return constants.views.u8.subarray(at, at + variable.size);
  };
  for (const { variable } of variables.values()) {
    if (variable.space === "shared") continue;
    const bytes = bytesOf(variable.name);
    for (const piece of variable.init) bytes.set(piece.bytes, piece.at);
    for (const r of variable.relocations) relocate(bytes, r, symbol(r.symbol, r.generic));
  }

  const obstacles = new Map<IrFunction, Obstacle | null>();
  const obstacleOf = (kernel: IrFunction): Obstacle | null => {
    let found = obstacles.get(kernel);
    if (found === undefined) {
      found = findObstacle(module, kernel, (name) => engine.externals.has(name));
      obstacles.set(kernel, found);
    }
    return found;
  };

  return {
    module,
    memory,
    addresses,
    engine,
    get fineEngine() {
      return (fineEngine ??= makeEngine(true));
    },
    constants,
    variables,
    shared,
    obstacleOf,
    addressOf: (name) => addressIn(name, true),
    readVariable: (name) => bytesOf(name).slice(),
    writeVariable: (name, bytes, offset = 0) => bytesOf(name).set(bytes, offset),
    unload: () => {
      for (const { variable, address } of variables.values()) if (variable.space === "global") memory.free(address);
    },
  };
}

function relocate(bytes: Uint8Array, { at, size, shift, addend }: Relocation, address: bigint): void {
  const value = (address + BigInt(addend)) >> BigInt(shift);
  for (let i = 0; i < size; i++) bytes[at + i] = Number((value >> BigInt(8 * i)) & 0xffn);
}

function layConstants(module: IrModule, variables: Map<string, LoadedVariable>): Bank {
  const { start } = windows.const;
  const layout = new Layout(start, maxGap);
  for (const variable of module.variables) {
    if (variable.space !== "const") continue;
    const address = layout.place(`\`${variable.name}\``, variable.size, variable.align);
    variables.set(variable.name, { variable, address });
  }
  checkWindow(layout, "const");
  return { views: new Views(layout.end - start), start, extents: layout.extents };
}

/** Throws a RangeError when the variables of a space need more addresses than it has. */
function checkWindow(layout: Layout, window: "const" | "shared"): void {
  if (layout.end > windows[window].end) throw new RangeError(`the ${window} variables do not fit into their space`);
}

function layShared(module: IrModule, variables: Map<string, LoadedVariable>): SharedLayout {
  const layout = new Layout(windows.shared.start, maxGap);
  const all = module.variables.filter((v) => v.space === "shared");
  for (const variable of all) {
    if (variable.dynamicShared) continue;
    const address = layout.place(`\`${variable.name}\``, variable.size, variable.align);
    variables.set(variable.name, { variable, address });
  }
  checkWindow(layout, "shared");
  const dynamic = all.filter((v) => v.dynamicShared);
  const align = dynamic.reduce((most, v) => Math.max(most, v.align), 128);
  const dynamicStart = Math.ceil(layout.end / align) * align;
  for (const variable of dynamic) variables.set(variable.name, { variable, address: dynamicStart });
  return {
    extents: layout.extents,
    dynamicStart,
    dynamicName: dynamic[0] === undefined ? "dynamic shared memory" : `\`${dynamic[0].name}\``,
    staticBytes: layout.extents.reduce((sum, e) => sum + e.end - e.start, 0),
  };
}
