import { type Access, accessesOf, type IrFunction, windows } from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import { AccessWatch, type Cells } from "./cells.ts";
import { DistinctLanes } from "./distinct-lanes.ts";
import { HiddenParams } from "./hidden-params.ts";
import { watchObstacleOf } from "./obstacles.ts";
import { GlobalRecords, OrderedGlobalRecords, type RecordRules, SharedRecords, threadBits } from "./records.ts";
import { type CellBytes, type Plane, type ShadowPlan, sharedShadowFor } from "./shadow-plan.ts";
import { SynchronizationWatch } from "./synchronization.ts";
import { type IsGlobal, threadsOf, type WatchChoices } from "./watch-choices.ts";
import { WatchedCode } from "./watched-code.ts";

/** A kernel with code that watches it. */
export interface WovenKernel {
  readonly ir: IrFunction;
  /** By instruction, the one of the kernel for which it is there. */
  readonly origins: readonly number[];
  readonly plan: ShadowPlan;
}

/**
 * Weaves into a kernel what sanitizers look for, so that compiled code finds whether there may be anything to report:
 * it then ends with a trap, and the interpreter, which repeats the launch, says what it is, if it is anything. Returns
 * a text where only the interpreter can watch the kernel: why.
 */
export function weave(ir: IrFunction, choices: WatchChoices, isGlobal: IsGlobal): WovenKernel | string {
  const obstacle = watchObstacleOf(ir);
  if (obstacle !== null) return obstacle;
  return new Weaver(ir, choices, isGlobal).write();
}

class Weaver {
  readonly #ir: IrFunction;
  readonly #choices: WatchChoices;
  readonly #code: WatchedCode;
  readonly #hidden: HiddenParams;
  readonly #distinct: DistinctLanes;
  readonly #plan: Omit<ShadowPlan, "hidden" | "written">;
  readonly #global: AccessWatch | null;
  readonly #shared: AccessWatch | null;
  readonly #sync: SynchronizationWatch;
  /** The word for this thread in shared memory, and the number of barriers that it has passed. */
  readonly #ownWord: Expr | null;
  readonly #interval: Expr | null;

