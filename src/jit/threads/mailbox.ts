import type { HostFunction } from "../abi/host-function.ts";
import { maxMessage, mail, mailAt, mailState, messageAt, maxValues, noBlock, valuesAt } from "./control.ts";

/** The launching thread's end of the mailbox of a worker. */
export class Mailbox {
  readonly #words: Int32Array;
  readonly #numbers: Float64Array;
  readonly #integers: BigInt64Array;
  readonly #message: Uint16Array;

  constructor(control: SharedArrayBuffer, member: number) {
    const at = mailAt(member);
    this.#words = new Int32Array(control, at, valuesAt / 4);
    this.#numbers = new Float64Array(control, at + valuesAt, maxValues);
    this.#integers = new BigInt64Array(control, at + valuesAt, maxValues);
    this.#message = new Uint16Array(control, at + messageAt, maxMessage);
    this.#words[mail.block] = noBlock | 0;
  }

  get state(): number {
    return Atomics.load(this.#words, mail.state);
  }

  /** The first block that the worker runs or is about to take; `noBlock` while it has none. */
  get block(): number {
    return Atomics.load(this.#words, mail.block) >>> 0;
  }

  /** Whether the worker takes part. */
  get isPresent(): boolean {
    return Atomics.load(this.#words, mail.present) !== 0;
  }

  /** Blocks that the worker has run. */
  get done(): number {
    return this.#words[mail.done]!;
  }

  /** Why the worker has failed. */
  get failure(): string {
    const end = this.#message.indexOf(0);
    return String.fromCharCode(...this.#message.subarray(0, end < 0 ? maxMessage : end));
  }

  /**
   * Calls the function that the worker asks for, and lets the worker continue with the result. Throws what the function
   * throws.
   */
  answer(functions: readonly HostFunction[]): void {
    const wide = this.#words[mail.wide]!;
    const args = Array.from({ length: this.#words[mail.count]! }, (_, i) =>
      wide & (1 << i) ? this.#integers[i]! : this.#numbers[i]!,
    );
    const result = functions[this.#words[mail.function]!]!(...args);
    if (typeof result === "bigint") this.#integers[0] = result;
    else if (result !== undefined) this.#numbers[0] = result;
    this.#words[mail.wide] = Number(typeof result === "bigint");
    this.#let(mailState.result);
  }

  /**
   * Lets the worker continue in a context, if it has one: with a block that has waited, or (null) with blocks that it
   * takes.
   */
  give(context: number | null, block: number | null): void {
    this.#words[mail.context] = context ?? 0;
    this.#words[mail.resumes] = Number(block !== null);
    if (block !== null) this.#words[mail.block] = block | 0;
    this.#let(mailState.result);
  }

  /** Makes the worker give its blocks up. */
  stop(): void {
    this.#let(mailState.stop);
  }

  #let(state: number): void {
    Atomics.store(this.#words, mail.state, state);
    Atomics.notify(this.#words, mail.state);
  }
}
