import { ByteWriter } from "./bytes.ts";
import { type CodeEvents, codeEvents, opcodes } from "./code-events.ts";
import type { FunctionBody, RareCode } from "./function-body.ts";
import { type CodeRange, liveAfter } from "./live-locals.ts";
import { MergeCount } from "./merge-count.ts";
import type { WasmTy } from "./operation.ts";
import { needsOf, type RangeNeeds } from "./rare-code.ts";

/** What is worth a function of its own. */
export interface OutliningLimits {
  /** The size of the smallest function that is divided, in bytes: hosts are quick with others. */
  readonly smallest: number;
  /** The least part of it that is hardly ever executed. */
  readonly leastShare: number;
  /** The fewest bytes of the code that becomes a function. */
  readonly fewestBytes: number;
  /** The fewest bytes of it for each value that is passed, which takes about three instructions. */
  readonly bytesForValue: number;
}

export const usualOutlining: OutliningLimits = {
  smallest: 0x1_0000,
  leastShare: 1 / 6,
  fewestBytes: 1024,
  bytesForValue: 32,
};

/** Values that functions take, or return, at most. Hosts allow a thousand. */
const maxValues = 500;

/** A function, and those that it calls in place of code that is hardly ever executed. */
export interface OutlinedBodies {
  readonly own: FunctionBody;
  readonly rare: ReadonlyMap<string, FunctionBody>;
}

/** Code that becomes a function. */
interface Candidate extends CodeRange, RareCode {
  readonly name: string;
  readonly needs: RangeNeeds;
  /** Locals whose values it is given. */
  readonly params: readonly number[];
  /** Locals whose values it returns. */
  readonly results: readonly number[];
  /** The labels to which it may branch, other than where it ends, in the order of their numbers from 1. */
  readonly exits: readonly number[];
}

/**
 * Makes functions of code that is hardly ever executed. Hosts compile a function when it is first called, and optimize
 * it once it has been executed often; both take as long as there is code, and nothing for what is never executed.
 * `name`: of the function, with which those of the new ones begin.
 */
export function outline(body: FunctionBody, name: string, limits: OutliningLimits): OutlinedBodies {
  const { length } = body.code;
  const largest = length < limits.smallest ? [] : outermost(body.rare, limits.fewestBytes);
  const bytes = largest.reduce((sum, { from, to }) => sum + to - from, 0);
  if (bytes === 0 || bytes < limits.leastShare * length) return { own: body, rare: new Map() };
  return new Outliner(body, codeEvents(body.code.bytes), name).outline(largest, limits);
}

/** Those that are long enough and not part of another, in order. */
function outermost(rare: readonly RareCode[], fewestBytes: number): readonly RareCode[] {
  let end = 0;
  return rare
    .filter(({ from, to }) => to - from >= fewestBytes)
    .sort((a, b) => a.from - b.from || b.to - a.to)
    .filter(({ from, to }) => {
      if (from < end) return false;
      end = to;
      return true;
    });
}

class Outliner {
  readonly #body: FunctionBody;
  readonly #events: CodeEvents;
  readonly #name: string;
  readonly #types: readonly WasmTy[];

  constructor(body: FunctionBody, events: CodeEvents, name: string) {
    this.#body = body;
    this.#events = events;
    this.#name = name;
    this.#types = [...body.params, ...body.locals];
  }