  constructor(ir: IrFunction, choices: WatchChoices, isGlobal: IsGlobal) {
    this.#ir = ir;
    this.#choices = choices;
    const { sanitizers, sharedBytes } = choices;
    const hasBarriers = ir.instructions.some(({ op }) => op.kind === "barrier");
    // The words at barriers lie where a stray access could find them, unless it misses its cells.
    const hasWords = hasBarriers && sanitizers.has("sync");
    const inCells = sanitizers.has("race") || sanitizers.has("init") || hasWords;
    const [globalCell, sharedCell] = [cellBytesOf(ir, false), cellBytesOf(ir, true)];
    const notes = inCells && sharedCell !== null;
    const hasShared = notes || hasWords;
    this.#plan = {
      globalCell: globalCell ?? 4,
      shared: hasShared ? sharedShadowFor(sharedBytes, notes ? sharedCell : null) : null,
    };
    this.#code = new WatchedCode(ir);
    const planes = !inCells || globalCell === null ? [] : planesOfGlobal(hasBarriers);
    this.#hidden = new HiddenParams(ir, this.#code, planes, isGlobal);
    this.#distinct = new DistinctLanes(ir, choices);
    const thread = this.#code.once(threadInBlock());
    this.#interval = hasBarriers ? this.#begun(k.i32(0), "b32") : null;
    this.#ownWord =
      inCells && sharedCell !== null ? this.#begun(k.add(thread, k.i32(2 ** threadBits + 1)), "b32") : null;
    this.#global = inCells && globalCell !== null ? this.#watchGlobal(thread, globalCell) : null;
    this.#shared = this.#ownWord === null ? null : this.#watchShared(sharedCell!, this.#ownWord);
    this.#sync = new SynchronizationWatch(ir, choices, this.#code, this.#plan.shared, this.#interval);
  }

  /** Writes the code. Returns a text if it cannot be written: why. */
  write(): WovenKernel | string {
    if (this.#hidden.obstacle !== null) return this.#hidden.obstacle;
    const { instructions } = this.#ir;
    for (let i = 0; i < instructions.length; i++) this.#instruction(i);
    this.#code.goTo(instructions.length);
    const last = instructions.at(-1);
    const isReached = last === undefined || last.guard !== null || !["return", "exit", "trap"].includes(last.op.kind);
    const isTarget = instructions.some(({ op }) => op.kind === "branch" && op.target === instructions.length);
    if (isReached || isTarget || instructions.some(({ op }) => op.kind === "branch-indexed")) {
      this.#end(instructions.length);
      this.#code.add({ kind: "return", uniform: false }, []);
    }
    const { ir, origins } = this.#code.code;
    // Stores to any other memory miss their cells.
    const written = this.#global === null ? null : this.#hidden.written;
    return { ir: this.#hidden.addedTo(ir), origins, plan: { ...this.#plan, hidden: this.#hidden.list, written } };
  }

  #instruction(i: number): void {
    const instruction = this.#ir.instructions[i]!;
    const { op } = instruction;
    this.#code.goTo(i);
    for (const { when } of instruction.undefinedCases) this.#code.find(when);
    for (const access of accessesOf(op)) {
      if (access.place.kind !== "address") continue;
      const { space, bits, count } = access.access;
      if (space === "const" || space === "kernel-param") continue;
      const { address } = access.place;
      const lanes = this.#distinct.of(address, (bits / 8) * count);
      if (space === "shared") this.#shared?.write(access, address, lanes);
      else this.#global?.write(access, address, lanes);
    }
    if (op.kind === "return" || op.kind === "exit") this.#end(i);
    if (op.kind === "warp") this.#sync.warp(op);
    if (op.kind !== "barrier") this.#code.keep();
    else this.#sync.barrier(i, () => this.#passBarrier());
  }

  #passBarrier(): void {
    this.#code.keep();
    this.#code.set(this.#interval!, k.add(this.#interval!, k.i32(1)));
    if (this.#ownWord !== null) this.#code.set(this.#ownWord, k.add(this.#ownWord, k.i32(2 ** threadBits)));
  }

  #end(i: number): void {
    // Intervals must not begin anew.
    if (this.#interval !== null) this.#code.find(k.le(k.i32(2 ** (32 - threadBits) - 1), this.#interval, false));
    this.#sync.end(i);
    this.#code.raiseAlarm(this.#hidden.alarm);
  }

  /** A register that begins with a value. */
  #begun(value: Expr, kind: "b32"): Expr {
    const to = this.#code.register(kind);
    this.#code.set(to, value);
    return to;
  }

  #watchShared(bytes: CellBytes, own: Expr): AccessWatch {
    const shared = this.#plan.shared!;
    const scale = 4 / bytes;
    const cells: Cells = {
      space: "shared",
      bytes,
      rules: new SharedRecords(own, this.#interval ?? k.i32(0)),
      addressIn: (plane, address) => {
        const { start } = plane === "writer" ? shared.writer : shared.reader;
        return k.add(k.int(address, start - windows.shared.start * scale), scaled(address, scale));
      },
    };
    const haveOneSize = haveOneAtomicSize(this.#ir, true);
    return new AccessWatch(this.#code, cells, this.#choices.sanitizers.has("init"), () => haveOneSize);
  }

  #watchGlobal(thread: Expr, bytes: CellBytes): AccessWatch {
    const code = this.#code;
    const threads = threadsOf(this.#choices.block);
    const first = this.#hidden.firstNumber;
    const blockFirst = code.once(k.add(k.add(first, k.i32(1)), k.mul(blockInGrid(), k.i32(threads))));
    const own = code.once(k.add(blockFirst, thread));
    const rules: RecordRules =
      this.#interval === null
        ? new GlobalRecords(own, first)
        : new OrderedGlobalRecords(own, this.#interval, first, blockFirst, threads);
    const scale = 4 / bytes;
    const addressIn: Cells["addressIn"] = (plane, address) =>
      k.add(this.#hidden.planeFor(plane, address), scaled(address, scale));
    const haveOneSize = haveOneAtomicSize(this.#ir, false);
    const isOrdered = ({ scope }: Access): boolean => haveOneSize && scope !== "cta" && scope !== "cluster";
    return new AccessWatch(code, { space: "global", bytes, rules, addressIn }, false, isOrdered);
  }
}

const scaled = (address: Expr, scale: number): Expr =>
  scale === 1 ? address : k.shl(address, k.i32(Math.log2(scale)));

const special = (name: "tid" | "ntid" | "ctaid" | "nctaid", axis: "x" | "y" | "z"): Expr => ({
  kind: "special",
  ty: "i32",
  name: `${name}.${axis}`,
});

/** The number of a thread in its block, and that of a block in the grid: x first. */
const inOrder = (own: "tid" | "ctaid", count: "ntid" | "nctaid"): Expr =>
  k.add(
    special(own, "x"),
    k.mul(special(count, "x"), k.add(special(own, "y"), k.mul(special(count, "y"), special(own, "z")))),
  );
const threadInBlock = (): Expr => inOrder("tid", "ntid");
const blockInGrid = (): Expr => inOrder("ctaid", "nctaid");

/** Whether all atomic operations in a space have the same size: only then they are morally strong (8.7). */
function haveOneAtomicSize({ instructions }: IrFunction, isShared: boolean): boolean {
  const sizes = new Set<number>();
  for (const { op } of instructions) {
    if (op.kind === "atomic" && (op.access.space === "shared") === isShared)
      sizes.add(op.access.bits * op.access.count);
  }
  return sizes.size <= 1;
}

const planesOfGlobal = (hasIntervals: boolean): readonly Plane[] =>
  hasIntervals ? ["writer", "writtenIn", "reader", "readIn"] : ["writer", "reader"];

/** The narrowest access to memory of a space; null where there is none. */
function cellBytesOf({ instructions }: IrFunction, isShared: boolean): CellBytes | null {
  let narrowest: number | null = null;
  for (const { op } of instructions) {
    for (const { access } of accessesOf(op)) {
      if (access.space === "const" || access.space === "kernel-param") continue;
      if ((access.space === "shared") === isShared) narrowest = Math.min(narrowest ?? 4, access.bits / 8);
    }
  }
  return narrowest as CellBytes | null;
}
