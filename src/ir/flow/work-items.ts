import { type Expr, fold, kit } from "../../semantics/index.ts";
import { argAt, fileLayout } from "../byte-file.ts";
import type { Instruction, Op } from "../instruction.ts";
import type { FileHome, IrFunction, Register } from "../module.ts";
import type { WorkItemModel } from "../work-item-model.ts";
import { readsOf } from "./accesses.ts";
import { ComputedVariables } from "./computed-variables.ts";
import { fileAccessesOf, someElement } from "./file-accesses.ts";
import { uniteHalves } from "./lane-halves.ts";
import { isPassed, type PassedAccesses, promoteLanes } from "./lane-promotion.ts";
import { type RoutineCalls, targetsOf, withPassedRows } from "./passed-rows.ts";
import { privateCosts, type WithoutPrivateStack, withoutPrivateStack } from "./private-stack.ts";
import { withoutTags } from "./slm-offsets.ts";
import { joinVectorParts } from "./vector-parts.ts";
import { WorkItemForm, type WorkItemFunction } from "./work-item-form.ts";

/** Operations that a lane performs by itself. */
const ownOperations: ReadonlySet<Op["kind"]> = new Set([
  "pure",
  "load",
  "store",
  "atomic",
  "branch",
  "return",
  "exit",
  "trap",
  "fence",
  "nothing",
  "barrier",
  "file-call",
]);

/** Operations that lanes perform by themselves in a kernel, but not in a function, where others are elsewhere. */
const kernelOperations: ReadonlySet<Op["kind"]> = new Set(["exit", "barrier"]);

/**
 * A vISA kernel and the functions that it calls as its work items execute them, each with registers of its own, as in
 * PTX: no byte file, no rules for lanes, no surfaces, arguments and results instead of `%arg` and `%retval`. Null if
 * lanes share more than values that all of them compute alike, or if something of the thread is needed that work items
 * do not know.
 *
 * What a thread computes once for all lanes, each lane computes for itself. That is the same as long as no lane reads
 * what others, which went another way, have written meanwhile: whoever calls this has to make sure of that, as the
 * result says.
 */
export function asWorkItems(
  kernel: IrFunction,
  calls: RoutineCalls,
  width: number,
  model: WorkItemModel,
): ReadonlyMap<IrFunction, WorkItemFunction> | null {
  const routines = reachedFrom(kernel, calls);
  if (routines === null) return null;
  const joined = joinVectorParts(kernel, width, model);
  const united = routines.map((ir) => uniteHalves(ir === kernel ? joined.ir : ir, width));
  const promoted = promotedTogether(united, width, joined.model);
  if (promoted === null) return null;
  const passed = withPassedRows(
    routines.map((source, i) => ({ source, ir: promoted[i]!.lanes.ir })),
    calls,
    width,
  );
  const modes = passed === null ? null : modesIn(passed);
  const limit = joined.model.privateMemory.bytes;
  const costs = privateCosts(
    new Map(routines.map((f, i) => [f, promoted[i]!.use])),
    (op) => targetsOf(op, calls),
    limit,
  );
  if (passed === null || modes === null || costs === null) return null;
  const found = new Map<IrFunction, WorkItemFunction>();
  for (const [i, source] of routines.entries()) {
    const { rules, origins } = promoted[i]!.lanes;
    const form = new WorkItemForm({ ir: passed[i]!, origins, rules }, width, joined.model, modes).routine();
    if (form === null) return null;
    found.set(source, { ...form, privateStack: { bytes: costs.get(source)!, limit } });
  }
  return found;
}

/** The kernel and all functions that it may call; null if one does what work items cannot do by themselves. */
function reachedFrom(kernel: IrFunction, calls: RoutineCalls): readonly IrFunction[] | null {
  const reached = new Set([kernel]);
  for (const { kind, file, external, instructions } of reached) {
    const isOwn = ({ op }: Instruction): boolean =>
      ownOperations.has(op.kind) && !(kind === "function" && kernelOperations.has(op.kind));
    if (file === undefined || external || !instructions.every(isOwn)) return null;
    for (const { op } of instructions) {
      if (op.kind !== "file-call") continue;
      const callees = targetsOf(op, calls);
      if (callees.length === 0) return null;
      for (const callee of callees) reached.add(callee);
    }
  }
  return [...reached];
}

