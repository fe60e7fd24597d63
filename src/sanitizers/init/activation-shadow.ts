import { lowestLane } from "../../ir/lane-mask.ts";
import { argAt, argRegisters, retvalAt, retvalRegisters } from "../../ir/index.ts";
import type { Activation, FunctionCode } from "../../machine/state/launch-state.ts";
import type { ThreadModel } from "../../machine/state/thread-model.ts";
import { ByteShadow } from "./byte-shadow.ts";
import type { Elements, Reads } from "./reads.ts";
import { RegisterShadow } from "./register-shadow.ts";

/** The undefined bits of an activation's registers and of its byte file. */
export class ActivationShadow {
  readonly registers: RegisterShadow;
  readonly file: ByteShadow | null;

  constructor({ ir }: FunctionCode) {
    this.registers = new RegisterShadow(ir.registers);
    this.file = ir.file === undefined ? null : new ByteShadow(ir.file.bytes);
  }

  /** Resets it to the beginning of an activation: only the thread's part of the byte file is written. */
  begin(): void {
    this.registers.forget();
    this.file?.forget(argAt, this.file.size);
    this.file?.define(0, argAt);
  }

  /** Resets it to the beginning of a kernel, which has its payload. */
  beginKernel({ payload }: ThreadModel): void {
    this.begin();
    if (payload === undefined) this.file?.define(0, this.file.size);
    else for (const { at, size } of payload) this.file?.define(at, at + size);
  }

  /**
   * The lanes of a mask that read something undefined, or may do so. `active`: the lanes that reached the instruction.
   */
  lanesReading(reads: Reads, mask: number, active: number): number {
    if (reads.computed) return mask;
    let found = 0;
    for (const register of reads.registers) found |= this.registers.lanes[register]!;
    for (const word of reads.words) if ((this.registers.lanes[word]! & active) !== 0) return mask;
    for (const elements of reads.elements)
      if (this.file!.mayHave(elements.from, elements.to)) found |= this.#lanesOf(elements, mask);
    return found & mask;
  }

  #lanesOf({ at, bytes }: Elements, mask: number): number {
    let found = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      if (this.file!.has(at[lane]!, bytes)) found |= 1 << lane;
    }
    return found;
  }

  defineElements({ at, bytes, from, to, lanes, packed }: Elements, mask: number): void {
    if (packed && mask === lanes) this.file!.define(from, to);
    else for (let m = mask; m !== 0; m &= m - 1) this.file!.defineElement(at[lowestLane(m)]!, bytes);
  }
}

/** fcall and ifcall: copies the part of the caller's file that the callee begins with. The call destroys %arg. */
export function passFile(x: ActivationShadow, y: ActivationShadow, grfBytes: number, argSize: number): void {
  const [from, to] = [x.file!, y.file!];
  to.copy(from, argAt, argAt, Math.min(argSize, argRegisters) * grfBytes);
  to.copy(from, retvalAt(grfBytes), retvalAt(grfBytes), retvalRegisters * grfBytes);
  from.forget(argAt, argAt + argRegisters * grfBytes);
  to.copy(from, 0, 0, argAt);
}

/** Copies what the callee returns. */
export function returnFile(y: ActivationShadow, x: ActivationShadow, grfBytes: number, retvalSize: number): void {
  const at = retvalAt(grfBytes);
  const bytes = Math.min(retvalSize, retvalRegisters) * grfBytes;
  x.file!.copy(y.file!, 0, 0, argAt);
  x.file!.copy(y.file!, at, at, bytes);
  x.file!.forget(at + bytes, at + retvalRegisters * grfBytes);
}

/** The name of a byte of the file in messages. */
export function fileName({ code }: Activation, at: number): string {
  const { file } = code.ir;
  if (file === undefined) return "a register";
  const retval = retvalAt(file.grfBytes);
  if (at >= argAt && at < retval) return "`%arg`";
  if (at >= retval && at < retval + retvalRegisters * file.grfBytes) return "`%retval`";
  const variable = file.variables.find((v) => at >= v.at && at < v.at + v.bytes);
  return variable === undefined ? "a register" : `\`${variable.name}\``;
}
