import { accessesOf, hasOperands, laneAddressOf, type MemoryAccess, type Op, type WarpOp } from "../../ir/index.ts";
import { type Candidate, type Form, type Gate, type OperandAccess, type OperandRule, stepsOf } from "./index.ts";
import { type Expr, kit, type LeafName, printEquations, printExpr, type Ty } from "../../semantics/index.ts";

/** The type that an operand of this rule has for a row; see `Source` in ptx/isa/define.ts. */
function tyOf({ type, shape }: OperandRule): Ty {
  if (shape !== "value" || type === null) return "i64";
  if (type.kind === "pred") return "pred";
  if (type.name === "f32" || type.name === "f64") return type.name;
  return type.bits > 32 ? "i64" : "i32";
}

/** The semantics of a row cannot be built without the value of this immediate. */
class NeedsValue extends Error {}

/** Operands known only by name, in the manual's notation, from which the semantics of a row can be printed. */
class SymbolicOperands implements OperandAccess {
  readonly #names: string[] = ["carry"];
  readonly #elements = new Map<string, readonly Expr[]>();
  readonly #rules = new Map<string, OperandRule>();
  readonly source: Record<string, Expr> = {};
  readonly carry: Expr = { kind: "reg", ty: "pred", reg: 0 };

  constructor({ operands }: Candidate) {
    for (const { name, rule, second, secondRule, destination } of operands) {
      this.#rules.set(name, rule);
      if (second && secondRule) this.#rules.set(second.name, secondRule);
      if (destination) continue;
      // A value of 128 bits is two halves.
      const n = Math.max(...rule.counts) * (rule.type?.bits === 128 ? 2 : 1);
      const list = Array.from({ length: n }, (_, i) => this.#leaf(n > 1 ? `${name}${i}` : name, rule));
      this.#elements.set(name, list);
      if (list[0]) this.source[name] = list[0];
    }
  }

  #leaf(name: string, rule: OperandRule): Expr {
    return { kind: "reg", ty: tyOf(rule), reg: this.#names.push(name) - 1 };
  }

  readonly nameOf: LeafName = (leaf) => {
    if (leaf.kind === "reg") return this.#names[leaf.reg] ?? "?";
    if (leaf.kind === "old") return leaf.index === 0 ? "old" : `old${leaf.index}`;
    return leaf.kind === "special" ? `%${leaf.name}` : "symbol" in leaf ? leaf.symbol : "frame";
  };

  vector(name: string): readonly Expr[] {
    return this.#elements.get(name) ?? [];
  }
  present(name: string): readonly Expr[] {
    return this.vector(name);
  }
  previous(name: string): readonly Expr[] {
    return [this.#leaf(name, this.#rules.get(name)!)];
  }
  has(name: string): boolean {
    return this.#rules.has(name);
  }
  constant(name: string): never {
    throw new NeedsValue(name);
  }
  temporary(index: number): { readonly register: number; readonly value: Expr } {
    const register = this.#numberOf(`t${index}`);
    return { register, value: { kind: "reg", ty: "i32", reg: register } };
  }
  destinations(name: string): readonly number[] {
    const count = this.count(name);
    return Array.from({ length: count }, (_, i) => this.#numberOf(count > 1 ? `${name}${i}` : name));
  }
  #numberOf(name: string): number {
    const known = this.#names.indexOf(name);
    return known < 0 ? this.#names.push(name) - 1 : known;
  }
  /** Where instructions differ between targets, the newest is described. */
  readonly sm = 120;
  width(name: string): number {
    return this.#rules.get(name)?.type?.bits ?? 32;
  }
  count(name: string): number {
    return Math.max(...(this.#rules.get(name)?.counts ?? [1]));
  }
  selector(): null {
    return null;
  }
  negated(): boolean {
    return false;
  }
}

/** The most combinations of modifiers examined for a form. */
export const combinations = 400;

/** Yields the combinations of a form's modifiers, as opcodes; at most `limit` of them. */
export function* opcodesOf(form: Form, limit: number): Generator<string> {
  let left = limit;
  function* from(slot: number, text: string): Generator<string> {
    const modifier = form.modifiers[slot];
    if (modifier === undefined) {
      if (left-- > 0) yield text;
      return;
    }
    if (modifier.optional) yield* from(slot + 1, text);
    for (const choice of modifier.choices ?? [modifier.name]) {
      if (left <= 0) return;
      yield* from(slot + 1, `${text}.${choice}`);
    }
  }
  yield* from(0, /^\w+/.exec(form.text)?.[0] ?? "");
}

const isList = (value: unknown): value is readonly Expr[] => Array.isArray(value);

/**
 * Yields the operations that are a form's effect, one for each combination of its modifiers; null for one that needs
 * the value of an operand.
 */
function* opsOf(form: Form, resolve: (opcode: string) => Candidate | undefined): Generator<Op | null> {
  for (const opcode of opcodesOf(form, combinations)) {
    const candidate = resolve(opcode);
    if (!candidate || !form.effect) continue;
    const operands = new SymbolicOperands(candidate);
    try {
      for (const { op } of stepsOf(form.effect(kit, operands.source, candidate.mods, operands))) yield op;
    } catch (error) {
      if (!(error instanceof NeedsValue)) throw error;
      yield null;
    }
  }
}

/**
 * The reason why a form can never be executed, or null if it can, at least with some modifiers. Either the row itself
 * gives the reason, or all operations that it makes are unsupported.
 */
export function obstacleOf(form: Form, resolve: (opcode: string) => Candidate | undefined): string | null {
  if (form.unimplemented !== null || !form.effect) return form.unimplemented;
  let reason: string | null = null;
  for (const op of opsOf(form, resolve)) {
    if (op?.kind !== "unsupported") return null;
    reason ??= op.reason;
  }
  return reason;
}

/** Describes what a form does with these modifiers, line by line; empty if it is not modelled. */
export function describeSemantics(candidate: Candidate): string[] {
  const { form, mods } = candidate;
  const operands = new SymbolicOperands(candidate);
  if (form.control !== null && !form.effect) return ["control flow"];
  try {
    if (form.sem) return equations(form.sem(kit, operands.source, mods, operands), candidate, operands.nameOf);
    if (form.effect) {
      const steps = stepsOf(form.effect(kit, operands.source, mods, operands));
      return steps.flatMap(({ op }) => describeOp(op, operands.nameOf));
    }
  } catch (error) {
    if (error instanceof NeedsValue) return [`depends on the value of ${error.message}`];
    throw error;
  }
  return [];
}

function equations(results: ReturnType<NonNullable<Form["sem"]>>, candidate: Candidate, nameOf: LeafName): string[] {
  const first = candidate.operands.find((o) => o.destination)?.name ?? "d";
  const named: Readonly<Record<string, Expr | readonly Expr[]>> =
    "ty" in results ? { [first]: results as Expr } : (results as Readonly<Record<string, Expr | readonly Expr[]>>);
  return printEquations(
    Object.entries(named).flatMap(([name, value]) =>
      isList(value)
        ? value.map((element, i) => ({ name: value.length > 1 ? `${name}${i}` : name, value: element }))
        : [{ name, value: value as Expr }],
    ),
    nameOf,
  );
}

function describeWarpOp(op: WarpOp, show: (expr: Expr) => string): string {
  switch (op.op) {
    case "shfl": {
      const [value, lane, bounds] = op.operands.map(show);
      return `d = ${value} of another lane (${op.mode} ${lane}, bounds ${bounds})`;
    }
    case "vote":
      return `d = ${op.mode} of ${show(op.operands[0])}`;
    case "match":
      return `d = the lanes where ${show(op.operands[0])} is the same (${op.mode})`;
    case "redux":
      return `d = ${show(op.operands[0])}, reduced by ${show(op.combine).replace(/\bold\b/g, "old0")}`;
    case "elect":
      return "p = whether this lane is the elected one";
    case "sync":
      return "wait";
    case "align":
      return "wait for all lanes of the warp";
    case "arrange":
      return `d = parts of ${op.operands.map(show).join(", ")} of other lanes`;
    case "multiply": {
      const { m, n, k, a, b, c, d } = op.product;
      return `D (${m}x${n}, ${d}) = A (${m}x${k}, ${a}) * B (${k}x${n}, ${b}) + C (${c})`;
    }
  }
}

/** Describes an access of an instruction: what is moved, where, and how it is used. */
function describeAccess(made: MemoryAccess, show: (expr: Expr) => string): string {
  const { space, bits, count, order } = made.access;
  const what = `${count > 1 ? `${count} x ` : ""}${bits} bits`;
  const within = made.place.kind === "surface" ? `surface ${show(made.place.surface)}` : space;
  const place = `[${show(laneAddressOf(made.place))}] (${within}${order === "weak" ? "" : `, ${order}`})`;
  const list = (values: readonly (Expr | null)[]): string => values.map((v) => (v === null ? "_" : show(v))).join(", ");
  switch (made.effect) {
    case "load":
      return `d = ${what} at ${place}`;
    case "store":
      return `${what} at ${place} = ${list(made.values)}`;
    case "atomic":
      return `old = ${what} at ${place}; there = ${list(made.combine)}`;
  }
}

/** Describes an effect in words, with expressions in the notation of `printEquations`. */
function describeOp(op: Op, nameOf: LeafName): string[] {
  const show = (expr: Expr): string => printExpr(expr, nameOf);
  const name = op.kind.replace("-", " ");
  if (op.kind === "unsupported") return [`not executable: ${op.reason}`];
  if (!hasOperands(op)) return [name];
  switch (op.kind) {
    case "pure":
      return printEquations(
        op.values.map((value, i) => ({ name: i === 0 ? "d" : `d${i}`, value })),
        nameOf,
      );
    case "load":
    case "store":
      return accessesOf(op).map((made) => describeAccess(made, show));
    case "atomic":
      return [
        ...accessesOf(op).map((made) => describeAccess(made, show)),
        ...(op.results ?? []).map((result) => `d = ${show(result)}`),
      ];
    case "copy": {
      const size = op.size === null ? "" : `, of which ${show(op.size)} bytes are read and the rest becomes 0`;
      const at = ({ access, place }: typeof op.from) => `[${show(laneAddressOf(place))}] (${access.space})`;
      return [
        `${(op.to.access.bits / 8) * op.to.access.count} bytes at ${at(op.to)} = those at ${at(op.from)}${size}, asynchronously`,
      ];
    }
    case "unit":
      return [`${op.unit.op.replaceAll("-", " ")}: ${op.operands.map(show).join(", ")}`];
    case "warp":
      return [
        `${describeWarpOp(op.warp, show)}, over the lanes ${op.mask === null ? "at hand" : `in ${show(op.mask)}`}`,
      ];
    case "barrier": {
      const count = op.count === null ? "all threads of the block" : `${show(op.count)} threads`;
      const reduce = op.reduce === null ? "" : `; d = ${op.reduce.op} of ${show(op.reduce.a)}`;
      return [`${op.mode === "arrive" ? "arrive at" : "wait at"} barrier ${show(op.id)} for ${count}${reduce}`];
    }
    case "branch-indexed":
    case "call":
    case "file-call":
    case "alloca":
    case "stack-restore":
    case "sleep":
      return [name];
  }
}

/** The versions and targets that have something, in a few words: "PTX 8.0, sm_90". */
export function gateText({ since, target, until, untilTarget }: Gate): string {
  const targets = target === undefined ? [] : typeof target === "string" ? [target] : target;
  return [
    ...(since === undefined ? [] : [`PTX ${since}`]),
    ...(targets.length === 0 ? [] : [targets.join(" or ")]),
    ...(until === undefined ? [] : [`until PTX ${until}${untilTarget === undefined ? "" : ` on ${untilTarget}`}`]),
  ].join(", ");
}
