import { type CodeEvents, opcodes } from "./code-events.ts";
import type { CodeRange } from "./live-locals.ts";

/** What a range of code needs of the code around it. */
export interface RangeNeeds {
  /** The locals that it may read before it has assigned them. */
  readonly read: ReadonlySet<number>;
  readonly written: ReadonlySet<number>;
  /** The locals that it has assigned, whichever way it is left. */
  readonly certain: ReadonlySet<number>;
  /** The labels around it to which it branches: 0 is that of the construct of which it is a part. */
  readonly exits: readonly number[];
}

/** A construct that is open within the range. */
interface Construct {
  readonly opcode: number;
  /** How many locals had been assigned before it. */
  readonly before: number;
  readonly isReachable: boolean;
  /** The locals that have been assigned in it on all ways to its end so far; null: there are none. */
  atEnd: readonly number[] | null;
  hasElse: boolean;
}

/** Goes once through a range of the code of a function with some locals; null if it can only be where it is. */
export function needsOf(events: CodeEvents, locals: number, { first, end }: CodeRange): RangeNeeds | null {
  return new RangeWalk(events, locals).walk(first, end);
}

class RangeWalk {
  readonly #events: CodeEvents;
  readonly #read = new Set<number>();
  readonly #written = new Set<number>();
  readonly #exits = new Set<number>();
  /** The locals that have certainly been assigned, in this order. */
  readonly #assigned: number[] = [];
  readonly #isAssigned: Uint8Array;
  readonly #open: Construct[] = [];
  #isReachable = true;
  #certain: readonly number[] | null = null;

  constructor(events: CodeEvents, locals: number) {
    this.#events = events;
    this.#isAssigned = new Uint8Array(locals);
  }

  walk(first: number, end: number): RangeNeeds | null {
    const { opcode, operand, tables } = this.#events;
    for (let i = first; i < end; i++) {
      switch (opcode[i]) {
        case opcodes.get:
          if (this.#isReachable && this.#isAssigned[operand[i]!] === 0) this.#read.add(operand[i]!);
          break;
        case opcodes.set:
        case opcodes.tee:
          this.#assign(operand[i]!);
          break;
        case opcodes.block:
        case opcodes.loop:
        case opcodes.if:
          this.#begin(opcode[i]!);
          break;
        case opcodes.else:
          this.#else();
          break;
        case opcodes.end:
          this.#end();
          break;
        case opcodes.br:
          this.#branch(operand[i]!);
          this.#isReachable = false;
          break;
        case opcodes.brIf:
          this.#branch(operand[i]!);
          break;
        case opcodes.brTable:
          if (tables[operand[i]!]!.some((distance) => distance >= this.#open.length)) return null;
          for (const distance of tables[operand[i]!]!) this.#branch(distance);
          this.#isReachable = false;
          break;
        case opcodes.return:
          return null;
        case opcodes.unreachable:
          this.#isReachable = false;
      }
    }
    if (this.#isReachable) this.#leave();
    const certain = new Set(this.#certain ?? []);
    return { read: this.#read, written: this.#written, certain, exits: [...this.#exits] };
  }

  #assign(local: number): void {
    if (this.#isAssigned[local] === 1) return;
    this.#isAssigned[local] = 1;
    this.#assigned.push(local);
    this.#written.add(local);
  }

  #begin(opcode: number): void {
    const [before, isReachable] = [this.#assigned.length, this.#isReachable];
    this.#open.push({ opcode, before, isReachable, atEnd: null, hasElse: false });
  }

  #else(): void {
    const construct = this.#open.at(-1)!;
    if (this.#isReachable) this.#reachEnd(construct);
    construct.hasElse = true;
    this.#forget(construct.before);
    this.#isReachable = construct.isReachable;
  }

  #end(): void {
    const construct = this.#open.pop()!;
    if (construct.opcode === opcodes.loop) {
      // Branches to it go to its beginning, where what was assigned before it is all that is certain.
      if (!this.#isReachable) this.#forget(construct.before);
      return;
    }
    if (this.#isReachable) this.#reachEnd(construct);
    this.#forget(construct.before);
    if (construct.opcode === opcodes.if && !construct.hasElse && construct.isReachable) {
      this.#isReachable = true;
      return;
    }
    this.#isReachable = construct.atEnd !== null;
    for (const local of construct.atEnd ?? []) this.#assign(local);
  }

  #branch(distance: number): void {
    if (!this.#isReachable) return;
    const construct = this.#open[this.#open.length - 1 - distance];
    if (construct === undefined) {
      this.#exits.add(distance - this.#open.length);
      this.#leave();
    } else if (construct.opcode !== opcodes.loop) this.#reachEnd(construct);
  }

  #reachEnd(construct: Construct): void {
    const { atEnd, before } = construct;
    construct.atEnd = atEnd === null ? this.#assigned.slice(before) : this.#assignedOf(atEnd);
  }

  #leave(): void {
    this.#certain = this.#certain === null ? [...this.#assigned] : this.#assignedOf(this.#certain);
  }

  #assignedOf(locals: readonly number[]): readonly number[] {
    let count = 0;
    for (let i = 0; i < locals.length; i++) count += this.#isAssigned[locals[i]!]!;
    return count === locals.length ? locals : locals.filter((local) => this.#isAssigned[local] === 1);
  }

  /** Only the first locals are certainly assigned. */
  #forget(count: number): void {
    for (let i = count; i < this.#assigned.length; i++) this.#isAssigned[this.#assigned[i]!] = 0;
    this.#assigned.length = count;
  }
}
