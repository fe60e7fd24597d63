import { type Expr, mapChanged } from "../semantics/index.ts";
import type { Place } from "./access.ts";
import type {
  Argument,
  CallTarget,
  ForwardedWords,
  Instruction,
  Op,
  OpOf,
  UndefinedCase,
  WarpOp,
} from "./instruction.ts";

type Visit = (expr: Expr) => void;
type Replace = (expr: Expr) => Expr;

/**
 * How the expressions in a value of type T are reached: the one description that visiting and replacing derive from.
 */
interface Operands<T> {
  /** Shows each expression, in the order of the description. */
  visit(value: T, visit: Visit): void;
  /** The value with each expression replaced; the same object if none changes. */
  map(value: T, map: Replace): T;
}

/** Whether values of a type hold expressions. */
type HoldsExpr<T> = [Extract<T, Expr>] extends [never]
  ? T extends readonly (infer E)[]
    ? HoldsExpr<E>
    : T extends object
      ? true extends { [F in keyof T]-?: HoldsExpr<T[F]> }[keyof T]
        ? true
        : false
      : false
  : true;

/**
 * A description for every field of T that holds expressions, and for no other. A field that is forgotten does not
 * compile, nor does a variant of a union.
 */
type Fields<T> = {
  readonly [F in keyof T as true extends HoldsExpr<T[F]> ? F : never]-?: Operands<T[F]>;
};

type Variants<T extends Readonly<Record<D, string>>, D extends string> = {
  readonly [K in T[D]]: Fields<Extract<T, Readonly<Record<D, K>>>>;
};

const one: Operands<Expr> = {
  visit: (expr, visit) => visit(expr),
  map: (expr, map) => map(expr),
};

function nullable<T>(operands: Operands<T>): Operands<T | null> {
  return {
    visit: (value, visit) => {
      if (value !== null) operands.visit(value, visit);
    },
    map: (value, map) => (value === null ? null : operands.map(value, map)),
  };
}

/** Of a field that may be absent. */
const optional = <T>(operands: Operands<T>): Operands<T | undefined> => ({
  visit: (value, visit) => {
    if (value !== undefined) operands.visit(value, visit);
  },
  map: (value, map) => (value === undefined ? undefined : operands.map(value, map)),
});

const expressions: Operands<readonly (Expr | null)[]> = {
  visit: (list, visit) => {
    for (let i = 0; i < list.length; i++) {
      const expr = list[i]!;
      if (expr !== null) visit(expr);
    }
  },
  map: (list, map) => mapChanged(list, (expr) => expr && map(expr)),
};

/** A list or tuple of expressions; elements may be null. Mapping keeps its length, and so its type. */
const list = <T extends readonly (Expr | null)[]>(): Operands<T> => expressions as unknown as Operands<T>;

function each<T>(operands: Operands<T>): Operands<readonly T[]> {
  return {
    visit: (values, visit) => {
      for (let i = 0; i < values.length; i++) operands.visit(values[i]!, visit);
    },
    map: (values, map) => mapChanged(values, (value) => operands.map(value, map)),
  };
}

function fields<T extends object>(described: Fields<T>): Operands<T> {
  const entries = Object.entries(described) as unknown as (readonly [keyof T, Operands<T[keyof T]>])[];
  return {
    visit: (value, visit) => {
      for (let i = 0; i < entries.length; i++) {
        const [field, operands] = entries[i]!;
        operands.visit(value[field], visit);
      }
    },
    map: (value, map) => {
      let changed: T | null = null;
      for (let i = 0; i < entries.length; i++) {
        const [field, operands] = entries[i]!;
        const mapped = operands.map(value[field], map);
        if (mapped === value[field]) continue;
        changed ??= { ...value };
        changed[field] = mapped;
      }
      return changed ?? value;
    },
  };
}

/** The variants of a union by the field that tells them apart. */
function variants<T extends Readonly<Record<D, string>>, D extends string>(
  tag: D,
  described: Variants<T, D>,
): Operands<T> {
  const byTag: Record<string, Operands<T>> = Object.create(null);
  for (const [name, variant] of Object.entries(described)) byTag[name] = fields<T>(variant as Fields<T>);
  const of = (value: T): Operands<T> => byTag[value[tag]]!;
  return {
    visit: (value, visit) => of(value).visit(value, visit),
    map: (value, map) => of(value).map(value, map),
  };
}

const place = variants<Place, "kind">("kind", {
  address: { address: one },
  surface: { offset: one, surface: one },
});

const warp = variants<WarpOp, "op">("op", {
  shfl: { operands: list() },
  vote: { operands: list() },
  match: { operands: list() },
  redux: { operands: list(), combine: one },
  elect: { operands: list() },
  sync: { operands: list() },
  align: { operands: list() },
  arrange: { operands: list() },
  multiply: { operands: list() },
});

const callTarget = variants<CallTarget, "kind">("kind", { direct: {}, indirect: { address: one } });
const fileTarget = variants<OpOf<"file-call">["target"], "kind">("kind", { direct: {}, indirect: { address: one } });

const argument = variants<Argument, "kind">("kind", {
  value: { value: one },
  frame: {},
  pair: { low: one, high: one },
  vector: { elements: list() },
});

type Reduce = NonNullable<OpOf<"barrier">["reduce"]>;

