import type { Execution, Moment } from "../interpreter/execution.ts";
import type { IrFunction } from "../ir/index.ts";
import type { Dim3 } from "../machine/reports/report.ts";
import type { ReadOrigin } from "../source/index.ts";
import { assign, evaluate, evaluateTyped } from "./expression/evaluate.ts";
import { parseExpression } from "./expression/parse.ts";
import { Scope } from "./expression/scope.ts";
import { type Focus, type FocusView, viewOf } from "./focus.ts";
import { DebuggerError } from "./location.ts";
import type { SourceValue } from "./source/source-value.ts";
import type { Timeline } from "./timeline.ts";
import type { TypedBits } from "./view/value.ts";

/** The part of a session that looks at the present: what is in focus, and values there. */
export class SessionValues {
  /** Time, and the machine at the present one. */
  readonly timeline: Timeline;
  /** What the debugger shows; may be set. */
  focus: Focus = { block: 0, warp: 0, lane: 0, frame: 0 };
  /** Counts the values that have been changed. */
  edits = 0;
  readonly #readOrigin: ReadOrigin | undefined;

  constructor(timeline: Timeline, readOrigin: ReadOrigin | undefined) {
    this.timeline = timeline;
    this.#readOrigin = readOrigin;
  }

  // ---- Where it stands ----------------------------------------------------------------------------------------------

  /** The present time, in instructions of warps since the first launch began. */
  get now(): number {
    return this.timeline.now;
  }

  /** The index of the running launch. */
  get launch(): number {
    return this.timeline.launch.index;
  }

  /** The running launch as the interpreter executes it. Replaced when the next launch begins. */
  get execution(): Execution {
    return this.timeline.execution;
  }

  /** The next instruction, even if it cannot be executed because it faults; null if there is none. */
  get moment(): Moment | null {
    return this.timeline.moment ?? this.timeline.faulting;
  }

  /** The current state of what is in focus. */
  get view(): FocusView {
    return viewOf(this.execution, this.moment, this.focus);
  }

  /** The meaning of names in the function in focus. */
  get scope(): Scope {
    const { warp, frame } = this.view;
    const { lane } = this.focus;
    if (frame === null) return new Scope(this.execution, { warp, lane, activation: null }, this);
    const { activation, site, level } = frame;
    return new Scope(this.execution, { warp, lane, activation, index: site.index, level }, this);
  }

  /** The functions of the program, including provided ones. */
  get functions(): readonly IrFunction[] {
    return this.execution.program.module.functions;
  }

  /** Returns the path at which a file that the program was compiled from is found; else as the program names it. */
  shownPath(path: string, program: string): string {
    return this.#readOrigin?.(path, program)?.path ?? path;
  }

  /** Whether the source is at hand that the function in focus was compiled from. */
  get hasSource(): boolean {
    const { frame } = this.view;
    const program = frame?.site.code.ir.source.path ?? "";
    return frame?.place ? (this.#readOrigin?.(frame.place.path, program) ?? null) !== null : false;
  }

  // ---- Values -------------------------------------------------------------------------------------------------------

  /**
   * Evaluates an expression for the lane in focus.
   *
   * @throws ExpressionError if it is malformed or has no value here
   */
  evaluate(text: string): TypedBits {
    return evaluate(parseExpression(text), this.scope);
  }

  /**
   * Returns the value of an expression with its type of the source; null if it has none, such as a register.
   *
   * @throws ExpressionError if it is malformed or has no value here
   */
  inspect(text: string): SourceValue | null {
    return evaluateTyped(parseExpression(text), this.scope);
  }

  /**
   * Assigns to a register, a variable or memory; what was known of the future is forgotten. Returns whether sanitizers
   * no longer observe this launch.
   *
   * @throws ExpressionError if an expression has no value or the target cannot be assigned to; DebuggerError if the
   *   program has ended
   */
  assign(target: string, value: string): boolean {
    this.#refuseAtEnd();
    const to = parseExpression(target);
    const from = parseExpression(value);
    const { scope } = this;
    evaluate(from, scope);
    this.edits++;
    return this.timeline.edit(() => assign(to, from, scope)).sanitizersStop;
  }

  /**
   * Writes memory as the lane in focus sees it. Returns false, without writing, if not all of it exists.
   *
   * @throws DebuggerError if the program has ended
   */
  writeMemory(address: bigint, bytes: Uint8Array): boolean {
    this.#refuseAtEnd();
    const { scope } = this;
    if (scope.memory(address, "u8") === null) return false;
    let written = false;
    this.edits++;
    this.timeline.edit(() => {
      written = scope.writeMemory(address, bytes);
    });
    return written;
  }

  /** Once the program has ended, a change would have no effect. */
  #refuseAtEnd(): void {
    const { atEnd, end } = this.timeline;
    if (atEnd && end?.kind === "done") throw new DebuggerError("the program has ended");
  }

  /** Returns the position in the grid of the block with a linear index. */
  blockId(ticket: number): Dim3 {
    const [x, y] = this.execution.grid.dimensions;
    return [ticket % x, Math.floor(ticket / x) % y, Math.floor(ticket / (x * y))];
  }
}
