import { accessesOf } from "../../../../ir/op-traits.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { kindsOf } from "../values/register-pressure.ts";

/**
 * What lanes of a warp find of each other's plain accesses between two barriers. `loads`: a lane may load what another
 * has stored, or overwrite what another loads, in memory that they share: programs that know of no other schedule rely
 * on the lanes of a warp going together. `stores`: only the last of several stores, or what is loaded before it is
 * overwritten in global memory, may depend on it. `none`: nothing that the code shows.
 */
export type WarpConflicts = "none" | "stores" | "loads";

/** Kernels with more instructions are not examined. */
const maxInstructions = 20_000;

/** A sum of terms, each with a factor; the constant has the key "". */
type Sum = ReadonlyMap<string, bigint>;

const ofConstant = (value: bigint): Sum => new Map([["", value]]);

function added(a: Sum, b: Sum, factor = 1n): Sum {
  const sum = new Map(a);
  for (const [term, times] of b) {
    const total = (sum.get(term) ?? 0n) + factor * times;
    if (total === 0n) sum.delete(term);
    else sum.set(term, total);
  }
  return sum;
}

const textOf = (sum: Sum): string =>
  [...sum]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([term, times]) => `${times}*${term}`)
    .join("+");

const symbolTerm = (symbol: string): string => `symbol ${symbol}`;

const isVariable = (term: string): boolean => term.startsWith("symbol ") || term.startsWith("param ");

/** The register that a term is; null for any other. */
function registerOf(term: string): number | null {
  const found = /^r(\d+)$/.exec(term);
  return found === null ? null : Number(found[1]);
}

/** Addresses as sums, as far as each register is written in one place. */
export class AddressSums {
  readonly #writers = new Map<number, Instruction[]>();
  readonly #known = new Map<number, Sum>();
  readonly #kinds: Uint8Array;
  /** Terms that are not registers and may differ from lane to lane. */
  readonly #varying = new Set<string>();

  constructor(ir: IrFunction) {
    const { instructions } = ir;
    this.#kinds = kindsOf(ir);
    for (const instruction of instructions) {
      writesOf(instruction, (r) => {
        const list = this.#writers.get(r);
        if (list === undefined) this.#writers.set(r, [instruction]);
        else list.push(instruction);
      });
    }
  }

  /** Whether a sum may differ from lane to lane. */
  varies(sum: Sum): boolean {
    return [...sum.keys()].some((term) => {
      const register = registerOf(term);
      return register === null ? this.#varying.has(term) || term === "laneid" : this.#kinds[register] !== 0;
    });
  }

  /** The variables and pointers that a sum may be computed from. */
  variablesOf(sum: Sum): ReadonlySet<string> {
    const found = new Set<string>();
    const seen = new Set<number>();
    const visit = (terms: Sum): void => {
      for (const term of terms.keys()) {
        if (isVariable(term)) found.add(term);
        const register = registerOf(term);
        if (register === null || seen.has(register)) continue;
        seen.add(register);
        for (const { op, dst } of this.#writers.get(register) ?? []) {
          const at = dst.indexOf(register);
          if (op.kind === "pure" && at >= 0) visit(this.of(op.values[at]!));
        }
      }
    };
    visit(sum);
    return found;
  }

