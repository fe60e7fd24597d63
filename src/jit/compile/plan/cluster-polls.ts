import {
  type ClusterQuestion,
  type Instruction,
  type IrFunction,
  type IrModule,
  type Op,
  reachesCluster,
  type Register,
} from "../../../ir/index.ts";
import { functionsByName } from "../../../ir/flow/index.ts";
import { retargeted } from "../../../ir/retarget.ts";

interface Code {
  readonly ir: IrFunction;
  /** By instruction, its number in the function as it was loaded; null: the same. */
  readonly origins: readonly number[] | null;
}

/** Whether blocks of a cluster take notice of each other in a function. */
const usesCluster = ({ instructions }: IrFunction): boolean =>
  instructions.some(
    ({ op }) =>
      op.kind === "cluster-barrier" ||
      ("access" in op && op.access.space === "shared-cluster") ||
      (op.kind === "unit" && reachesCluster(op.unit)),
  );

/**
 * The functions that have polls: those in which blocks of a cluster take notice of each other, and all that calls
 * connect with them, as a block tells in one function what others wait for in another. `taken`: those whose address is
 * taken.
 */
export function functionsWithPolls(module: IrModule, taken: ReadonlySet<IrFunction>): ReadonlySet<IrFunction> {
  const todo = module.functions.filter(usesCluster);
  if (todo.length === 0) return new Set();
  const byName = functionsByName(module);
  const connected = new Map(module.functions.map((ir) => [ir, new Set<IrFunction>()]));
  const connect = (caller: IrFunction, callee: IrFunction | undefined): void => {
    if (callee === undefined) return;
    connected.get(caller)!.add(callee);
    connected.get(callee)!.add(caller);
  };
  for (const ir of module.functions)
    for (const { op } of ir.instructions) {
      if (op.kind !== "call") continue;
      if (op.target.kind === "direct") connect(ir, byName.get(op.target.function));
      else for (const callee of taken) connect(ir, callee);
    }
  const found = new Set<IrFunction>();
  for (let ir = todo.pop(); ir !== undefined; ir = todo.pop()) {
    if (found.has(ir)) continue;
    found.add(ir);
    todo.push(...connected.get(ir)!);
  }
  return found;
}

/**
 * A function of a program whose blocks may form clusters, with polls: questions that the launcher answers. Waiting is a
 * loop around one, so that blocks which wait for their cluster take turns as those do that wait for memory to change.
 * In a kernel lanes begin by waiting until all blocks of the cluster have begun; and the launcher learns of all lanes
 * that exit, for which the barrier no longer waits.
 */
export function withClusterPolls(ir: IrFunction): Code {
  const isKernel = ir.kind === "kernel";
  const polls = new Polls(ir);
  if (isKernel) polls.wait("begun", { ...polls.end(), guard: null }, 0);
  for (const [i, instruction] of ir.instructions.entries()) polls.add(instruction, i, isKernel);
  polls.finish(isKernel);
  return polls.code;
}

/** The code while it is written. */
class Polls {
  readonly #ir: IrFunction;
  readonly #registers: Register[];
  readonly #out: Instruction[] = [];
  readonly #origins: number[] = [];
  /** By instruction of the source, where its code begins. */
  readonly #places: number[] = [];
  /** The instructions that come from the source, whose targets move. */
  readonly #moved = new Set<number>();

  constructor(ir: IrFunction) {
    this.#ir = ir;
    this.#registers = [...ir.registers];
  }

  /** An instruction that stands for the end of the function, or for its beginning. */
  end(): Instruction {
    const last = this.#ir.instructions.at(-1);
    const { span } = last ?? this.#ir;
    return {
      op: { kind: "nothing" },
      dst: [],
      guard: null,
      undefinedCases: [],
      span,
      location: last?.location ?? null,
    };
  }

  add(instruction: Instruction, i: number, isKernel: boolean): void {
    const { op } = instruction;
    this.#places.push(this.#out.length);
    if (op.kind === "cluster-barrier") {
      if (op.mode === "arrive") this.#push(instruction, i, { op: ask("arrives") });
      else this.wait("passed", instruction, i);
      return;
    }
    const exits = op.kind === "exit" || (isKernel && op.kind === "return");
    if (exits) this.#push(instruction, i, { op: ask("exits") });
    this.#moved.add(this.#out.length);
    this.#push(instruction, i, {});
  }

  /** A loop in which lanes ask until the answer is yes. */
  wait(question: ClusterQuestion, at: Instruction, i: number): void {
    const answer = this.#registers.push({ name: `cluster${this.#registers.length}`, class: "pred", bits: 1 }) - 1;
    const { guard } = at;
    const skips = guard === null ? 0 : 1;
    const loop = this.#out.length + skips;
    if (guard !== null) {
      this.#push(at, i, { op: branch(loop + 2), guard: { ...guard, negate: !guard.negate } });
    }
    this.#push(at, i, { op: ask(question), dst: [answer], guard: null });
    this.#push(at, i, { op: branch(loop), guard: { register: answer, negate: true } });
  }

  /** Lanes that reach the end of a kernel exit. */
  finish(isKernel: boolean): void {
    this.#places.push(this.#out.length);
    const i = Math.max(0, this.#ir.instructions.length - 1);
    const last = this.#ir.instructions.at(-1)?.op.kind;
    const isReached = last !== "return" && last !== "exit";
    if (!isKernel && !isReached) return;
    if (isKernel) this.#push(this.end(), i, { op: ask("exits") });
    this.#push(this.end(), i, { op: { kind: "return", uniform: false } });
  }

  get code(): Code {
    const instructions = this.#out.map((instruction, i) =>
      this.#moved.has(i) ? retargeted(instruction, (target) => this.#places[target]!) : instruction,
    );
    return { ir: { ...this.#ir, registers: this.#registers, instructions }, origins: this.#origins };
  }

  #push(at: Instruction, origin: number, what: Partial<Instruction>): void {
    this.#out.push({ ...at, ...what });
    this.#origins.push(origin);
  }
}

const ask = (asks: ClusterQuestion): Op => ({ kind: "cluster-poll", asks });
const branch = (target: number): Op => ({ kind: "branch", target, uniform: false });
