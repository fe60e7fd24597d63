import {
  type AnyCall,
  type CallOp,
  type FileCallOp,
  fits,
  isCall,
  isIndirect,
  wordBytesOf,
} from "../../../ir/calls.ts";
import { type CallOrder, callOrder } from "../../../ir/flow/call-order.ts";
import { flowGraphOf } from "../../../ir/flow/flow-graph.ts";
import { seesOthersItself, spinLoops } from "../../../ir/flow/spin-loops.ts";
import { type Instruction, isBlockBarrier, type Op, traitOf } from "../../../ir/index.ts";
import { agrees, signatureOf } from "../../../ir/signature.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { Preparation } from "../analysis/code/prepared-code.ts";
import type { CompiledFunction, CompiledFunctions } from "./compiled-functions.ts";

/**
 * How code is prepared whose functions call each other like this. Where calls nest to any depth, registers are kept
 * apart: what an activation takes of the host's stack counts.
 */
export const preparationIn = ({ mayExitIn, maySuspend, order }: CallGraph): Preparation => ({
  endsBlock: mayExitIn,
  isAlone: maySuspend,
  separates: !order.recursive,
});

/** The functions that a kernel can reach, and what follows from the calls between them. */
export class CallGraph {
  /** All that have a body: the kernel first. */
  readonly functions: readonly CompiledFunction[];
  readonly order: CallOrder<CompiledFunction>;
  /** How many calls by address there are in the text. */
  readonly indirectCalls: number;
  /** The functions without a body that may be called, and the most arguments that one of them is given. */
  readonly externals: ReadonlySet<string>;
  readonly externalArgs: number;
  readonly #program: CompiledFunctions;
  readonly #targets = new Map<(CallOp | FileCallOp)["target"], readonly CompiledFunction[]>();
  readonly #callees = new Map<CompiledFunction, ReadonlySet<CompiledFunction>>();
  readonly #callers = new Map<CompiledFunction, CompiledFunction[]>();
  readonly #byAddress = new Set<CompiledFunction>();
  readonly #exiting: ReadonlySet<CompiledFunction>;
  readonly #asking: ReadonlySet<CompiledFunction>;
  readonly #seeing: ReadonlySet<CompiledFunction>;
  readonly #waiting: ReadonlySet<CompiledFunction>;
  readonly #enlisting: ReadonlySet<CompiledFunction>;
  readonly #suspending: ReadonlySet<CompiledFunction>;
  /** Whether any of the functions has barriers that the host counts. */
  readonly countsBarriers: boolean;
  /** Whether the kernel has barriers that reduce predicates of all threads, and the host need not count any. */
  readonly reducesInBlock: boolean;

  /** @throws Unsupported when the kernel can reach what is not compiled */
  constructor(kernel: CompiledFunction, program: CompiledFunctions) {
    this.#program = program;
    const reached = new Set([kernel]);
    const externals = new Set<string>();
    let externalArgs = 0;
    for (const f of reached) {
      const callees = new Set<CompiledFunction>();
      for (const { op } of f.ir.instructions) {
        if (!isCall(op)) continue;
        for (const target of this.targetsOf(op)) {
          if (target.ir.external) {
            externals.add(target.ir.name);
            externalArgs = Math.max(externalArgs, op.kind === "call" ? op.args.flatMap(wordBytesOf).length : 0);
            continue;
          }
          if (isIndirect(op)) this.#byAddress.add(target);
          callees.add(target);
          reached.add(target);
        }
      }
      this.#callees.set(f, callees);
      for (const callee of callees) {
        const callers = this.#callers.get(callee);
        if (callers === undefined) this.#callers.set(callee, [f]);
        else callers.push(f);
      }
    }
    this.functions = [...reached];
    this.externals = externals;
    this.externalArgs = externalArgs;
    this.indirectCalls = this.functions.reduce(
      (sum, { ir }) => sum + ir.instructions.filter(({ op }) => isCall(op) && isIndirect(op)).length,
      0,
    );
    this.order = callOrder(kernel, (f) => this.calleesOf(f));
    this.#exiting = this.reaching(({ ir }) => ir.instructions.some(({ op }) => op.kind === "exit"));
    this.#seeing = this.reaching(({ ir }) => ir.instructions.some(seesOthersItself));
    this.countsBarriers = this.functions.some((f) =>
      f.ir.instructions.some((i) => isCountedBarrier(i) && !(f === kernel && isBlockReduction(i))),
    );
    this.reducesInBlock = !this.countsBarriers && kernel.ir.instructions.some(isBlockReduction);
    this.#waiting = this.reaching(({ ir }) => ir.instructions.some(({ op }) => this.#waitsForLanes(op)));
    this.#suspending = this.reaching((f) => f !== kernel && this.#suspendsItself(f));
    this.#enlisting = this.reaching(({ ir }) => ir.instructions.some(({ op }) => "allLanes" in op && op.allLanes));
    this.#asking = this.reaching(({ ir }) => ir.instructions.some((i) => this.#asks(i)));
  }