  outline(rare: readonly RareCode[], { bytesForValue }: OutliningLimits): OutlinedBodies {
    const candidates = this.#candidates(rare, bytesForValue);
    const bodies = new Map(candidates.map((candidate) => [candidate.name, this.#bodyOf(candidate)]));
    return {
      own: candidates.length === 0 ? this.#body : this.#withCalls(candidates, [...bodies.values()]),
      rare: bodies,
    };
  }

  #candidates(rare: readonly RareCode[], bytesForValue: number): readonly Candidate[] {
    const { count, from: starts } = this.#events;
    let next = 0;
    const firstFrom = (position: number): number => {
      while (next < count && starts[next]! < position) next++;
      return next;
    };
    const found = rare.flatMap(({ from, to }) => {
      const range = { first: firstFrom(from), end: firstFrom(to) };
      const needs = needsOf(this.#events, this.#types.length, range);
      return needs === null || range.first === range.end ? [] : [{ from, to, ...range, needs }];
    });
    const written = new Set(found.flatMap(({ needs }) => [...needs.written]));
    const live = liveAfter(this.#events, written, found);
    return found.flatMap((range, i) => {
      const { needs, end } = range;
      const results = [...needs.written].filter((local) => live[i]!.has(local));
      const params = [...new Set([...needs.read, ...results.filter((local) => !needs.certain.has(local))])];
      // A branch to the end of the construct of which it is the last part goes where the code ends anyway.
      const last = this.#events.opcode[end];
      const endsThere = last === opcodes.else || (last === opcodes.end && !this.#endsLoop(end));
      const isLast = endsThere && starts[end] === range.to;
      const exits = needs.exits.filter((label) => label > 0 || !isLast);
      const values = params.length + results.length;
      const isWorth =
        range.to - range.from >= bytesForValue * values && Math.max(params.length, results.length) < maxValues;
      return isWorth ? [{ ...range, name: `${this.#name}:rare${i}`, params, results, exits }] : [];
    });
  }

  /** Whether what ends there is a loop, to whose beginning its label leads. */
  #endsLoop(end: number): boolean {
    const { opcode } = this.#events;
    let depth = 0;
    for (let i = end - 1; ; i--) {
      const code = opcode[i];
      if (code === opcodes.end) depth++;
      else if ((code === opcodes.block || code === opcodes.loop || code === opcodes.if) && depth-- === 0)
        return code === opcodes.loop;
    }
  }

  /** The function that a candidate becomes. */
  #bodyOf(candidate: Candidate): FunctionBody {
    const { first, end, from, to, params, results, exits } = candidate;
    const { opcode, operand, from: starts, to: ends } = this.#events;
    const code = new ByteWriter();
    const locals: WasmTy[] = [];
    const numbers = new Int32Array(this.#types.length).fill(-1);
    params.forEach((local, i) => {
      numbers[local] = i;
    });
    const numberOf = (local: number): number => {
      if (numbers[local] === -1) numbers[local] = params.length + locals.push(this.#types[local]!) - 1;
      return numbers[local]!;
    };
    const exit = exits.length === 0 ? null : params.length + locals.push("i32") - 1;
    const merges = new MergeCount();
    code.append([opcodes.block, 0x40]);
    merges.begin("block");
    const copy = new Copier(this.#body.code.bytes, code, from);
    let depth = 0;
    for (let i = first; i < end; i++) {
      const kind = opcode[i]!;
      const value = operand[i]!;
      const leaves = (kind === opcodes.br || kind === opcodes.brIf) && value >= depth;
      if (kind === opcodes.block || kind === opcodes.loop || kind === opcodes.if) depth++;
      else if (kind === opcodes.end) depth--;
      countMerges(merges, this.#events, i, locals.length);
      if (leaves) {
        copy.replace(starts[i]!, ends[i]!);
        writeExit(code, kind === opcodes.brIf, depth, exit, exits.indexOf(value - depth) + 1);
      } else if (isLocal(kind)) {
        copy.replace(starts[i]!, ends[i]!);
        code.byte(kind);
        code.unsigned(numberOf(value));
      }
    }
    copy.upTo(to);
    code.byte(opcodes.end);
    merges.end(locals.length);
    for (const local of [...(exit === null ? [] : [exit]), ...results.map(numberOf)]) {
      code.byte(opcodes.get);
      code.unsigned(local);
    }
    return {
      params: this.#typesOf(params),
      results: [...(exit === null ? [] : (["i32"] as const)), ...this.#typesOf(results)],
      code,
      locals,
      rare: [],
      calls: copy.moved(this.#body.calls.filter(({ at }) => isCallIn(candidate, at))),
      hints: copy.moved(this.#body.hints.filter(({ at }) => isIn(candidate, at))),
      merges,
    };
  }

  #typesOf(locals: readonly number[]): WasmTy[] {
    return locals.map((local) => this.#types[local]!);
  }

  /** The function with calls in place of the candidates. */
  #withCalls(candidates: readonly Candidate[], functions: readonly FunctionBody[]): FunctionBody {
    const { calls, hints, params, results, code: own, merges } = this.#body;
    const code = new ByteWriter();
    const locals = [...this.#body.locals];
    const added: { readonly at: number; readonly callee: string }[] = [];
    const copy = new Copier(own.bytes, code, 0);
    for (const { from, to, params: given, results: returned, exits, name } of candidates) {
      copy.replace(from, to);
      const writeLocal = (kind: number, local: number): void => {
        code.byte(kind);
        code.unsigned(local);
      };
      for (const local of given) writeLocal(opcodes.get, local);
      code.byte(opcodes.call);
      added.push({ at: code.length, callee: name });
      for (const local of returned.toReversed()) writeLocal(opcodes.set, local);
      if (exits.length === 0) continue;
      const exit = params.length + locals.push("i32") - 1;
      writeLocal(opcodes.set, exit);
      code.append([opcodes.block, 0x40]);
      writeLocal(opcodes.get, exit);
      code.byte(opcodes.brTable);
      for (const number of [exits.length, 0, ...exits.map((label) => label + 1)]) code.unsigned(number);
      code.byte(opcodes.end);
    }
    copy.upTo(own.length);
    const left = (count: "values" | "labels" | "loops"): number =>
      Math.max(
        0,
        functions.reduce((rest, f) => rest - f.merges[count], merges[count]),
      );
    const moved = copy.moved(outside(calls, candidates, isCallIn));
    return {
      params,
      results,
      code,
      locals,
      rare: [],
      calls: [...moved, ...added].sort((a, b) => a.at - b.at),
      hints: copy.moved(outside(hints, candidates, isIn)),
      merges: { values: left("values"), labels: left("labels"), loops: left("loops") },
    };
  }
}

const isLocal = (kind: number): boolean => kind === opcodes.get || kind === opcodes.set || kind === opcodes.tee;

/** Whether an instruction begins in a range. */
const isIn = ({ from, to }: RareCode, at: number): boolean => at >= from && at < to;

/** The same of a call; `at` is after its opcode. */
const isCallIn = (range: RareCode, at: number): boolean => isIn(range, at - 1);

/** The places in no range; both are in order. */
function outside<T extends { readonly at: number }>(
  places: readonly T[],
  ranges: readonly RareCode[],
  isInside: typeof isIn,
): readonly T[] {
  let next = 0;
  return places.filter(({ at }) => {
    while (next < ranges.length && ranges[next]!.to < at) next++;
    return next === ranges.length || !isInside(ranges[next]!, at);
  });
}

/** A branch out of code that has become a function: notes where it goes, by a number that is 0 for the end. */
function writeExit(code: ByteWriter, isConditional: boolean, depth: number, exit: number | null, number: number): void {
  if (number === 0) {
    code.byte(isConditional ? opcodes.brIf : opcodes.br);
    code.unsigned(depth);
    return;
  }
  if (isConditional) code.append([opcodes.if, 0x40]);
  code.byte(0x41);
  code.signed32(number);
  code.byte(opcodes.set);
  code.unsigned(exit!);
  code.byte(opcodes.br);
  code.unsigned(depth + Number(isConditional));
  if (isConditional) code.byte(opcodes.end);
}

/** Counts what an event merges. */
function countMerges(merges: MergeCount, { opcode, operand, tables }: CodeEvents, i: number, locals: number): void {
  switch (opcode[i]) {
    case opcodes.set:
    case opcodes.tee:
      merges.assigned();
      break;
    case opcodes.block:
      merges.begin("block");
      break;
    case opcodes.loop:
      merges.begin("loop");
      break;
    case opcodes.if:
      merges.begin("if");
      break;
    case opcodes.end:
      merges.end(locals);
      break;
    case opcodes.br:
    case opcodes.brIf:
      merges.branchBy(operand[i]!);
      break;
    case opcodes.brTable:
      for (const distance of tables[operand[i]!]!) merges.branchBy(distance);
  }
}

/** Copies code, some of it replaced. */
class Copier {
  readonly #from: Uint8Array;
  readonly #to: ByteWriter;
  #at: number;
  /** The ends of what has been copied, and how far each has moved. */
  readonly #ends: number[] = [];
  readonly #moves: number[] = [];

  constructor(from: Uint8Array, to: ByteWriter, at: number) {
    this.#from = from;
    this.#to = to;
    this.#at = at;
  }

  upTo(end: number): void {
    this.#ends.push(end);
    this.#moves.push(this.#to.length - this.#at);
    // Most pieces have few bytes.
    if (end - this.#at > 64) this.#to.append(this.#from.subarray(this.#at, end));
    else for (let at = this.#at; at < end; at++) this.#to.byte(this.#from[at]!);
    this.#at = end;
  }

  /** Copies what comes before a range, which something else replaces. */
  replace(from: number, to: number): void {
    this.upTo(from);
    this.#at = to;
  }

  /** Places in what has been copied, in order, as they are now; also those where something has been replaced. */
  moved<T extends { readonly at: number }>(places: readonly T[]): readonly T[] {
    let i = 0;
    return places.map((place) => {
      while (this.#ends[i]! < place.at) i++;
      return { ...place, at: place.at + this.#moves[i]! };
    });
  }
}
