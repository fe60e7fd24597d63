import { accessesOf, type IrFunction, onlyComputes, type OpOf, type WarpOp } from "../../../ir/index.ts";
import { targetsOf } from "../../../ir/flow/flow-graph.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import type { SharedShadow } from "./shadow-plan.ts";
import type { WatchChoices } from "./watch-choices.ts";
import type { WatchedCode } from "./watched-code.ts";

const lane: Expr = { kind: "special", ty: "i32", name: "laneid" };

/** All lanes of a warp. */
const allLanes = k.i32(-1);

/** Whether a thread that does it has done something that matters for whether it passes a barrier. */
const matters = (op: Parameters<typeof onlyComputes>[0]): boolean =>
  !onlyComputes(op) && !accessesOf(op).some(({ access: { space } }) => space === "kernel-param" || space === "const");

/** The function whose lanes are watched. */
interface Watched {
  /** Whether it is the kernel: lanes come to a barrier of another function from different calls. */
  readonly isKernel: boolean;
  /** Numbers an instruction among those of all functions. */
  readonly siteOf: (index: number) => number;
}

/**
 * Watches how lanes come to barriers and to warp-wide operations. There is nothing to report if all threads of a block
 * come to the same barriers in the same order, and if whole warps execute what lanes do together.
 */
export class SynchronizationWatch {
  readonly #code: WatchedCode;
  readonly #shared: SharedShadow | null;
  /** The number of barriers that the thread has passed; null where there are none, or nobody asks. */
  readonly #interval: Expr | null;
  readonly #watches: boolean;
  readonly #watched: Watched;
  /** By instruction, whether a thread may have done something before it, or passed a barrier. */
  readonly #isLate: Uint8Array;

  constructor(
    ir: IrFunction,
    { sanitizers }: WatchChoices,
    code: WatchedCode,
    shared: SharedShadow | null,
    interval: Expr | null,
    watched: Watched,
  ) {
    this.#code = code;
    this.#shared = shared;
    this.#watches = sanitizers.has("sync");
    this.#interval = this.#watches ? interval : null;
    this.#watched = watched;
    if (this.#interval === null) this.#isLate = new Uint8Array();
    else this.#isLate = watched.isKernel ? lateIn(ir) : new Uint8Array(ir.instructions.length + 1).fill(1);
  }

  /** The threads of a block leave a word before a barrier, and compare it after it. `pass`: writes the barrier. */
  barrier(site: number, pass: () => void): void {
    if (this.#interval === null) {
      pass();
      return;
    }
    const number = k.i32(this.#watched.siteOf(site) + 1);
    if (!this.#watched.isKernel) this.#allTogether();
    // What one round writes, the next one leaves alone: some threads may not have compared it yet.
    const turn = k.shl(k.and(this.#interval, k.i32(1)), k.i32(2));
    const at = this.#code.once(k.add(k.widen(turn, false), k.i64(BigInt(this.#shared!.words.start))));
    this.#code.store("shared", at, [number]);
    pass();
    const [found] = this.#code.load("shared", at, 1);
    this.#code.find(k.ne(found!, number));
  }

  /** Threads that end after they have done something must have passed the same barriers. */
  end(site: number): void {
    if (this.#interval === null || this.#isLate[site] === 0) return;
    const at = k.i64(BigInt(this.#shared!.words.start + 8));
    const own = this.#code.once(k.add(this.#interval, k.i32(1)));
    const [earlier] = this.#code.load("shared", at, 1);
    this.#code.store("shared", at, [own]);
    const [now] = this.#code.load("shared", at, 1);
    const wasOther = k.op("pred.and", k.ne(earlier!, k.i32(0)), k.ne(earlier!, own));
    this.#code.find(k.op("pred.or", wasOther, k.ne(now!, own)));
  }

  warp({ mask, warp }: OpOf<"warp">): void {
    if (!this.#watches) return;
    if (warp.op === "shfl") this.#hasSource(warp);
    else if (mask !== null && !(mask.kind === "const" && mask.value === -1)) this.#namesItself(mask);
  }

  #allTogether(): void {
    this.#code.find(k.ne(this.#together(), allLanes));
  }

  /** The lanes that execute the instruction with this one. */
  #together(): Expr {
    const together = this.#code.register("b32");
    this.#code.add({ kind: "activemask" }, [together]);
    return together;
  }

  /** The lane whose value a shuffle takes must execute it, too. */
  #hasSource(shuffle: Extract<WarpOp, { op: "shfl" }>): void {
    const together = this.#together();
    this.#code.within(this.#code.test(k.ne(together, allLanes)), () => {
      const isThere = k.and(k.shr(together, sourceOf(shuffle), false), k.i32(1));
      this.#code.find(k.eq(isThere, k.i32(0)));
    });
  }

  #namesItself(mask: Expr): void {
    this.#code.find(k.eq(k.and(k.shr(mask, lane, false), k.i32(1)), k.i32(0)));
  }
}

/** The lane whose value a shuffle takes: the own one, where there is none in its segment (9.7.9.6). */
function sourceOf({ mode, operands: [, distance, bounds] }: Extract<WarpOp, { op: "shfl" }>): Expr {
  const five = k.i32(31);
  const by = k.and(distance, five);
  const segment = k.and(k.shr(bounds, k.i32(8), false), five);
  const rest = k.xor(segment, five);
  const first = k.and(lane, segment);
  const last = k.or(first, k.and(k.and(bounds, five), rest));
  const from = {
    up: k.sub(lane, by),
    down: k.add(lane, by),
    bfly: k.xor(lane, by),
    idx: k.or(first, k.and(by, rest)),
  }[mode];
  const isIn = mode === "up" ? k.le(last, from, true) : k.le(from, last, true);
  return k.select(isIn, from, lane);
}

/** By instruction, whether a thread may have passed a barrier, or done what matters, before it comes there. */
function lateIn({ instructions }: IrFunction): Uint8Array {
  const late = new Uint8Array(instructions.length + 1);
  const todo: number[] = [];
  const reach = (from: number): void => {
    for (const to of targetsOf(instructions[from]!, from + 1, instructions.length)) {
      if (late[to] === 1) continue;
      late[to] = 1;
      todo.push(to);
    }
  };
  instructions.forEach(({ op }, i) => {
    if (op.kind === "barrier" || matters(op)) reach(i);
  });
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) if (at < instructions.length) reach(at);
  return late;
}
