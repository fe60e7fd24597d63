import {
  accessesOf,
  atAddress,
  type Instruction,
  type IrFunction,
  isCall,
  type MemoryAccess,
  type OpOf,
  laneAddressOf,
  plainAccess,
} from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import { AccessWatch, type Cells } from "./cells.ts";
import { CopyWatch, hasCopies, readsAll } from "./copies.ts";
import { DistinctLanes } from "./distinct-lanes.ts";
import { FrameWatch, isLocal } from "./frames.ts";
import { LoadedParams } from "./hidden-params.ts";
import { watchObstacleOf } from "./obstacles.ts";
import { Observation } from "./observed.ts";
import { productObstacleOf } from "./products.ts";
import {
  GlobalRecords,
  OrderedGlobalRecords,
  type RecordRules,
  SharedRecords,
  threadBits,
  threadCode,
} from "./records.ts";
import { type CellBytes, type ShadowPlan, wordPlaces } from "./shadow-plan.ts";
import { isOutside, scaled, type SharedCells, type SharedVariable } from "./shared-cells.ts";
import { isOfFrame, isSharedSpace, isWatched } from "./spaces.ts";
import { SynchronizationWatch } from "./synchronization.ts";
import { type IsGlobal, threadsOf, type WatchChoices } from "./watch-choices.ts";
import { WatchedCode } from "./watched-code.ts";
import { isMeeting, WatchedProgram } from "./watched-program.ts";

/** A kernel, and what it may call, with code that watches them. */
export interface WovenKernel {
  /** In the order in which they were given. */
  readonly functions: readonly IrFunction[];
  readonly plan: ShadowPlan;
}

/**
 * Weaves into a kernel what sanitizers look for, so that compiled code finds whether there may be anything to report:
 * it then tells the launcher, and the interpreter, which repeats the launch, says what it is, if it is anything.
 * `functions`: the kernel, and what it may call. Returns a text where only the interpreter can watch the kernel: why.
 */
export function weave(
  functions: readonly IrFunction[],
  choices: WatchChoices,
  isGlobal: IsGlobal,
): WovenKernel | string {
  for (const ir of functions) {
    const obstacle = watchObstacleOf(ir, choices);
    if (obstacle !== null) return obstacle;
  }
  if (functions.length > 1 && functions.some(hasCopies)) return "asynchronous copies, beside calls";
  const program = new WatchedProgram(functions, choices, isGlobal);
  if (program.isObserved) {
    if (functions.length > 1) return "units of the machine or mbarriers, beside calls";
    const obstacle = choices.sanitizers.has("race") ? productObstacleOf(program.kernel) : null;
    if (obstacle !== null) return obstacle;
  } else if (functions.some(accessesCluster)) return "memory of the space shared-cluster";
  const weavers = functions.map((ir) => new Weaver(ir, program));
  const woven = weavers.map((weaver) => weaver.write());
  const { hidden, globalCell, shared, written, accessed, copied, unitsStore } = program;
  const [kernel, ...called] = woven;
  return {
    functions: [hidden.addedTo(kernel!), ...called],
    plan: {
      ...{ globalCell: globalCell ?? 4, shared, hidden: hidden.list, written, accessed, copied, unitsStore },
      observed: weavers[0]!.observed,
    },
  };
}

class Weaver {
  readonly #ir: IrFunction;
  readonly #program: WatchedProgram;
  readonly #isKernel: boolean;
  readonly #code: WatchedCode;
  readonly #params: LoadedParams;
  readonly #distinct: DistinctLanes;
  readonly #global: AccessWatch | null;
  readonly #shared: ((variable: SharedVariable | null) => AccessWatch) | null;
  readonly #sync: SynchronizationWatch;
  readonly #copies: CopyWatch | null;
  readonly #frames: FrameWatch | null;
  readonly #observation: Observation | null;
  /** The number of this thread in its block. */
  readonly #thread: Expr;
  /** The word for this thread in shared memory, and the number of barriers that it has passed. */
  readonly #ownWord: Expr | null;
  readonly #interval: Expr | null;
  /** How often the thread has met all others of its warp since the last barrier; null where they never meet. */
  readonly #meetings: Expr | null;

