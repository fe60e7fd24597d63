import { writersIn } from "../../../../ir/flow/accesses.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { kind, kindsOf } from "../values/lane-kinds.ts";

/** A sum of terms, each with a factor; the constant has the key "". */
export type Sum = ReadonlyMap<string, bigint>;

const ofConstant = (value: bigint): Sum => new Map([["", value]]);

/** One sum and a multiple of another. */
export function added(a: Sum, b: Sum, factor = 1n): Sum {
  const sum = new Map(a);
  for (const [term, times] of b) {
    const total = (sum.get(term) ?? 0n) + factor * times;
    if (total === 0n) sum.delete(term);
    else sum.set(term, total);
  }
  return sum;
}

export const sumText = (sum: Sum): string =>
  [...sum]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([term, times]) => `${times}*${term}`)
    .join("+");

const symbolTerm = (symbol: string): string => `symbol ${symbol}`;

const isVariable = (term: string): boolean => term.startsWith("symbol ") || term.startsWith("param ");

/** The greatest common divisor; that of 0 and a number is the number. */
function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

/** The register that a term is; null for any other. */
function registerOf(term: string): number | null {
  const found = /^r(\d+)$/.exec(term);
  return found === null ? null : Number(found[1]);
}

/** Longer terms are numbered. */
const maxTermLength = 200;

/** Numbered terms name so many of the registers that they are computed from. */
const maxWords = 32;

/** What in a term may differ between lanes at the same instruction: registers written in several places, too. */
export const varyingWords = /(?<![a-z])(r\d+|rounds|tid\.|laneid|warpid|clock|globaltimer|old|lane-)/g;

/** The registers that a term is computed from; a term that counts rounds names the one that is advanced in them. */
export const registersOfTerm = (term: string): readonly number[] =>
  isRounds(term) ? [] : (term.match(registerWords) ?? []).map((word) => Number(word.slice(1)));

const registerWords = /(?<![a-z])r\d+/g;

/** Whether a term counts rounds of a loop, in each of which a register is advanced. */
const isRounds = (term: string): boolean => term.startsWith("rounds ");

/** The largest power of two that divides all factors, so that it does so where a product wraps around, too. */
export function commonMultiple(factors: readonly bigint[]): bigint {
  const common = factors.reduce(gcd, 0n);
  return common & -common;
}

/** The values of a register: a sum, null where it has none as far as is known, and a multiple of a number (0: none). */
interface Congruence {
  readonly start: Sum | null;
  readonly multiple: bigint;
}

/** What is computed from a register that has no value so far as is known. */
const unreachedTerm = "no value";
const unreached: Sum = new Map([[unreachedTerm, 1n]]);

/** Registers that are not settled by then are not compared. */
const maxPasses = 12;

/** Addresses as sums, as far as each register is written in one place. */
export class AddressSums {
  /** How registers vary (`kindsOf`). */
  readonly kinds: Readonly<Uint8Array>;
  readonly #writers: ReadonlyMap<number, readonly Instruction[]>;
  readonly #known = new Map<number, Sum>();
  /** Terms that are too long to be parts of others, by number. */
  readonly #longTerms = new Map<string, number>();
  /** Terms that are not registers and may differ from lane to lane. */
  readonly #varying = new Set<string>();
  /** What is known of registers that are written in several places: see `#solve`. */
  #solved: Map<number, Congruence> | null = null;
  /** Whether it is being found. */
  #isSolving = false;

  /** `solves`: whether registers are compared with all that they are computed from in loops, which takes more time. */
  constructor(ir: IrFunction, solves = false) {
    this.kinds = kindsOf(ir);
    this.#writers = writersIn(ir.instructions);
    if (solves) this.#solve();
  }

