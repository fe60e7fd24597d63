import { registersIn } from "../module.ts";
import { type Expr, kit } from "../../semantics/index.ts";
import { argAt, retvalAt } from "../byte-file.ts";
import type { FileCallOp } from "../calls.ts";
import type { Argument, Instruction, Op, Result } from "../instruction.ts";
import type { FileHome, IrFunction, Param, Register } from "../module.ts";
import { signatureOf, type Signature } from "../signature.ts";
import { flowGraphOf } from "./flow-graph.ts";
import { isPassed } from "./lane-promotion.ts";
import { livenessOf } from "./liveness.ts";
import { readsOf } from "./accesses.ts";

/** Which functions calls go to. */
export interface RoutineCalls {
  readonly named: (name: string) => IrFunction | null;
  /** The functions that a call by address may go to: those whose address is taken, and whose sizes are the call's. */
  readonly byAddress: (op: FileCallOp) => readonly IrFunction[];
}

/** The functions that a call may go to; none if it names an undefined one. */
export function targetsOf({ target, ...op }: FileCallOp, calls: RoutineCalls): readonly IrFunction[] {
  if (target.kind === "indirect") return calls.byAddress({ ...op, target });
  const callee = calls.named(target.function);
  return callee === null ? [] : [callee];
}

/** A part of %arg or %retval, in one place in all routines: a row of lanes, or an element that lanes share. */
type Row = FileHome;

/** What functions take and give back that are called alike. */
interface Convention {
  params: readonly Row[];
  returns: readonly Row[];
}

/** A routine whose file has become registers, before its calls have. */
export interface CallingRoutine {
  /** As the program has it. */
  readonly source: IrFunction;
  readonly ir: IrFunction;
}

/**
 * Makes calls of vISA calls like those of PTX: parts of %arg and %retval, which are registers now, become arguments and
 * results. A function takes what may be read before it is written, and gives back what may have been written. Null if
 * routines disagree about a part, or if a call passes what work items do not have each for themselves. Threads have
 * `width` lanes.
 */
export function withPassedRows(
  routines: readonly CallingRoutine[],
  calls: RoutineCalls,
  width: number,
): readonly IrFunction[] | null {
  const passing = new RowPassing(routines, calls, width);
  return passing.isPossible ? passing.settled() : null;
}

class RowPassing {
  readonly isPossible: boolean;
  readonly #routines: readonly CallingRoutine[];
  readonly #calls: RoutineCalls;
  readonly #width: number;
  /** By function; those that one call by address may go to share theirs. */
  readonly #conventions = new Map<IrFunction, Convention>();
  /** By routine, its registers and, by the byte where it begins, the one for each part. */
  readonly #registers = new Map<IrFunction, { readonly all: Register[]; readonly at: Map<number, number> }>();

  constructor(routines: readonly CallingRoutine[], calls: RoutineCalls, width: number) {
    this.#routines = routines;
    this.#calls = calls;
    this.#width = width;
    const rows = new Map<number, Row>();
    let agree = true;
    for (const { source, ir } of routines) {
      const at = new Map<number, number>();
      for (const [r, { home }] of ir.registers.entries()) {
        if (home === undefined || !isPassed(home.at, source)) continue;
        at.set(home.at, r);
        const known = rows.get(home.at) ?? home;
        agree &&= known.bits === home.bits && (known.lanes === null) === (home.lanes === null);
        rows.set(home.at, known);
      }
      this.#registers.set(source, { all: [...ir.registers], at });
      if (source.kind === "function") this.#conventions.set(source, { params: [], returns: [] });
    }
    this.isPossible = agree && this.#joinTargets() && this.#callsOf().every(({ of, op }) => this.#isPassable(of, op));
  }

  /** The routines with calls, once all agree on what is passed. */
  settled(): readonly IrFunction[] | null {
    while (this.#addReturns());
    for (;;) {
      const written = this.#routines.map((routine) => this.#written(routine));
      const isNew = written.map((ir, i) => this.#addParams(this.#routines[i]!.source, ir));
      if (isNew.includes(true)) continue;
      const isSafe =
        this.#areOwn() && written.every((ir, i) => !readsDestroyed(ir, this.#routines[i]!.source, this.#width));
      return isSafe ? written : null;
    }
  }

  /** Whether lanes give back values of their own: one that all share would change for lanes that do not call, too. */
  #areOwn(): boolean {
    return [...this.#conventions.values()].every(({ returns }) => returns.every(({ lanes }) => lanes !== null));
  }

  // ---- Who is called -----------------------------------------------------------------------------------------------

  #callsOf(): readonly { readonly of: IrFunction; readonly op: FileCallOp }[] {
    return this.#routines.flatMap(({ source, ir }) =>
      ir.instructions.flatMap(({ op }) => (op.kind === "file-call" ? [{ of: source, op }] : [])),
    );
  }