  constructor(ir: IrFunction, program: WatchedProgram) {
    this.#ir = ir;
    this.#program = program;
    const { choices, globalCell, sharedCells, shared } = program;
    this.#isKernel = ir === program.kernel;
    this.#code = new WatchedCode(ir);
    this.#params = new LoadedParams(this.#code, program.hidden, program.rootsOf(ir));
    this.#distinct = new DistinctLanes(ir, choices);
    this.#thread = this.#code.begun(threadInBlock());
    this.#interval = program.hasBarriers && program.notes ? this.#begunInterval() : null;
    this.#meetings = program.meetingBits === 0 ? null : this.#code.begun(k.i32(0));
    this.#ownWord = sharedCells === null ? null : this.#code.begun(this.#wordNow());
    this.#global = globalCell === null || !accesses(ir, false) ? null : this.#watchGlobal(globalCell);
    this.#observation = program.isObserved ? new Observation(this.#code) : null;
    this.#copies = program.watchesCopies ? this.#watchCopies(sharedCells!, this.#ownWord!) : null;
    this.#shared =
      this.#ownWord === null || !accesses(ir, true) ? null : this.#watchShared(sharedCells!, this.#ownWord);
    this.#frames = program.frameCell === null ? null : new FrameWatch(this.#code, ir, program.frameCell);
    const siteOf = (index: number): number => program.siteOf(ir, index);
    this.#sync = new SynchronizationWatch(ir, choices, this.#code, shared, this.#interval, {
      isKernel: this.#isKernel,
      siteOf,
    });
  }

  /** What is shown to the sanitizers themselves. */
  get observed(): ShadowPlan["observed"] {
    return this.#observation && { ir: this.#ir, list: this.#observation.list };
  }

  write(): IrFunction {
    const { instructions } = this.#ir;
    for (let i = 0; i < instructions.length; i++) this.#instruction(i);
    this.#code.goTo(instructions.length);
    const last = instructions.at(-1);
    const isReached = last === undefined || last.guard !== null || !["return", "exit", "trap"].includes(last.op.kind);
    const isTarget = instructions.some(({ op }) => op.kind === "branch" && op.target === instructions.length);
    if (isReached || isTarget || instructions.some(({ op }) => op.kind === "branch-indexed")) {
      this.#leave(instructions.length, this.#isKernel);
      this.#code.add({ kind: "return", uniform: false }, []);
    }
    return this.#code.ir;
  }

  #instruction(i: number): void {
    const instruction = this.#ir.instructions[i]!;
    const { op } = instruction;
    this.#code.goTo(i);
    for (const { when } of instruction.undefinedCases) this.#code.find(when);
    const passed = this.#observation?.write(instruction, i) ?? null;
    if (op.kind === "copy") this.#copy(instruction, op);
    const after = op.kind === "copy" ? [] : accessesOf(op).flatMap((made) => this.#access(instruction, made));
    if (op.kind === "commit-copies") this.#copies?.commit();
    if (op.kind === "await-copies") this.#copies?.wait(op);
    if (op.kind === "exit") this.#leave(i, true);
    if (op.kind === "return") this.#leave(i, this.#isKernel);
    if (op.kind === "warp") this.#sync.warp(op);
    if (op.kind === "branch" && op.target <= i && this.#goesOnAlone(op.target, i)) this.#code.stopIfFound();
    if (isCall(op)) this.#call();
    else if (op.kind !== "barrier") this.#code.keep();
    else this.#sync.barrier(i, () => this.#passBarrier());
    passed?.();
    if (this.#meetings !== null && isMeeting(instruction)) this.#meet();
    for (const write of after) write();
  }

  /** Whether lanes go round a loop without waiting for others, who rely on them to come. */
  #goesOnAlone(start: number, end: number): boolean {
    const loop = this.#ir.instructions.slice(start, end);
    return !loop.some(({ op }) => isCall(op) || ["barrier", "warp"].includes(op.kind));
  }

  /** Returns what is to be written after the access itself. */
  #access(instruction: Instruction, made: MemoryAccess): readonly (() => void)[] {
    const { access, place } = made;
    if (place.kind !== "address") return [];
    const inFrame = (where: Expr | null): (() => void) | null =>
      this.#frames?.access(instruction, access, where) ?? null;
    const { address } = place;
    let after: readonly ((() => void) | null)[];
    if (isOfFrame(access)) after = [inFrame(null)];
    else if (access.space !== "generic" || !this.#program.hasFrames) after = [this.#note(instruction, made, address)];
    else {
      const where = this.#code.once(isLocal(address));
      const isElsewhere = this.#code.test(k.not(where));
      after = [inFrame(where), this.#code.within(isElsewhere, () => this.#note(instruction, made, address))];
    }
    return after.flatMap((write) => write ?? []);
  }

  /** Notes an access of memory that threads share. Returns what is to be written after it, if anything. */
  #note(instruction: Instruction, made: MemoryAccess, address: Expr, isCopy = false): (() => void) | null {
    const { access } = made;
    if (!isWatched(access)) return null;
    const bytes = (access.bits / 8) * access.count;
    const lanes = this.#distinct.of(address, bytes);
    const watch = isSharedSpace(access.space) ? this.#sharedFor(address, bytes) : this.#global;
    const isStrong = this.#program.isStrong(this.#ir, instruction, made);
    return watch?.write(made, address, { lanes, isStrong, isCopy }) ?? null;
  }

  #sharedFor(address: Expr, bytes: number): AccessWatch | null {
    if (this.#shared === null) return null;
    const variable = this.#program.sharedCells!.variableOf(this.#ir, address);
    if (variable !== null) this.#code.find(isOutside(variable, address, bytes));
    return this.#shared(variable);
  }

  #copy(instruction: Instruction, op: OpOf<"copy">): void {
    const { from, to } = op;
    const [read, write] = accessesOf(op) as [MemoryAccess, MemoryAccess];
    const isAll = readsAll(op);
    if (isAll === null) this.#note(instruction, read, laneAddressOf(from.place));
    else {
      // Which bytes of its words a copy of a part reads is for the interpreter to say.
      if (!op.whole) this.#code.find(k.not(k.op("pred.or", isAll, k.eq(op.size!, k.i32(0)))));
      this.#code.within(this.#code.test(isAll), () => this.#note(instruction, read, laneAddressOf(from.place)));
    }
    this.#note(instruction, write, laneAddressOf(to.place), true);
  }

  #passBarrier(): void {
    if (this.#copies !== null && this.#interval !== null) this.#copies.barrier(this.#interval, () => this.#code.keep());
    else this.#code.keep();
    if (this.#interval === null) return;
    this.#code.set(this.#interval, k.add(this.#interval, k.i32(1)));
    if (this.#program.keepsIntervals) this.#code.store("shared", this.#intervalAt(), [this.#interval]);
    if (this.#meetings !== null) this.#code.set(this.#meetings, k.i32(0));
    this.#renewWord();
  }

  /** Lanes that have ended do not meet the others: the time goes on only where there are none. */
  #meet(): void {
    const together = this.#code.register("b32");
    this.#code.add({ kind: "activemask" }, [together]);
    const most = k.i32(2 ** this.#program.meetingBits - 1);
    const goesOn = k.op("pred.and", k.eq(together, k.i32(-1)), k.lt(this.#meetings!, most, false));
    this.#code.set(this.#meetings!, k.select(goesOn, k.add(this.#meetings!, k.i32(1)), this.#meetings!));
    this.#renewWord();
  }

  #call(): void {
    const { exitsInCalls, passesBarriersInCalls } = this.#program;
    if (exitsInCalls) this.#code.raiseAlarm(() => this.#params.alarm);
    this.#code.keep();
    if (this.#interval === null || !passesBarriersInCalls) return;
    const [now] = this.#code.load("shared", this.#intervalAt(), 1);
    this.#code.set(this.#interval, now!);
    this.#renewWord();
  }

  /** Leaves the function. `ends`: and the kernel. */
  #leave(i: number, ends: boolean): void {
    if (ends) {
      // Intervals must not begin anew.
      const bits = 32 - threadBits - this.#program.meetingBits;
      if (this.#interval !== null) this.#code.find(k.le(k.i32(2 ** bits - 1), this.#interval, false));
      this.#sync.end(i);
    }
    this.#code.raiseAlarm(() => this.#params.alarm);
  }

  #begunInterval(): Expr {
    if (this.#isKernel) return this.#code.begun(k.i32(0));
    const interval = this.#code.register("b32");
    this.#code.begin({ kind: "load", access: plainAccess("shared", 32), place: atAddress(this.#intervalAt()) }, [
      interval,
    ]);
    return interval;
  }

  /** The address of this thread's word with the number of barriers that it has passed. */
  #intervalAt(): Expr {
    const first = this.#program.shared!.words.start + wordPlaces.threads;
    return k.add(k.widen(k.shl(this.#thread, k.i32(2)), false), k.i64(BigInt(first)));
  }

  #renewWord(): void {
    if (this.#ownWord !== null) this.#code.set(this.#ownWord, this.#wordNow());
  }

  /** The present time in words of shared memory. */
  #time(): Expr {
    const { meetingBits } = this.#program;
    // Intervals are counted from 1, as nothing has been done in a word of 0.
    const parts = [k.i32(2 ** (threadBits + meetingBits))];
    if (this.#interval !== null) parts.push(k.shl(this.#interval, k.i32(threadBits + meetingBits)));
    if (this.#meetings !== null) parts.push(k.shl(this.#meetings, k.i32(threadBits)));
    return parts.reduce((a, b) => k.add(a, b));
  }

  /** The word for this thread at the present time. */
  #wordNow(): Expr {
    return k.add(this.#time(), threadCode(this.#thread));
  }

  #watchCopies(cells: SharedCells, own: Expr): CopyWatch {
    const { copied, writer, words } = this.#program.shared!;
    return new CopyWatch(this.#code, {
      addressOf: (address) => cells.inPlane(copied, address, null),
      isMine: (address, count) =>
        this.#code
          .load("shared", cells.inPlane(writer, address, null), count)
          .map((word) => k.eq(k.and(k.xor(word, own), k.i32(2 ** threadBits - 1)), k.i32(0))),
      words: k.i64(BigInt(words.start + wordPlaces.copies)),
    });
  }

  #watchShared(cells: SharedCells, own: Expr): (variable: SharedVariable | null) => AccessWatch {
    const { writer, reader } = this.#program.shared!;
    const rules = new SharedRecords(own, this.#time(), this.#program.meetingBits);
    const checksWritten = this.#program.choices.sanitizers.has("init");
    const areOrdered = this.#program.areOrdered(true);
    return (variable) => {
      const addressIn: Cells["addressIn"] = (plane, address) =>
        cells.inPlane(plane === "writer" ? writer : reader, address, variable);
      const { bytes } = variable ?? cells;
      const noted: Cells = { space: "shared", bytes, rules, addressIn, copies: this.#copies };
      return new AccessWatch(this.#code, noted, { checksWritten, areOrdered });
    };
  }

  #watchGlobal(bytes: CellBytes): AccessWatch {
    const code = this.#code;
    const params = this.#params;
    const threads = threadsOf(this.#program.choices.block);
    const first = params.firstNumber;
    const blockFirst = code.begun(k.add(k.add(first, k.i32(1)), k.mul(blockInGrid(), k.i32(threads))));
    const own = code.begun(k.add(blockFirst, this.#thread));
    const rules: RecordRules =
      this.#interval === null
        ? new GlobalRecords(own, first)
        : new OrderedGlobalRecords(own, this.#interval, first, blockFirst, threads);
    const addressIn: Cells["addressIn"] = (plane, address) =>
      k.add(params.planeFor(plane, address), scaled(address, bytes));
    const cells: Cells = { space: "global", bytes, rules, addressIn, copies: null };
    return new AccessWatch(code, cells, { checksWritten: false, areOrdered: this.#program.areOrdered(false) });
  }
}

/** Whether a function accesses shared memory by addresses within the cluster, as woven code cannot watch it. */
const accessesCluster = ({ instructions }: IrFunction): boolean =>
  instructions.some(({ op }) => accessesOf(op).some(({ access }) => access.space === "shared-cluster"));

/** Whether a function accesses shared memory, or that of the device. */
const accesses = ({ instructions }: IrFunction, isShared: boolean): boolean =>
  instructions.some(({ op }: Instruction) =>
    accessesOf(op).some(({ access }) => isWatched(access) && isSharedSpace(access.space) === isShared),
  );

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