  /** Whether a sum may differ from lane to lane, otherwise than by thread numbers. */
  varies(sum: Sum): boolean {
    return [...sum.keys()].some((term) => {
      const register = registerOf(term);
      if (register !== null) return this.kinds[register] !== kind.uniform;
      return this.#varying.has(term) || term === "laneid" || isRounds(term);
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
        const own: Sum = new Map([[term, 1n]]);
        for (const writer of this.#writers.get(register) ?? []) {
          if (writer.dst.includes(register)) visit(this.#written(writer, register, own));
        }
      }
    };
    visit(sum);
    return found;
  }

  /**
   * Bytes from one lane of a row to the next, for a register that a loop advances as when it begins; NaN where it is
   * written in several places otherwise.
   */
  stepOf(expr: Expr, within: ReadonlySet<number> = new Set()): number {
    let step = 0;
    for (const [term, factor] of this.of(expr)) {
      const register = registerOf(term);
      if (term === "tid.x") step += Number(factor);
      else if (register !== null && !within.has(register)) step += Number(factor) * this.#firstStep(register, within);
    }
    return step;
  }

  #firstStep(register: number, within: ReadonlySet<number>): number {
    const [first, ...others] = this.#writers.get(register) ?? [];
    if (first?.op.kind !== "pure") return 0;
    if (!others.every((other) => this.#advances(other, register))) return Number.NaN;
    return this.stepOf(first.op.values[first.dst.indexOf(register)]!, new Set([...within, register]));
  }

  /** Whether an instruction adds to a register what is the same for all lanes. */
  #advances({ op, dst }: Instruction, register: number): boolean {
    if (op.kind !== "pure") return false;
    const by = added(this.of(op.values[dst.indexOf(register)]!), new Map([[`r${register}`, 1n]]), -1n);
    return !by.has(`r${register}`) && !by.has("tid.x") && !this.varies(by);
  }

  of(expr: Expr): Sum {
    switch (expr.kind) {
      case "const":
        if (typeof expr.value === "boolean") return expr.value ? ofConstant(1n) : new Map();
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
    const solved = this.#isSolving || this.kinds[register] !== kind.uniform ? this.#solvedSum(register) : null;
    if (solved !== null) {
      this.#known.set(register, solved);
      return solved;
    }
    const found = isSole ? this.#written(writer, register, own) : this.#advanced(register, own);
    // What was computed from it meanwhile was computed from the term.
    if (found !== own && !isSole) {
      for (const [r, sum] of this.#known) if (sum.has(`r${register}`)) this.#known.delete(r);
    }
    this.#known.set(register, found);
    return found;
  }

  /** What is known of a register that is written in several places; null for others. */
  #solvedSum(register: number): Sum | null {
    const found = this.#solved?.get(register);
    if (found === undefined) return null;
    const { start, multiple } = found;
    if (start === null) return unreached;
    return multiple === 0n ? start : added(start, new Map([[`rounds ${register}`, multiple]]));
  }

  /**
   * Finds for registers that are written in several places, as by loops and where ways meet, what all of their values
   * are give or take a multiple of a number: from the best case on, until nothing changes.
   */
  #solve(): void {
    const solved = new Map<number, Congruence>();
    for (const [r, writers] of this.#writers) {
      const isStarted = writers.some(({ guard }) => guard === null);
      const arePure = writers.every(
        ({ op, dst, lanes }) => op.kind === "pure" && dst.includes(r) && lanes === undefined,
      );
      if (writers.length > 1 && isStarted && arePure) solved.set(r, { start: null, multiple: 0n });
    }
    this.#solved = solved;
    this.#isSolving = true;
    let isChanged = solved.size > 0;
    for (let pass = 0; isChanged && pass < maxPasses; pass++) {
      isChanged = false;
      this.#known.clear();
      for (const [r, before] of solved) {
        const after = this.#valuesOf(r, before);
        if (after.start === before.start && after.multiple === before.multiple) continue;
        solved.set(r, after);
        isChanged = true;
      }
    }
    this.#isSolving = false;
    this.#known.clear();
    if (isChanged) this.#solved = null;
  }

  /** What a register may hold, given what was known of it. */
  #valuesOf(register: number, known: Congruence): Congruence {
    let { start, multiple } = known;
    for (const { op, dst } of this.#writers.get(register)!) {
      if (op.kind !== "pure") continue;
      const value = this.of(op.values[dst.indexOf(register)]!);
      if ([...value.keys()].some((term) => term.includes(unreachedTerm))) continue;
      const given = new Map([...value].filter(([term]) => !isRounds(term)));
      const rounds = [...value].flatMap(([term, factor]) => (isRounds(term) ? [factor] : []));
      start ??= given;
      multiple = commonMultiple([multiple, ...rounds, ...added(given, start, -1n).values()]);
    }
    return { start, multiple };
  }

  /**
   * A register that differs from lane to lane, begins with a value and is then advanced by constants: that value and an
   * unknown multiple of what they have in common. The register itself if it is none of these.
   */
  #advanced(register: number, own: Sum): Sum {
    if (this.kinds[register] === kind.uniform) return own;
    let start: Sum | null = null;
    let step = 0n;
    for (const writer of this.#writers.get(register) ?? []) {
      if (writer.op.kind !== "pure") return own;
      const value = this.of(writer.op.values[writer.dst.indexOf(register)]!);
      const distance = added(value, own, -1n);
      if (!value.has(`r${register}`) && start === null && writer.guard === null) start = value;
      else if (distance.size === 0 || (distance.size === 1 && distance.has("")))
        step = gcd(step, distance.get("") ?? 0n);
      else return own;
    }
    return start === null || step === 0n ? own : added(start, new Map([[`rounds ${register}`, step]]));
  }

  #written({ op, dst }: Instruction, register: number, own: Sum): Sum {
    if (op.kind === "pure") return this.of(op.values[dst.indexOf(register)]!);
    if (op.kind !== "load" || op.access.space !== "kernel-param" || op.place.kind !== "address") return own;
    // What is as wide as an address may be a pointer.
    const isPointer = op.access.bits === (op.place.address.ty === "i64" ? 64 : 32);
    return new Map([[`${isPointer ? "param" : "number"} ${sumText(this.of(op.place.address))}`, 1n]]);
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
    // Shift counts, which hardware takes modulo a width.
    if (/^i(32|64)\.and$/.test(expr.prim) && constant(a) !== null && constant(b) !== null)
      return ofConstant(constant(a)! & constant(b)!);
    const factor = /^i(32|64)\.mul$/.test(expr.prim)
      ? (constant(b) ?? constant(a))
      : /^i(32|64)\.shl$/.test(expr.prim) && constant(b) !== null
        ? 1n << (constant(b)! & 63n)
        : null;
    if (factor !== null) return added(new Map(), constant(b) === null ? b! : a!, factor);
    const term = this.#shortened(`${expr.prim}(${args.map(sumText).join()})`);
    const varies = args.some((arg) => this.varies(arg) || threadNumbers.some((name) => arg.has(name)));
    if (varies) this.#varying.add(term);
    return new Map([[term, 1n]]);
  }

  /** A term, or a number for it if it is long: terms would grow with the power of the depth of a hash otherwise. */
  #shortened(term: string): string {
    if (term.length <= maxTermLength) return term;
    const number = this.#longTerms.get(term) ?? this.#longTerms.size;
    this.#longTerms.set(term, number);
    const varying = new Set(term.match(varyingWords));
    if (varying.size <= maxWords) return `value ${number} of ${[...varying].sort().join(" ")}`;
    // Of so many registers some may be others by then: it counts as one that lanes have each at their own time.
    const short = `value ${number} of rounds`;
    this.#varying.add(short);
    return short;
  }
}

export const threadNumbers: readonly string[] = ["tid.x", "tid.y", "tid.z"];