  of(expr: Expr): Sum {
    switch (expr.kind) {
      case "const":
        if (typeof expr.value === "boolean") return new Map();
        // A float is a term: zeros of both signs, and NaNs, are told apart nowhere else.
        return /^f/.test(expr.ty)
          ? new Map([[`${expr.ty} ${Object.is(expr.value, -0) ? "-0" : expr.value}`, 1n]])
          : ofConstant(BigInt(expr.value));
      case "special":
        return new Map([[expr.name, 1n]]);
      case "symbol":
        return added(new Map([[symbolTerm(expr.symbol), 1n]]), ofConstant(BigInt(expr.offset)));
      case "reg":
        return this.#ofRegister(expr.reg);
      case "prim":
        return this.#ofPrim(expr);
      default:
        return new Map([
          [JSON.stringify(expr, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part)), 1n],
        ]);
    }
  }

  #ofRegister(register: number): Sum {
    const known = this.#known.get(register);
    if (known !== undefined) return known;
    // A register that is computed from itself is a term.
    const own: Sum = new Map([[`r${register}`, 1n]]);
    this.#known.set(register, own);
    const [writer, other] = this.#writers.get(register) ?? [];
    const isSole = writer !== undefined && other === undefined && writer.guard === null;
    const found = isSole ? this.#written(writer, register, own) : own;
    this.#known.set(register, found);
    return found;
  }

  #written({ op, dst }: Instruction, register: number, own: Sum): Sum {
    if (op.kind === "pure") return this.of(op.values[dst.indexOf(register)]!);
    if (op.kind !== "load" || op.access.space !== "kernel-param" || op.place.kind !== "address") return own;
    // What is as wide as an address may be a pointer.
    const isPointer = op.access.bits === (op.place.address.ty === "i64" ? 64 : 32);
    return new Map([[`${isPointer ? "param" : "number"} ${textOf(this.of(op.place.address))}`, 1n]]);
  }

  #ofPrim(expr: Extract<Expr, { kind: "prim" }>): Sum {
    const args = expr.args.map((arg) => this.of(arg));
    const [a, b] = args;
    const constant = (sum: Sum | undefined): bigint | null =>
      sum === undefined || sum.size > 1 ? null : sum.size === 0 ? 0n : (sum.get("") ?? null);
    // Where a sum wraps around, both of two equal ones do.
    if (/^i(32|64)\.add$/.test(expr.prim)) return added(a!, b!);
    if (/^i(32|64)\.sub$/.test(expr.prim)) return added(a!, b!, -1n);
    if (/^i64\.extend|^i32\.wrap/.test(expr.prim)) return a!;
    const factor = /^i(32|64)\.mul$/.test(expr.prim)
      ? (constant(b) ?? constant(a))
      : /^i(32|64)\.shl$/.test(expr.prim) && constant(b) !== null
        ? 1n << (constant(b)! & 63n)
        : null;
    if (factor !== null) return added(new Map(), constant(b) === null ? b! : a!, factor);
    const term = `${expr.prim}(${args.map(textOf).join()})`;
    const varies = args.some((arg) => this.varies(arg) || threadNumbers.some((name) => arg.has(name)));
    if (varies) this.#varying.add(term);
    return new Map([[term, 1n]]);
  }
}

const threadNumbers: readonly string[] = ["tid.x", "tid.y", "tid.z"];

/** An access as far as it matters which others it meets. */
interface Touch {
  /** The variables and pointers from which its address is computed: none for any of shared memory. */
  readonly objects: ReadonlySet<string>;
  readonly isShared: boolean;
  readonly writes: boolean;
  /** The address: bytes from one thread to the next in x, y and z, a constant, and the rest as a text. */
  readonly steps: readonly number[];
  readonly constant: number;
  readonly rest: string;
  /** Whether the rest may differ from lane to lane. */
  readonly varies: boolean;
  readonly bytes: number;
}

/** Finds what lanes of a warp find of each other's accesses, in blocks of some shape. */
export function warpConflictsOf(ir: IrFunction, block: Dim3): WarpConflicts {
  const { instructions } = ir;
  if (instructions.length > maxInstructions) return "stores";
  const sums = new AddressSums(ir);
  const touches = new Map<number, readonly Touch[]>();
  instructions.forEach((instruction, i) => {
    const found = touchesOf(instruction, sums);
    if (found.length > 0) touches.set(i, found);
  });
  if (![...touches.values()].some((list) => list.some((t) => t.writes))) return "none";
  return conflictsBetween(ir, touches, new Meetings(block));
}

function touchesOf(instruction: Instruction, sums: AddressSums): readonly Touch[] {
  return accessesOf(instruction.op).flatMap(({ effect, access: { space, bits, count }, place }) => {
    if (effect === "atomic" || place.kind !== "address") return [];
    const sum = sums.of(place.address);
    const objects = sums.variablesOf(sum);
    const isShared = space === "shared";
    // Pointers of unknown origin do not count: each load through one would be a conflict.
    if (!isShared && ((space !== "global" && space !== "generic") || objects.size === 0)) return [];
    const rest = new Map([...sum].filter(([term]) => term !== "" && !threadNumbers.includes(term)));
    return [
      {
        objects,
        isShared,
        writes: effect === "store",
        steps: threadNumbers.map((name) => Number(sum.get(name) ?? 0n)),
        constant: Number(sum.get("") ?? 0n),
        rest: textOf(rest),
        varies: sums.varies(rest),
        bytes: (bits / 8) * count,
      },
    ];
  });
}

