import type { Gate } from "../isa/define.ts";
import type { Expression, FunctionAttribute, FunctionDeclaration } from "../tree/nodes.ts";
import { evaluateConstant } from "./constant.ts";
import type { ModuleContext } from "./module-context.ts";

interface Rule extends Gate {
  readonly on: "entry" | "func";
  /** The minimum and maximum number of arguments. */
  readonly args: readonly [number, number];
  /** The range of each argument. */
  readonly range: readonly [number, number];
}

const positive = [1, 0xffff_ffff] as const;

const tuning = (since: string, maxArgs = 1): Rule => ({ on: "entry", args: [1, maxArgs], range: positive, since });

const cluster = (args: readonly [number, number], since = "7.8"): Rule => ({
  on: "entry",
  args,
  range: positive,
  since,
  target: "sm_90",
});

// With larger numbers no registers are left for the return address. The limits are those of ptxas 13.0; the manual
// gives none.
const preserved = (max: number): Rule => ({
  on: "func",
  args: [1, 1],
  range: [0, max],
  since: "9.0",
  target: "sm_80",
});

/** The rules of the directives between a function's parameters and its body (11.4, 11.7, 11.8). */
const rules: Readonly<Record<string, Rule>> = {
  ".maxnreg": tuning("1.3"),
  ".maxntid": tuning("1.3", 3),
  ".reqntid": tuning("2.1", 3),
  ".minnctapersm": tuning("2.0"),
  ".maxnctapersm": { ...tuning("1.3"), until: "2.1" },
  ".reqnctapercluster": cluster([1, 3]),
  ".explicitcluster": cluster([0, 0]),
  ".maxclusterrank": cluster([1, 1]),
  ".blocksareclusters": cluster([0, 0], "9.0"),
  ".noreturn": { on: "func", args: [0, 0], range: positive, since: "6.4", target: "sm_30" },
  ".abi_preserve": preserved(238),
  ".abi_preserve_control": preserved(11),
};

const conflicts: readonly (readonly [string, string])[] = [
  [".maxntid", ".reqntid"],
  [".reqnctapercluster", ".maxclusterrank"],
];

/** Checks the directives of a function, kernel or prototype. */
export function checkDirectives(
  directives: readonly FunctionAttribute[],
  owner: "entry" | "func" | "prototype",
  hasReturns: boolean,
  context: ModuleContext,
): void {
  const { sink } = context;
  const seen = new Map<string, FunctionAttribute>();
  for (const directive of directives) {
    const { name } = directive;
    if (name.text === ".pragma") continue;
    const rule = Object.hasOwn(rules, name.text) ? rules[name.text] : undefined;
    const where = owner === "entry" ? "entry" : "func";
    if (rule === undefined) {
      sink.error("function-directive", name, `functions have no directive '${name.text}'`);
      continue;
    }
    if (rule.on !== where) {
      sink.error(
        "function-directive",
        name,
        `'${name.text}' is for ${rule.on === "entry" ? "kernels, not for functions" : "functions, not for kernels"}`,
      );
      continue;
    }
    context.require(rule, `'${name.text}'`, name);
    checkArguments(directive, rule, context);
    if (name.text === ".noreturn") {
      if (hasReturns) sink.error("function-directive", name, "a function with return parameters cannot be .noreturn");
      if (seen.size > 0) sink.error("function-directive", name, "'.noreturn' must come before the other directives");
    } else if (seen.has(name.text) && rule.on === "func") {
      sink.error("function-directive", name, `'${name.text}' is given twice`);
    }
    for (const [a, b] of conflicts) {
      if ((name.text === a && seen.has(b)) || (name.text === b && seen.has(a))) {
        sink.error("function-directive", name, `'${a}' and '${b}' exclude each other`);
      }
    }
    seen.set(name.text, directive);
  }
  const clusters = seen.get(".blocksareclusters");
  if (clusters && !(seen.has(".reqntid") && seen.has(".reqnctapercluster"))) {
    sink.error(
      "function-directive",
      clusters.name,
      "'.blocksareclusters' also needs '.reqntid' and '.reqnctapercluster'",
    );
  }
}

function checkArguments({ name, args, start, end }: FunctionAttribute, rule: Rule, context: ModuleContext): void {
  const [min, max] = rule.args;
  if (args.length < min || args.length > max) {
    const wanted = max === 0 ? "no number" : min === max ? "one number" : `${min} to ${max} numbers`;
    context.sink.error("function-directive", args[max] ?? { start, end }, `'${name.text}' takes ${wanted}`);
  }
  const [low, high] = rule.range;
  for (const arg of args.slice(0, max)) {
    const value = integerOf(arg, context);
    if (value !== null && (value < BigInt(low) || value > BigInt(high))) {
      const wanted = high === 0xffff_ffff ? "must be positive" : `must be from ${low} to ${high}`;
      context.sink.error("function-directive", arg, `the number of '${name.text}' ${wanted}, but this is ${value}`);
    }
  }
}

function integerOf(arg: Expression, context: ModuleContext): bigint | null {
  const value = evaluateConstant(arg, context.reportConstant);
  if (value === null) return null;
  if (value.kind === "integer") return value.value;
  context.sink.error("function-directive", arg, "an integer is expected here");
  return null;
}

export const isNoreturn = (directives: readonly FunctionAttribute[]): boolean =>
  directives.some((d) => d.name.text === ".noreturn");

/** `.attribute(...)` of a function (5.4.8). */
export function checkAttributes(node: FunctionDeclaration, context: ModuleContext): void {
  const { sink } = context;
  for (const { name, args } of node.attributes) {
    if (node.entry) sink.error("attribute", name, "a kernel cannot have attributes");
    else if (name.text !== "unified") sink.error("attribute", name, `functions have no attribute '.${name.text}'`);
    else {
      context.require({ since: "8.0", target: "sm_90" }, "'.unified'", name);
      if (args.length !== 2) sink.error("attribute", name, "'.unified' takes two numbers, the halves of an identifier");
    }
  }
}

/** How a declaration differs from another in the directives that both must share (11.2.2), or null. */
export function directiveDifference(a: FunctionDeclaration, b: FunctionDeclaration): string | null {
  for (const name of [".noreturn", ".abi_preserve", ".abi_preserve_control"]) {
    const one = a.directives.find((d) => d.name.text === name);
    const other = b.directives.find((d) => d.name.text === name);
    if ((one === undefined) !== (other === undefined)) return `${one ? "without" : "with"} '${name}'`;
    if (one && other && numberOf(one) !== numberOf(other)) return `with a different number of '${name}'`;
  }
  return null;
}

const numberOf = ({ args }: FunctionAttribute): bigint | null => {
  const value = args[0] ? evaluateConstant(args[0]) : null;
  return value?.kind === "integer" ? value.value : null;
};
