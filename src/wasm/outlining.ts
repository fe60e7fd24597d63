import { ByteWriter } from "./bytes.ts";
import { type CodeEvents, endOf, opcodes } from "./code-events.ts";
import type { FunctionBody, RareCode, WrittenBody } from "./function-body.ts";
import { type CodeRange, LiveLocals } from "./live-locals.ts";
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
export function outline(body: WrittenBody, name: string, limits: OutliningLimits): OutlinedBodies {
  const { length } = body.code;
  const largest = length < limits.smallest ? [] : outermost(body.rare, limits.fewestBytes);
  const bytes = largest.reduce((sum, { from, to }) => sum + to - from, 0);
  if (bytes === 0 || bytes < limits.leastShare * length) return { own: body, rare: new Map() };
  return new Outliner(body, name).outline(largest, limits);
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

  constructor(body: WrittenBody, name: string) {
    this.#body = body;
    this.#events = body.events;
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
    const live = new LiveLocals(this.#events, written, found);
    return found.flatMap((range, i) => {
      const { needs } = range;
      const results = [...needs.written].filter((local) => live.isLiveAfter(i, local));
      const params = [...new Set([...needs.read, ...results.filter((local) => !needs.certain.has(local))])];
      // A branch to the end of the construct of which it is the last part goes where the code ends anyway.
      const exits = needs.exits.filter((label) => label > 0 || !this.#isLast(range));
      const values = params.length + results.length;
      const isWorth =
        range.to - range.from >= bytesForValue * values && Math.max(params.length, results.length) < maxValues;
      return isWorth ? [{ ...range, name: `${this.#name}:rare${i}`, params, results, exits }] : [];
    });
  }

  /**
   * Whether a range is the end of a block, or of a branch of a condition, so that what is executed next is after the
   * construct, where its label is. The label of a loop is at its beginning.
   */
  #isLast({ first, end, to }: CodeRange & RareCode): boolean {
    const { opcode, from } = this.#events;
    if (from[end] !== to) return false;
    if (opcode[end] !== opcodes.end) return opcode[end] === opcodes.else;
    let depth = 0;
    for (let i = first - 1; ; i--) {
      const code = opcode[i];
      if (code === opcodes.end) depth++;
      else if ((code === opcodes.block || code === opcodes.loop || code === opcodes.if) && depth-- === 0)
        return code !== opcodes.loop;
    }
  }

  /** The function that a candidate becomes. */
  #bodyOf(candidate: Candidate): FunctionBody {
    const { first, end, from, to, params, results, exits } = candidate;
    const { opcode, operand, from: starts } = this.#events;
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
    const calls = placesIn(this.#body.calls, from + 1, to + 1);
    const hints = placesIn(this.#body.hints, from, to);
    const copy = new Copier(this.#body.code.bytes, code, from, calls, hints);
    let depth = 0;
    for (let i = first; i < end; i++) {
      const kind = opcode[i]!;
      const value = operand[i]!;
      if (isLocal(kind)) {
        if (kind !== opcodes.get) merges.assigned();
        copy.replace(starts[i]!, endOf(starts[i]!, value));
        code.byte(kind);
        code.unsigned(numberOf(value));
        continue;
      }
      const leaves = (kind === opcodes.br || kind === opcodes.brIf) && value >= depth;
      if (kind === opcodes.block || kind === opcodes.loop || kind === opcodes.if) depth++;
      else if (kind === opcodes.end) depth--;
      countMerges(merges, this.#events, i, locals.length);
      if (leaves) {
        copy.replace(starts[i]!, endOf(starts[i]!, value));
        writeExit(code, kind === opcodes.brIf, depth, exit, exits.indexOf(value - depth) + 1);
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
      calls: copy.calls,
      hints: copy.hints,
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
    const copy = new Copier(own.bytes, code, 0, outside(calls, candidates, 1), outside(hints, candidates, 0));
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
    return {
      params,
      results,
      code,
      locals,
      calls: [...copy.calls, ...added].sort((a, b) => a.at - b.at),
      hints: copy.hints,
      merges: { values: left("values"), labels: left("labels"), loops: left("loops") },
    };
  }
}

const isLocal = (kind: number): boolean => kind === opcodes.get || kind === opcodes.set || kind === opcodes.tee;

/** A place in code, of which something is known. */
interface Place {
  readonly at: number;
}

/** How many of some places, which are in order, come before a position. */
function countBefore(places: readonly Place[], position: number): number {
  let [least, most] = [0, places.length];
  while (least < most) {
    const middle = (least + most) >>> 1;
    if (places[middle]!.at < position) least = middle + 1;
    else most = middle;
  }
  return least;
}

/** The places from one position up to, but not including, another one. */
function placesIn<T extends Place>(places: readonly T[], from: number, to: number): readonly T[] {
  return places.slice(countBefore(places, from), countBefore(places, to));
}

/** The places of instructions in no range; these are in order. `after`: how far the places are after their opcodes. */
function outside<T extends Place>(places: readonly T[], ranges: readonly RareCode[], after: number): readonly T[] {
  const left: T[] = [];
  let from = 0;
  for (const range of ranges) {
    left.push(...placesIn(places, from, range.from + after));
    from = range.to + after;
  }
  left.push(...placesIn(places, from, Number.POSITIVE_INFINITY));
  return left;
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

/** Counts what an event merges that directs control. */
function countMerges(merges: MergeCount, { opcode, operand, tables }: CodeEvents, i: number, locals: number): void {
  switch (opcode[i]) {
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

/** Copies code, some of it replaced, and places in it: those of the indices of calls, and of hints. */
class Copier {
  /** Where they are now; also those where something has been replaced. */
  readonly calls: FunctionBody["calls"][number][] = [];
  readonly hints: FunctionBody["hints"][number][] = [];
  readonly #from: Uint8Array;
  readonly #to: ByteWriter;
  #at: number;
  readonly #oldCalls: FunctionBody["calls"];
  readonly #oldHints: FunctionBody["hints"];
  /** The first place that has not been copied yet. */
  #nextPlace: number;

  constructor(
    from: Uint8Array,
    to: ByteWriter,
    at: number,
    calls: FunctionBody["calls"],
    hints: FunctionBody["hints"],
  ) {
    this.#from = from;
    this.#to = to;
    this.#at = at;
    this.#oldCalls = calls;
    this.#oldHints = hints;
    this.#nextPlace = this.#next();
  }

  upTo(end: number): void {
    if (this.#nextPlace <= end) this.#movePlaces(end, this.#to.length - this.#at);
    this.#to.appendPart(this.#from, this.#at, end);
    this.#at = end;
  }

  #movePlaces(end: number, by: number): void {
    const [calls, hints] = [this.#oldCalls, this.#oldHints];
    for (let call = calls[this.calls.length]; call !== undefined && call.at <= end; call = calls[this.calls.length])
      this.calls.push({ ...call, at: call.at + by });
    for (let hint = hints[this.hints.length]; hint !== undefined && hint.at <= end; hint = hints[this.hints.length])
      this.hints.push({ ...hint, at: hint.at + by });
    this.#nextPlace = this.#next();
  }

  #next(): number {
    const [call, hint] = [this.#oldCalls[this.calls.length], this.#oldHints[this.hints.length]];
    return Math.min(call?.at ?? Number.POSITIVE_INFINITY, hint?.at ?? Number.POSITIVE_INFINITY);
  }

  /** Copies what comes before a range, which something else replaces. */
  replace(from: number, to: number): void {
    this.upTo(from);
    this.#at = to;
  }
}