/** Lanes of a warp. */
const warpLanes = 32;

/** Which accesses of different lanes of a warp may have a byte in common. */
class Meetings {
  /** By lane of the first warp, and of the last that is not like it: the thread's numbers. */
  readonly #threads: readonly (readonly number[])[];
  readonly #known = new Map<string, boolean>();

  constructor([x, y, z]: Dim3) {
    const lanes = Math.min(warpLanes, x * y * z);
    this.#threads = Array.from({ length: lanes }, (_, t) => [t % x, Math.floor(t / x) % y, Math.floor(t / (x * y))]);
  }

  mayMeet(a: Touch, b: Touch): boolean {
    if (a.objects.size > 0 && b.objects.size > 0 && ![...a.objects].some((object) => b.objects.has(object)))
      return false;
    if (a.isShared !== b.isShared) return false;
    if (a.rest !== b.rest || a.varies) return true;
    const key = `${a.steps.join()} ${b.steps.join()} ${b.constant - a.constant} ${a.bytes} ${b.bytes}`;
    let known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, (known = this.#overlap(a, b)));
    return known;
  }

  #overlap(a: Touch, b: Touch): boolean {
    const startsOf = ({ steps, constant }: Touch): readonly number[] =>
      this.#threads.map((numbers) => numbers.reduce((at, n, i) => at + n * steps[i]!, constant));
    const others = startsOf(b);
    return startsOf(a).some((from, i) =>
      others.some((start, j) => i !== j && from < start + b.bytes && start < from + a.bytes),
    );
  }
}

/** What has been accessed since a barrier: accesses that differ in anything, by a key. */
type Since = Map<string, Touch>;

function conflictsBetween(
  ir: IrFunction,
  touches: ReadonlyMap<number, readonly Touch[]>,
  meetings: Meetings,
): WarpConflicts {
  const { blocks } = flowGraphOf(ir.instructions);
  const ins: Since[] = blocks.map(() => new Map());
  const todo = new Set(blocks.map(({ index }) => index));
  let worst: WarpConflicts = "none";
  for (const block of todo) {
    todo.delete(block);
    const { start, end, successors } = blocks[block]!;
    const since = new Map(ins[block]!);
    for (let i = start; i < end; i++) {
      if (ir.instructions[i]!.op.kind === "barrier") since.clear();
      for (const touch of touches.get(i) ?? []) {
        const found = conflictWith(since, touch, meetings);
        if (found === "loads") return found;
        if (found === "stores") worst = found;
        since.set(keyOf(touch), touch);
      }
    }
    for (const s of successors) if (s < blocks.length && merge(ins[s]!, since)) todo.add(s);
  }
  return worst;
}

/** What an access finds of earlier ones. */
function conflictWith(since: Since, touch: Touch, meetings: Meetings): WarpConflicts {
  let worst: WarpConflicts = "none";
  for (const other of since.values()) {
    // Whoever stores twice to global memory mostly stores elsewhere.
    if (!touch.writes && !other.writes) continue;
    if (touch.writes && other.writes && !touch.isShared) continue;
    if (!meetings.mayMeet(touch, other)) continue;
    if (!touch.writes || (touch.isShared && !other.writes)) return "loads";
    worst = "stores";
  }
  return worst;
}

const keyOf = ({ objects, writes, steps, constant, bytes, rest }: Touch): string =>
  `${writes} ${constant} ${bytes} ${steps.join()} ${rest} ${[...objects].join()}`;

/** Adds accesses to those that a block begins with; true if there were others before. */
function merge(into: Since, from: Since): boolean {
  const { size } = into;
  for (const [key, touch] of from) into.set(key, touch);
  return into.size > size;
}