  /**
   * Whether an instruction, or what it calls, can see what others have done since it was last executed: other threads,
   * or the clock, which goes on while these have their turn.
   */
  readonly seesOthers = (instruction: Instruction): boolean => {
    const { op } = instruction;
    return seesOthersItself(instruction) || (isCall(op) && this.targetsOf(op).some((f) => this.#seeing.has(f)));
  };

  /**
   * The functions that a call may go to. A function whose address is never taken has none that a program could find.
   */
  targetsOf(op: AnyCall): readonly CompiledFunction[] {
    if (op.kind === "subroutine-call") return [this.#program.subroutines[op.target]!];
    let known = this.#targets.get(op.target);
    if (known === undefined) this.#targets.set(op.target, (known = this.#find(op)));
    return known;
  }

  /** Whether calls by address may go to a function: these all pass arguments alike. */
  isCalledByAddress(f: CompiledFunction): boolean {
    return this.#byAddress.has(f);
  }

  /**
   * Whether lanes may exit in a function instead of returning. Functions that are called by address all count alike.
   */
  mayExit(f: CompiledFunction): boolean {
    return this.#exiting.has(f) || (this.#byAddress.has(f) && this.mayExitByAddress);
  }

  get mayExitByAddress(): boolean {
    return [...this.#byAddress].some((f) => this.#exiting.has(f));
  }

  /** Whether what an instruction calls may suspend, and be called again to resume. */
  readonly maySuspend = ({ op }: Instruction): boolean =>
    isCall(op) && this.targetsOf(op).some((f) => this.#suspending.has(f));

  /** Whether a function may suspend: it returns before it has ended, since lanes of it wait for other threads. */
  suspends(f: CompiledFunction): boolean {
    return this.#suspending.has(f);
  }

  /** Whether lanes belong to hardware threads (vISA), each of which has one instruction pointer. */
  get isLockstep(): boolean {
    return this.functions[0]!.part !== null;
  }

  /** Whether any function that the kernel calls may suspend. */
  get suspendsInFunctions(): boolean {
    return this.#suspending.size > 0;
  }

  /** Whether lanes may have to wait for others of their warp in a function. */
  waitsForLanes(f: CompiledFunction): boolean {
    return this.#waiting.has(f);
  }

  /** Whether a function may call others for lanes that are at other blocks. */
  enlistsLanes(f: CompiledFunction): boolean {
    return this.#enlisting.has(f);
  }

  /** Whether a function may call the host, which then looks at the stack of calls. */
  asksHost(f: CompiledFunction): boolean {
    return this.#asking.has(f);
  }

  /** The functions with a body that a function calls. */
  calleesOf(f: CompiledFunction): ReadonlySet<CompiledFunction> {
    return this.#callees.get(f)!;
  }

  /** The functions that call a function. */
  callersOf(f: CompiledFunction): readonly CompiledFunction[] {
    return this.#callers.get(f) ?? [];
  }

  /** Whether lanes may exit in what an instruction calls. */
  readonly mayExitIn = ({ op }: Instruction): boolean => isCall(op) && this.targetsOf(op).some((f) => this.mayExit(f));

  /** The functions for which a condition holds, and those that can reach one of them. */
  reaching(holds: (f: CompiledFunction) => boolean): ReadonlySet<CompiledFunction> {
    const found = new Set(this.functions.filter(holds));
    for (const f of found) for (const caller of this.callersOf(f)) found.add(caller);
    return found;
  }

  #waitsForLanes(op: Op): boolean {
    return op.kind === "warp" ? op.mask !== null : op.kind === "barrier" && this.countsBarriers;
  }

  #suspendsItself({ ir: { instructions } }: CompiledFunction): boolean {
    if (instructions.some(({ op }) => op.kind === "barrier")) return true;
    return (
      instructions.some(this.seesOthers) &&
      spinLoops(flowGraphOf(instructions), instructions, this.seesOthers).all.size > 0
    );
  }

  #asks({ op }: Instruction): boolean {
    // Whether a direct call may find its stack full is asked elsewhere: see `LaneStacks.isChecked`.
    if (op.kind === "call") return op.target.kind === "indirect" || this.targetsOf(op).some((f) => f.ir.external);
    return (["faults", "warp", "suspends", "stack"] as const).some((trait) => traitOf(op, trait));
  }

  #find(op: CallOp | FileCallOp): readonly CompiledFunction[] {
    const { target } = op;
    if (target.kind === "direct") {
      const callee = this.#program.named(target.function);
      if (callee === null) throw new Unsupported(`${target.function}, which is not defined`);
      return [callee];
    }
    if (!("signature" in target))
      return this.#program.list.filter((f) => f.hasAddress && op.kind === "file-call" && fits(op, f.ir));
    const { signature, targets } = target;
    const listed = targets && new Set(targets.map((name) => this.#program.named(name)));
    return this.#program.list.filter(
      (f) =>
        f.hasAddress &&
        f.ir.kind === "function" &&
        (listed === null || listed.has(f)) &&
        agrees(signature, signatureOf(f.ir)),
    );
  }
}

/** Whether an instruction is a barrier that is more than the one for all threads. */
const isCountedBarrier = ({ op, lanes }: Instruction): boolean =>
  op.kind === "barrier" && (!isBlockBarrier(op) || lanes !== undefined);

/** Whether an instruction is a barrier for all threads of the block that reduces their predicates. */
const isBlockReduction = ({ op, lanes, guard }: Instruction): boolean =>
  op.kind === "barrier" &&
  op.mode === "red" &&
  isBlockBarrier({ ...op, mode: "sync" }) &&
  guard === null &&
  lanes === undefined;
