import { type Access, atAddress, type Op } from "../../../ir/index.ts";
import type { Expr, Kit } from "../../../semantics/index.ts";
import { typeInfo } from "../../types.ts";
import { type AtomicAccess, addF32, atomic, combined, combinedHalf } from "../atomic/combine.ts";
import { form, instruction, type OperandAccess } from "../define.ts";
import { accessOf, patternOf } from "../memory/access.ts";
import { semNeedsScope } from "./mbarrier.ts";

const note = "there is one device: a multimem address means one place of its memory, and any global address is one";

const scopes = ["cta", "cluster", "gpu", "sys"] as const;
const integers = ["b32", "b64", "u32", "u64", "s32", "s64"] as const;
const narrow = ["e5m2", "e5m2x2", "e5m2x4", "e4m3", "e4m3x2", "e4m3x4"] as const;
const floats = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f64"] as const;
const vectors = ["v2", "v4", "v8"] as const;

const narrowGate = { since: "8.6", target: ["sm_100f", "sm_101f", "sm_110f", "sm_120a", "sm_121a"] } as const;
const narrowGates = Object.fromEntries(narrow.map((type) => [type, narrowGate]));
const loadGates = { ...narrowGates, "acc::f32": { since: "8.2" }, "acc::f16": narrowGate };
const hopper = { since: "8.1", target: "sm_90", anyOrder: true, note } as const;

type Operation = "min" | "max" | "add" | "and" | "or" | "xor";
const operations = ["min", "max", "add", "and", "or", "xor"] as const;

function integerProblem({ op, type }: { readonly op: Operation; readonly type: string }): string | null {
  const bitwise = op === "and" || op === "or" || op === "xor";
  const fits = bitwise ? type.startsWith("b") : !type.startsWith("b") && !(op === "add" && type === "s64");
  return fits ? null : `'.${op}' does not take '.${type}'`;
}

interface FloatAccess {
  readonly type: string;
  readonly vec?: string | undefined;
  readonly op?: string;
  readonly acc_prec?: string | undefined;
}

/** Checks the modifiers of a floating-point access, which must have 32, 64 or 128 bits in all. */
function floatProblem({ type, vec, op, acc_prec }: FloatAccess): string | null {
  const count = vec === undefined ? 1 : Number(vec.slice(1));
  const bits = typeInfo(type)!.bits * count;
  if (type === "f64" && count > 1) return "'.f64' cannot be used with a vector";
  if (bits !== 32 && bits !== 64 && bits !== 128) return `an access must have 32, 64 or 128 bits, not ${bits}`;
  if (op !== undefined && op !== "add" && (type === "f32" || type === "f64"))
    return `'.${op}' does not take '.${type}'`;
  const accumulator = type.startsWith("e")
    ? "acc::f16"
    : typeInfo(type)!.bits < 32 || type.endsWith("x2")
      ? "acc::f32"
      : null;
  return acc_prec === undefined || acc_prec === accumulator ? null : `'.${acc_prec}' cannot be used with '.${type}'`;
}

/** An order and a scope must be written together. */
const orderProblem = ({ ldsem, stsem, redsem, scope }: Omit<MultimemAccess, "type">): string | null =>
  semNeedsScope({ sem: ldsem ?? stsem ?? redsem, scope });

interface MultimemAccess {
  readonly type: string;
  readonly vec?: string | undefined;
  readonly ss?: string | undefined;
  readonly ldsem?: "relaxed" | "acquire" | undefined;
  readonly stsem?: "relaxed" | "release" | undefined;
  readonly redsem?: "relaxed" | "release" | undefined;
  readonly scope?: (typeof scopes)[number] | undefined;
}

/** Loads and stores are weak by default. */
const accessIn = (m: MultimemAccess): Access => {
  const order = m.ldsem ?? m.stsem;
  return accessOf(
    m,
    order === undefined && m.scope === undefined ? {} : { order: order ?? "relaxed", scope: m.scope ?? "sys" },
  );
};

const load = (a: Expr, m: MultimemAccess): Op => ({ kind: "load", access: accessIn(m), place: atAddress(a) });

const store = (a: Expr, m: MultimemAccess, ops: OperandAccess): Op => ({
  kind: "store",
  access: accessIn(m),
  place: atAddress(a),
  values: ops.vector("b").map(patternOf),
});

const updateOf = ({ type, vec, ss, redsem, scope = "sys" }: MultimemAccess): AtomicAccess => ({
  ...{ type, vec, scope, space: ss },
  sem: redsem,
});

function added(k: Kit, type: (typeof floats)[number], r: Expr, s: Expr): Expr {
  if (type === "f64") return k.add(r, s);
  return type === "f32" ? addF32(k, "global", r, s) : combinedHalf(k, "add", type, r, s);
}