/** Promotes the files of routines that call each other, and drops what they do for the thread's private memory. */
function promotedTogether(
  united: readonly ReturnType<typeof uniteHalves>[],
  width: number,
  model: WorkItemModel,
): readonly WithoutPrivateStack[] | null {
  const passed = united.length === 1 ? null : united.map(({ ir }) => passedIn(ir, width));
  const found: WithoutPrivateStack[] = [];
  for (const [i, { ir, origins }] of united.entries()) {
    const others = passed === null ? null : merged(passed.filter((_, j) => j !== i));
    const promoted = promoteLanes(ir, width, others);
    if (promoted === null) return null;
    const isSeen = ({ home }: Register): boolean => passed !== null && home !== undefined && isPassed(home.at, ir);
    const lanes = { ...promoted, ir: withoutTags(promoted.ir, isSeen) };
    const own = withoutPrivateStack(lanes, { width, model }, (home) => isUnknown(home, model));
    if (own === null) return null;
    found.push({ ...own, lanes: { ...own.lanes, origins: own.lanes.origins.map((origin) => origins[origin]!) } });
  }
  return found;
}

/** What a routine accesses of %arg and %retval. */
function passedIn(ir: IrFunction, width: number): PassedAccesses {
  const { instructions } = ir;
  const accesses = fileAccessesOf(instructions, width, new ComputedVariables(ir)) ?? [];
  return { instructions, accesses: accesses.filter((access) => someElement(access, (at) => isPassed(at, ir))) };
}

function merged(all: readonly PassedAccesses[]): PassedAccesses {
  const instructions: Instruction[] = [];
  const accesses = all.flatMap((some) => {
    const shift = instructions.length;
    instructions.push(...some.instructions);
    return some.accesses.map((access) => ({ ...access, index: access.index + shift }));
  });
  return { instructions, accesses };
}

/** Whether a part of the file is the hardware thread's, and holds something that work items do not know. */
function isUnknown({ at, bits, lanes }: FileHome, { parts }: WorkItemModel): boolean {
  const end = at + ((lanes?.count ?? 1) * bits) / 8;
  const overlaps = (start: number, bytes: number): boolean => at < start + bytes && end > start;
  if (end > argAt) return false;
  const known = [fileLayout.cr0, fileLayout.surfaces, ...parts];
  return !known.some((part) => overlaps(part.at, part.bytes));
}

/**
 * What `%cr0` holds in functions: what the kernel writes to it before it does anything else. Null if that is not
 * known, or if routines change something else that belongs to the thread.
 */
function modesIn([kernel, ...functions]: readonly IrFunction[]): Expr | null {
  const isThreads = ({ registers }: IrFunction, to: unknown): to is number =>
    typeof to === "number" && registers[to]!.home !== undefined && registers[to]!.home.at < argAt;
  if (functions.some((f) => f.instructions.some(({ dst }) => dst.some((to) => isThreads(f, to))))) return null;
  const { instructions, registers } = kernel!;
  const control = registers.findIndex(({ home }) => home?.at === fileLayout.cr0.at);
  let modes = 0;
  const targets = new Set(instructions.flatMap(({ op }) => (op.kind === "branch" ? [op.target] : [])));
  let isStart = true;
  for (const [i, instruction] of instructions.entries()) {
    const { op, dst, guard } = instruction;
    isStart &&= op.kind !== "branch" && !targets.has(i);
    const to = dst.find((register) => isThreads(kernel!, register));
    if (to === undefined) continue;
    let isKnown = isStart && to === control && op.kind === "pure" && guard === null && dst.length === 1;
    readsOf(instruction, {
      register: (r) => {
        isKnown &&= r === control;
      },
    });
    if (!isKnown || op.kind !== "pure") return functions.length === 0 ? kit.i32(0) : null;
    modes = Number(fold(op.values[0]!, () => modes)) | 0;
  }
  return kit.i32(modes);
}
