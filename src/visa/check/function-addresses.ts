import type { ControlKind } from "../isa/execution.ts";
import { controlOf } from "../isa/row.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";
import type { GeneralOperand, Instruction, Operand } from "../tree.ts";
import { typeBytes } from "../types.ts";
import { controlFlow } from "./control-flow.ts";
import { channelsOf } from "./routine-context.ts";

/** An indirect call and the functions whose addresses may be in its operand. */
export interface TracedCall {
  readonly call: Instruction;
  /** Names of these functions, sorted. */
  readonly names: readonly string[];
  /** Whether the operand can hold nothing else. */
  readonly certain: boolean;
}

/** The possible content of a location. `names` is null if there are too many functions to track. */
interface Value {
  readonly names: ReadonlySet<string> | null;
  /** Whether it may be something else as well. */
  readonly open: boolean;
}

/** By location (`Location.key`). One that is absent may hold anything. */
type State = Map<number, Value>;

const maxNames = 8;
const maxLocations = 64;
/** How often each instruction may be visited, on average, before the analysis gives up. */
const maxVisits = 32;
/** Bytes of each root variable that are tracked: more than a variable can have. */
const variableBytes = 0x1_0000;

/**
 * Follows the results of `faddr` through moves and selections to indirect calls: a forward data-flow analysis. Whatever
 * it does not understand, or a subroutine may have changed, may hold anything. Calls of which nothing is known are left
 * out.
 */
export function traceAddresses(routine: BoundRoutine): readonly TracedCall[] {
  const has = (control: ControlKind): boolean => routine.instructions.some(({ row }) => controlOf(row) === control);
  return has("address") && has("file-call-indirect") ? new Tracer(routine).trace() : [];
}

class Tracer {
  readonly #routine: BoundRoutine;
  readonly #calls: TracedCall[] = [];
  #budget: number;

  constructor(routine: BoundRoutine) {
    this.#routine = routine;
    this.#budget = maxVisits * routine.instructions.length;
  }

  trace(): readonly TracedCall[] {
    const { instructions, labels } = this.#routine;
    const { successors } = controlFlow(this.#routine);
    const leaders = new Uint8Array(instructions.length + 1);
    const entries = new Map<number, State>([[0, new Map()]]);
    for (const { at, kind } of labels.values()) {
      leaders[at] = 1;
      if (kind === "subroutine") entries.set(at, new Map());
    }
    const follow = (from: number, report: boolean): readonly number[] => {
      const state = new Map(entries.get(from)!);
      for (let at = from; at < instructions.length; at++) {
        if (at > from && leaders[at] === 1) return this.#flow(entries, [at], state);
        this.#budget--;
        this.#step(instructions[at]!, state, report);
        const next = successors[at]!;
        if (next.length !== 1 || next[0] !== at + 1) {
          for (const index of next) leaders[index] = 1;
          return this.#flow(entries, next, state);
        }
      }
      return [];
    };
    const open = [...entries.keys()];
    for (let from = open.pop(); from !== undefined; from = open.pop()) {
      if (from < instructions.length) for (const next of follow(from, false)) open.push(next);
      if (this.#budget < 0) return [];
    }
    for (const from of [...entries.keys()]) if (from < instructions.length) follow(from, true);
    return this.#calls;
  }

  /** Joins a state into those of the successors; returns the successors whose state changed. */
  #flow(entries: Map<number, State>, targets: readonly number[], state: State): readonly number[] {
    return targets.filter((target) => {
      const old = entries.get(target);
      if (old === undefined) {
        entries.set(target, new Map(state));
        return true;
      }
      return joinStates(old, state);
    });
  }

  #step(instruction: Instruction, state: State, report: boolean): void {
    const { row, operands } = instruction;
    const control = controlOf(row);
    switch (control) {
      case "address":
        this.#address(operands["dst"], operands["routine"], state);
        return;
      case "call":
        state.clear();
        return;
      case "file-call-indirect":
        if (report) this.#call(instruction, operands["address"], state);
        this.#forgetPassed(state);
        return;
      case "file-call":
        this.#forgetPassed(state);
        return;
      case "branch":
      case "branch-indexed":
      case "return":
      case "file-return":
      case null:
        if (row.name === "MOV" || row.name === "SEL") this.#move(instruction, state);
        else this.#write(instruction, state);
        return;
      default:
        control satisfies never;
    }
  }