  /**
   * Lets functions that one call may go to share a convention. False if one is called that is not among the routines.
   */
  #joinTargets(): boolean {
    return this.#callsOf().every(({ op }) => {
      const targets = targetsOf(op, this.#calls);
      const [first] = targets;
      if (first === undefined || !targets.every((f) => this.#conventions.has(f))) return false;
      const joined = this.#conventions.get(first)!;
      for (const f of targets.slice(1)) {
        const other = this.#conventions.get(f);
        for (const [g, convention] of this.#conventions) if (convention === other) this.#conventions.set(g, joined);
      }
      return true;
    });
  }

  /**
   * Whether a call passes whole parts. A scalar call begins with all lanes of the thread, which a function that not all
   * have entered cannot know.
   */
  #isPassable({ kind, file }: IrFunction, { argSize, retvalSize, allLanes, noreturn }: FileCallOp): boolean {
    const { grfBytes } = file!;
    const ends = [argAt + argSize * grfBytes, retvalAt(grfBytes) + retvalSize * grfBytes];
    const isCut = [...this.#registers.values()].some(({ at, all }) =>
      [...at.values()].some((r) => ends.some((end) => isAcross(all[r]!.home!, end))),
    );
    return !isCut && noreturn !== true && !(allLanes && kind === "function");
  }

  // ---- What is passed -----------------------------------------------------------------------------------------------