/** The expressions that an operation reads, by kind and field. */
const operandFields: Variants<Op, "kind"> = {
  pure: { values: list() },
  load: { place, forwarded: optional(fields<ForwardedWords>({ sources: list() })) },
  store: { place, values: list() },
  atomic: {
    place,
    combine: list(),
    results: optional(list<readonly Expr[]>()),
    problem: optional(fields<NonNullable<OpOf<"atomic">["problem"]>>({ number: one })),
  },
  copy: {
    from: fields<OpOf<"copy">["from"]>({ place }),
    to: fields<OpOf<"copy">["to"]>({ place }),
    size: nullable(one),
  },
  "commit-copies": {},
  "await-copies": {},
  "order-products": {},
  unit: { operands: list() },
  warp: { mask: nullable(one), warp },
  activemask: {},
  barrier: { id: one, count: nullable(one), reduce: nullable(fields<Reduce>({ a: one })) },
  "cluster-barrier": {},
  "cluster-poll": {},
  fence: {},
  branch: {},
  "branch-indexed": { index: one },
  call: { target: callTarget, args: each(argument) },
  "file-call": { target: fileTarget },
  "subroutine-call": {},
  return: {},
  exit: {},
  trap: {},
  breakpoint: {},
  alloca: { size: one },
  "stack-save": {},
  "stack-restore": { value: one },
  sleep: { nanoseconds: one },
  nothing: {},
  unsupported: {},
};

const operation = variants<Op, "kind">("kind", operandFields);

/** The operations of the kinds that have operands. @internal */
export type OpWithOperands = {
  [K in Op["kind"]]: keyof Fields<OpOf<K>> extends never ? never : OpOf<K>;
}[Op["kind"]];

const kindsWithOperands: ReadonlySet<string> = new Set(
  Object.entries(operandFields).flatMap(([kind, described]) => (Object.keys(described).length > 0 ? [kind] : [])),
);

/** Whether operations of this kind have operands: what has none computes, uses and passes on no value. @internal */
export const hasOperands = (op: Op): op is OpWithOperands => kindsWithOperands.has(op.kind);

const undefinedCase = fields<UndefinedCase>({ when: one });

/**
 * Shows every expression that an operation computes. Computed places of results and undefined cases are not part of it.
 */
export const visitOperands = (op: Op, visit: (expr: Expr) => void): void => operation.visit(op, visit);

const none: readonly Expr[] = [];

/** Every expression that an operation computes, in the order in which `visitOperands` shows them. */
export function operandsOf(op: Op): readonly Expr[] {
  if (op.kind === "pure") return op.values;
  let found: Expr[] | null = null;
  operation.visit(op, (expr) => {
    if (found === null) found = [expr];
    else found.push(expr);
  });
  return found ?? none;
}

/** The operation with each expression replaced that it reads; the same object if nothing changes. */
export function mapOpOperands(op: Op, map: (expr: Expr) => Expr): Op {
  // Most operations are `pure`, for which there is a shorter way.
  if (op.kind !== "pure") return operation.map(op, map);
  const values = mapChanged(op.values, map);
  return values === op.values ? op : { kind: "pure", values };
}

/**
 * The instruction with each expression replaced that it reads: operands and undefined cases, not what it writes and its
 * guard. The same object if nothing changes.
 */
export function mapOperands(instruction: Instruction, map: (expr: Expr) => Expr): Instruction {
  const op = mapOpOperands(instruction.op, map);
  const cases = instruction.undefinedCases;
  // Nearly all instructions have none.
  const undefinedCases = cases.length === 0 ? cases : mapChanged(cases, (u) => undefinedCase.map(u, map));
  const isSame = op === instruction.op && undefinedCases === instruction.undefinedCases;
  return isSame ? instruction : { ...instruction, op, undefinedCases };
}

/** The values that an argument consists of, one for each register; none for a variable of the frame. */
export function valuesOf(arg: Argument): readonly Expr[] {
  const found: Expr[] = [];
  argument.visit(arg, (expr) => found.push(expr));
  return found;
}

/** A warp-wide operation on other operands, of which `map` gives one for each. */
export const mapWarpOperands = <O extends WarpOp>(op: O, map: (expr: Expr) => Expr): O => ({
  ...op,
  operands: op.operands.map(map),
});

/** Whether any of the arguments is more than a leaf. */
export function hasInner(args: readonly Expr[]): boolean {
  for (let i = 0; i < args.length; i++) {
    const { kind } = args[i]!;
    if (kind === "prim" || kind === "indirect") return true;
  }
  return false;
}

const isSymbol = ({ kind }: Expr): boolean => kind === "symbol";

/**
 * Shows the names of variables and functions in an operation's expressions. `seen`: parts that have been shown already.
 */
export function symbolsOf(op: Op, show: (name: string) => void, seen: Set<Expr>): void {
  const walk = (expr: Expr): void => {
    if (expr.kind === "symbol") show(expr.symbol);
    else if (expr.kind === "indirect") walk(expr.address);
    else if (expr.kind === "prim") {
      // Remembering what has only leaves would take longer than looking at these again, but names are shown once.
      if (hasInner(expr.args) || expr.args.some(isSymbol)) {
        if (seen.has(expr)) return;
        seen.add(expr);
      }
      for (let i = 0; i < expr.args.length; i++) walk(expr.args[i]!);
    }
  };
  visitOperands(op, walk);
}