  /** What a function gets and gives back may be anything after a call. */
  #forgetPassed(state: State): void {
    for (const { name, index } of this.#routine.variables) {
      if (name === "%arg" || name === "%retval") forget(state, index, 0, variableBytes, false);
      if (name === "%fp") break;
    }
  }

  #call(call: Instruction, address: Operand | undefined, state: State): void {
    if (address?.kind !== "general") return;
    const location = this.#locate(address);
    const value = location === null ? undefined : state.get(location.key);
    if (value?.names == null || value.names.size === 0) return;
    this.#calls.push({ call, names: [...value.names].sort(), certain: !value.open });
  }

  #address(dst: Operand | undefined, name: Operand | undefined, state: State): void {
    const location = dst?.kind === "general" ? this.#locate(dst) : null;
    if (location === null || name?.kind !== "name") {
      state.clear();
      return;
    }
    forget(state, location.root.index, location.offset, location.offset + location.bytes, false);
    set(state, location.key, { names: new Set([name.name.text]), open: false });
  }

  /** Elements move lane by lane. Under a mask or predicate the old value may stay. */
  #move(instruction: Instruction, state: State): void {
    const { row, operands, predicate, exec, saturate } = instruction;
    const { dst } = operands;
    const keys = row.name === "SEL" ? (["src0", "src1"] as const) : (["src0"] as const);
    const sources = keys.map((key) => operands[key]);
    const to = dst?.kind === "general" ? this.#locate(dst) : null;
    const integers = to !== null && /^u?[dq]$/.test(to.variable.type) && !saturate;
    if (dst?.kind !== "general" || !integers) {
      this.#write(instruction, state);
      return;
    }
    const channels = channelsOf(instruction);
    const values = Array.from({ length: channels }, (_, lane) => {
      const found = sources.map((source) => this.#element(source, lane, state));
      return found.reduce((a, b) => join(a, b));
    });
    const weak = row.name === "MOV" && predicate !== null;
    const masked = exec?.noMask === false;
    const stride = (dst.region.horizontal ?? 1) * to.bytes;
    const before = values.map((_, lane) => state.get(to.key + lane * stride));
    forget(state, to.root.index, to.offset, to.offset + (channels - 1) * stride + to.bytes, false);
    for (const [lane, value] of values.entries()) {
      const written = weak ? join(before[lane], value) : value;
      if (written === undefined || to.offset + lane * stride >= variableBytes) continue;
      set(state, to.key + lane * stride, masked ? { ...written, open: true } : written);
    }
  }

  /** The possible content of an element of a source; undefined if it may be anything. */
  #element(source: Operand | undefined, lane: number, state: State): Value | undefined {
    if (source?.kind !== "general" || source.modifier !== null) return undefined;
    const location = this.#locate(source);
    if (location === null || !/^u?[dq]$/.test(location.variable.type)) return undefined;
    const { vertical, width, horizontal } = source.region;
    const row = Math.floor(lane / (width ?? 1));
    const element = row * (vertical ?? 0) + (lane % (width ?? 1)) * (horizontal ?? 0);
    const offset = location.offset + element * location.bytes;
    return offset < variableBytes ? state.get(location.key - location.offset + offset) : undefined;
  }

  /** Forgets what any other instruction writes. */
  #write(instruction: Instruction, state: State): void {
    const { row, operands, predicate } = instruction;
    for (const [key, operand] of Object.entries(operands)) {
      const spec = row.operands[key];
      if (spec === undefined || !("role" in spec) || spec.role !== "dst") continue;
      if (operand.kind === "indirect") state.clear();
      if (operand.kind === "raw" || operand.kind === "lsc-data") {
        const raw = operand.kind === "raw" ? operand : operand.register;
        const root = this.#routine.variableOf.get(raw.variable)?.root;
        if (root !== undefined) forget(state, root.index, 0, variableBytes, false);
      }
      const location = operand.kind === "general" ? this.#locate(operand) : null;
      if (location === null || operand.kind !== "general") continue;
      const last = (channelsOf(instruction) - 1) * (operand.region.horizontal ?? 1);
      const { root, offset, bytes } = location;
      forget(state, root.index, offset, offset + (last + 1) * bytes, predicate !== null);
    }
  }

  #locate(operand: GeneralOperand): Location | null {
    const variable = this.#routine.variableOf.get(operand.variable);
    if (variable === undefined || variable.kind !== "G") return null;
    const bytes = typeBytes(variable.type);
    const offset = variable.rootOffset + operand.row * this.#routine.grfBytes + operand.column * bytes;
    if (offset < 0 || offset >= variableBytes) return null;
    return { variable, root: variable.root, bytes, offset, key: variable.root.index * variableBytes + offset };
  }
}

/** A byte of a root variable. */
interface Location {
  readonly variable: Variable;
  readonly root: Variable;
  /** Bytes of an element. */
  readonly bytes: number;
  readonly offset: number;
  /** The key in a `State`: unique for each byte of each root variable. */
  readonly key: number;
}

/**
 * Sets the value of a location. If there are too many locations the state is cleared: then all of them may hold
 * anything.
 */
function set(state: State, key: number, value: Value): void {
  state.set(key, value);
  if (state.size > maxLocations) state.clear();
}

/** Forgets bytes `from` to `to` of a variable; if `maybe`, they hold either what they held or anything. */
function forget(state: State, root: number, from: number, to: number, maybe: boolean): void {
  for (const [key, value] of state) {
    const offset = key - root * variableBytes;
    // The lower half of an address identifies the function.
    if (offset + 3 < from || offset >= to || offset < 0 || offset >= variableBytes) continue;
    if (maybe) state.set(key, { ...value, open: true });
    else state.delete(key);
  }
}

/** Joins the contents of a location where two paths meet. */
function join(a: Value | undefined, b: Value | undefined): Value | undefined {
  if (a === undefined || b === undefined) {
    const some = a ?? b;
    return some === undefined ? undefined : { ...some, open: true };
  }
  const names = a.names === null || b.names === null ? null : new Set([...a.names, ...b.names]);
  return { names: names !== null && names.size > maxNames ? null : names, open: a.open || b.open };
}

/** Joins `state` into `old`; returns whether that changes it. */
function joinStates(old: State, state: State): boolean {
  let changed = false;
  for (const key of new Set([...old.keys(), ...state.keys()])) {
    const before = old.get(key);
    const after = join(before, state.get(key))!;
    const same = before !== undefined && before.open === after.open && before.names?.size === after.names?.size;
    if (same) continue;
    old.set(key, after);
    changed = true;
  }
  return changed;
}