  /** Adds to what functions give back what they write, or functions that they call. Returns whether that was new. */
  #addReturns(): boolean {
    let isNew = false;
    for (const { source, ir } of this.#routines) {
      if (source.kind !== "function") continue;
      const { all } = this.#registers.get(source)!;
      const start = retvalAt(source.file!.grfBytes);
      const written = ir.instructions.flatMap(({ op, dst }): readonly Row[] => {
        if (op.kind === "file-call") return this.#returnsOf(source, op);
        return dst.flatMap((to) => (typeof to === "number" && all[to]!.home !== undefined ? [all[to]!.home] : []));
      });
      const returned = written.filter(({ at }) => at >= start && isPassed(at, source));
      isNew = this.#add(source, "returns", returned) || isNew;
    }
    return isNew;
  }

  /** What a call gives back. */
  #returnsOf({ file }: IrFunction, op: FileCallOp): readonly Row[] {
    const end = retvalAt(file!.grfBytes) + op.retvalSize * file!.grfBytes;
    return this.#conventionFor(op).returns.filter(({ at }) => at < end);
  }

  /** Adds to what a function takes what is read before it is written. Returns whether that was new. */
  #addParams(source: IrFunction, { instructions, registers, returns }: IrFunction): boolean {
    if (source.kind !== "function") return false;
    const atEnd = registersIn(returns);
    const live = livenessOf({ instructions, registers }, flowGraphOf(instructions), atEnd).liveIn(0);
    const read: Row[] = [];
    live.forEach((r) => {
      const { home } = registers[r]!;
      if (home !== undefined && isPassed(home.at, source)) read.push(home);
    });
    return this.#add(source, "params", read);
  }

  #add(f: IrFunction, list: keyof Convention, rows: readonly Row[]): boolean {
    const convention = this.#conventions.get(f)!;
    const known = new Map(convention[list].map((row) => [row.at, row]));
    const { size } = known;
    for (const row of rows) known.set(row.at, known.get(row.at) ?? row);
    if (known.size === size) return false;
    convention[list] = [...known.values()].sort((a, b) => a.at - b.at);
    return true;
  }

  #conventionFor(op: FileCallOp): Convention {
    return this.#conventions.get(targetsOf(op, this.#calls)[0]!)!;
  }

  // ---- Code ---------------------------------------------------------------------------------------------------------

  #written({ source, ir }: CallingRoutine): IrFunction {
    const { params, returns } = this.#conventions.get(source) ?? { params: ir.params, returns: ir.returns };
    const passed = (rows: readonly (Row | Param)[]): Param[] =>
      rows.map((row) => ("at" in row ? this.#param(source, row) : row));
    const instructions = ir.instructions.map((instruction): Instruction => {
      const { op } = instruction;
      return op.kind === "file-call" ? { ...instruction, op: this.#call(source, op) } : instruction;
    });
    return {
      ...ir,
      params: passed(params),
      returns: passed(returns),
      instructions,
      registers: this.#registers.get(source)!.all,
    };
  }

  #call(of: IrFunction, op: FileCallOp): Op {
    const { params, returns } = this.#conventionFor(op);
    const { grfBytes } = of.file!;
    const argEnd = argAt + op.argSize * grfBytes;
    const back = new Set(this.#returnsOf(of, op));
    const args = params.map((row): Argument => {
      // What the call does not pass is 0 in the callee.
      const isGiven = row.at < argEnd || row.at >= retvalAt(grfBytes);
      const zero = row.bits === 64 ? kit.i64(0n) : kit.i32(0);
      return { kind: "value", value: isGiven ? this.#read(of, row) : zero, bits: row.bits };
    });
    const results = returns.map(
      (row): Result =>
        back.has(row) ? { kind: "register", registers: [this.#registerFor(of, row)] } : { kind: "discard" },
    );
    const { target } = op;
    if (target.kind === "direct") return { kind: "call", target, args, results, uniform: false };
    const targets = targetsOf(op, this.#calls).map(({ name }) => name);
    const signature: Signature = signatureOf({ params: params.map(typed), returns: returns.map(typed) });
    return { kind: "call", target: { ...target, signature, targets, via: "" }, args, results, uniform: false };
  }

  #read(of: IrFunction, row: Row): Expr {
    return { kind: "reg", ty: row.bits === 64 ? "i64" : "i32", reg: this.#registerFor(of, row) };
  }

  #param(of: IrFunction, row: Row): Param {
    return { ...typed(row), name: "", storage: { kind: "register", registers: [this.#registerFor(of, row)] } };
  }

  #registerFor(of: IrFunction, row: Row): number {
    const { all, at } = this.#registers.get(of)!;
    let register = at.get(row.at);
    if (register === undefined) {
      const size = row.bits === 64 ? "b64" : "b32";
      register = all.push({ name: "", class: size, bits: row.bits, home: row }) - 1;
      at.set(row.at, register);
    }
    return register;
  }
}

const typed = ({ bits }: Row): Pick<Param, "type"> => ({
  type: { kind: "b", size: bits / 8, align: bits / 8, unsized: false },
});

const isAcross = ({ at, bits, lanes }: Row, end: number): boolean =>
  at < end && at + ((lanes?.count ?? 1) * bits) / 8 > end;

/**
 * Whether a routine may read parts of %arg that a call has destroyed, be it one that other lanes make: parts that are
 * needed beyond the block in which they were written, or after a call. Of `width` lanes.
 */
function readsDestroyed({ instructions, registers }: IrFunction, { file }: IrFunction, width: number): boolean {
  if (!instructions.some(({ op }) => op.kind === "call")) return false;
  const isArgument = (r: number): boolean => {
    const { home } = registers[r]!;
    return home !== undefined && home.at >= argAt && home.at < retvalAt(file!.grfBytes);
  };
  const graph = flowGraphOf(instructions);
  const { liveIn } = livenessOf({ instructions, registers }, graph, []);
  return graph.blocks.some(({ index, start, end, predecessors }) => {
    let isNeeded = false;
    liveIn(index).forEach((r) => {
      isNeeded ||= isArgument(r);
    });
    if (isNeeded && (index > 0 || predecessors.length > 0)) return true;
    const needed = new Set<number>();
    for (let i = end - 1; i >= start; i--) {
      const instruction = instructions[i]!;
      if (instruction.op.kind === "call" && needed.size > 0) return true;
      if (isForAll(instruction, width)) for (const to of instruction.dst) if (typeof to === "number") needed.delete(to);
      readsOf(instruction, { register: (r) => isArgument(r) && needed.add(r) });
    }
    return false;
  });
}

/** Whether all active lanes execute an instruction: what it writes is then known in all of them. */
const isForAll = ({ guard, lanes }: Instruction, width: number): boolean =>
  guard === null && (lanes === undefined || lanes.count >= width);