const reduce = { op: ["min", "max", "add"], acc_prec: ["acc::f32", "acc::f16"], vec: vectors } as const;
const floatTypes = [...floats, ...narrow] as const;

/** Section 9.7.9.14. Without `.sem` and `.scope` a load is weak. */
const multimemLdReduce = instruction("multimem.ld_reduce", {
  summary: "loads from all memories of a multimem address and reduces the values",
  section: "9.7.9.14",
  forms: [
    form("multimem.ld_reduce{.ldsem}{.scope}{.ss}.op.type d, [a]", {
      where: { ldsem: ["relaxed", "acquire"], scope: scopes, ss: ["global"], op: operations, type: integers },
      ...hopper,
      invalid: (m) => orderProblem(m) ?? integerProblem(m),
      effect: (_, { a }, m) => load(a, m),
    }),
    form("multimem.ld_reduce.weak{.ss}.op.type d, [a]", {
      where: { ss: ["global"], op: operations, type: integers },
      ...hopper,
      invalid: integerProblem,
      effect: (_, { a }, m) => load(a, m),
    }),
    form("multimem.ld_reduce{.ldsem}{.scope}{.ss}.op{.acc_prec}{.vec}.type d, [a]", {
      where: { ldsem: ["relaxed", "acquire"], scope: scopes, ss: ["global"], ...reduce, type: floatTypes },
      operands: { d: "type[vec]" },
      ...hopper,
      gates: loadGates,
      invalid: (m) => orderProblem(m) ?? floatProblem(m),
      effect: (_, { a }, m) => load(a, m),
    }),
    form("multimem.ld_reduce.weak{.ss}.op{.acc_prec}{.vec}.type d, [a]", {
      where: { ss: ["global"], ...reduce, type: floatTypes },
      operands: { d: "type[vec]" },
      ...hopper,
      gates: loadGates,
      invalid: floatProblem,
      effect: (_, { a }, m) => load(a, m),
    }),
  ],
});

/** Section 9.7.9.14. */
const multimemSt = instruction("multimem.st", {
  summary: "stores to all memories of a multimem address",
  section: "9.7.9.14",
  forms: [
    form("multimem.st{.stsem}{.scope}{.ss}.type [a], b", {
      where: { stsem: ["relaxed", "release"], scope: scopes, ss: ["global"], type: integers },
      ...hopper,
      invalid: orderProblem,
      effect: (_, { a }, m, ops) => store(a, m, ops),
    }),
    form("multimem.st.weak{.ss}.type [a], b", {
      where: { ss: ["global"], type: integers },
      ...hopper,
      effect: (_, { a }, m, ops) => store(a, m, ops),
    }),
    form("multimem.st{.stsem}{.scope}{.ss}{.vec}.type [a], b", {
      where: { stsem: ["relaxed", "release"], scope: scopes, ss: ["global"], vec: vectors, type: floatTypes },
      operands: { b: "type[vec]" },
      ...hopper,
      gates: narrowGates,
      invalid: (m) => orderProblem(m) ?? floatProblem(m),
      effect: (_, { a }, m, ops) => store(a, m, ops),
    }),
    form("multimem.st.weak{.ss}{.vec}.type [a], b", {
      where: { ss: ["global"], vec: vectors, type: floatTypes },
      operands: { b: "type[vec]" },
      ...hopper,
      gates: narrowGates,
      invalid: floatProblem,
      effect: (_, { a }, m, ops) => store(a, m, ops),
    }),
  ],
});

/** Section 9.7.9.14. */
const multimemRed = instruction("multimem.red", {
  summary: "updates all memories of a multimem address atomically",
  section: "9.7.9.14",
  forms: [
    form("multimem.red{.redsem}{.scope}{.ss}.op.type [a], b", {
      where: { redsem: ["relaxed", "release"], scope: scopes, ss: ["global"], op: operations, type: integers },
      ...hopper,
      invalid: (m) => orderProblem(m) ?? integerProblem(m),
      effect: (k, { a }, m, ops) => atomic(updateOf(m), a, ops, (r, s) => combined(k, m, r, s)),
    }),
    form("multimem.red{.redsem}{.scope}{.ss}.add{.vec}.type [a], b", {
      where: { redsem: ["relaxed", "release"], scope: scopes, ss: ["global"], vec: vectors, type: floats },
      operands: { b: "type[vec]" },
      ...hopper,
      invalid: (m) => orderProblem(m) ?? floatProblem(m),
      effect: (k, { a }, m, ops) => atomic(updateOf(m), a, ops, (r, s) => added(k, m.type, r, s)),
    }),
  ],
});

export const multimemInstructions = [multimemLdReduce, multimemSt, multimemRed];
