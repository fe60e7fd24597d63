import type { Execution } from "../../interpreter/execution.ts";
import type { Activation } from "../../machine/activation.ts";
import type { Warp } from "../../machine/warp.ts";
import { nearest } from "../../source/index.ts";
import { readMemory, writeMemory } from "../view/memory-view.ts";
import { sizeOf, type TypedBits } from "../view/value.ts";
import {
  type ByteVariable,
  fileVariables,
  frameVariables,
  kernelParameters,
  moduleVariables,
  readRegister,
  readSpecial,
  registersOf,
  type SpecialRegister,
  specialRegisters,
  writeRegister,
} from "../view/variables.ts";

const u32 = (value: number): TypedBits => ({ bytes: new Uint8Array(Uint32Array.of(value).buffer), type: "u32" });
const u64 = (value: bigint): TypedBits => ({
  bytes: new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, value)).buffer),
  type: "b64",
});

/** What is known of the debugger itself. */
export interface ScopeTime {
  readonly now: number;
}

/**
 * What names mean in one activation of one lane: its registers and variables, parameters, special registers, and the addresses of
 * the module's variables and functions.
 */
export class Scope {
  readonly execution: Execution;
  readonly warp: Warp | null;
  readonly lane: number;
  readonly activation: Activation | null;
  readonly #time: ScopeTime;

  constructor(
    execution: Execution,
    at: { warp: Warp | null; lane: number; activation: Activation | null },
    time: ScopeTime,
  ) {
    this.execution = execution;
    ({ warp: this.warp, lane: this.lane, activation: this.activation } = at);
    this.#time = time;
  }

  /** The bits that a name stands for, or null. A variable of several elements gives all of its bytes. */
  read(name: string): TypedBits | null {
    const { activation: x, lane, execution } = this;
    if (x !== null) {
      const register = registersOf(x.code.ir).find((r) => r.name === name);
      if (register !== undefined) return readRegister(execution, x, register, lane);
      const special = name.replace(/^%/, "");
      if ((specialRegisters as readonly string[]).includes(special)) {
        return u32(readSpecial(x, lane, special as SpecialRegister));
      }
    }
    const variable = this.variable(name);
    if (variable !== null) return { bytes: variable.bytes.slice(), type: variable.type };
    const own = this.#own(name);
    if (own !== null) return own;
    const address = execution.program.addressOf(name);
    return address === null ? null : u64(address);
  }

  /** A variable of the activation that has bytes of its own, or a parameter of the kernel. */
  variable(name: string): ByteVariable | null {
    const { activation: x } = this;
    const all = x === null ? [] : [...fileVariables(x), ...frameVariables(x, this.lane)];
    return [...all, ...kernelParameters(this.execution)].find((v) => v.name === name) ?? null;
  }

  /** Names that only the debugger has. */
  #own(name: string): TypedBits | null {
    switch (name) {
      case "lane":
        return u32(this.lane);
      case "warp":
        return u32(this.warp?.index ?? 0);
      case "block":
        return u32(this.warp?.cta.ticket ?? 0);
      case "time":
        return u64(BigInt(this.#time.now));
      default:
        return null;
    }
  }

  memory(address: bigint, type: string): TypedBits | null {
    const size = sizeOf(type) ?? 1;
    const bytes = readMemory(this.#onlooker, address, size);
    return bytes.length < size ? null : { bytes, type };
  }

  /** False when there is nothing of the name that could be written. */
  write(name: string, value: (type: string) => Uint8Array, at = 0): boolean {
    const { activation: x, lane, execution } = this;
    const register = x && registersOf(x.code.ir).find((r) => r.name === name);
    if (register) {
      writeRegister(execution, x, register, lane, register.type === "pred" ? value("u8") : value(register.type));
      return true;
    }
    const variable = this.variable(name);
    if (variable === null) return false;
    const bytes = value(variable.type);
    if (at + bytes.length > variable.bytes.length) return false;
    variable.bytes.set(bytes, at);
    return true;
  }

  writeMemory(address: bigint, bytes: Uint8Array): boolean {
    return writeMemory(this.#onlooker, address, bytes);
  }

  /** What a misspelt name may have meant. */
  nearest(name: string): string | null {
    const { activation: x } = this;
    const registers = x === null ? [] : registersOf(x.code.ir).map((r) => r.name);
    const files = x === null ? [] : [...fileVariables(x), ...frameVariables(x, this.lane)].map((v) => v.name);
    const module = moduleVariables(this.execution).map((v) => v.name);
    const params = kernelParameters(this.execution).map((v) => v.name);
    return nearest(name, [...registers, ...files, ...params, ...module, ...specialRegisters]) ?? null;
  }

  get #onlooker() {
    return { grid: this.execution.grid, activation: this.activation, lane: this.lane };
  }
}
