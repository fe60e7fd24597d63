import type { IrFunction, IrModule } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import type { Unsupported } from "./errors.ts";

/** Calls of functions without a body that the engine provides. */
export type Provided = (name: string) => boolean;

/**
 * What a kernel could execute that is not modelled. An indirect call could go to any function of its list, or, without
 * one, to any whose address the module takes. Refusing too much is better than to stop in the middle of a launch.
 */
export function unsupportedIn(module: IrModule, kernel: IrFunction, provided: Provided): Unsupported[] {
  const byName = new Map(module.functions.map((f) => [f.name, f]));
  for (const [alias, index] of module.aliases) byName.set(alias, module.functions[index]!);
  const found: Unsupported[] = [];
  const seen = new Set([kernel]);
  let addressTaken: readonly string[] | null = null;
  const visit = (name: string): void => {
    const f = byName.get(name);
    if (f) seen.add(f);
  };
  // A set grows while it is walked, and each member is met once.
  for (const f of seen) {
    for (const { op, span } of f.instructions) {
      const refuse = (what: string, reason: string): void => {
        found.push({ what, reason, message: `\`${what}\` is not executable yet: ${reason}`, source: f.source, span });
      };
      if (op.kind === "unsupported") refuse(op.what, op.reason);
      if (op.kind !== "call") continue;
      if (op.target.kind === "direct") {
        const callee = byName.get(op.target.function);
        if ((!callee || callee.external) && !provided(op.target.function)) {
          refuse(`call ${op.target.function}`, "the function has no body, and is none that the runtime provides");
        }
        visit(op.target.function);
      } else {
        addressTaken ??= op.target.targets ? null : functionsByAddress(module, byName);
        for (const name of op.target.targets ?? addressTaken ?? []) visit(name);
      }
    }
  }
  return found;
}

/** The functions whose address the module uses otherwise than to call them directly. */
function functionsByAddress(module: IrModule, byName: ReadonlyMap<string, IrFunction>): string[] {
  const names = new Set<string>();
  const expressions = new Set<Expr>();
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const element of value) walk(element);
    else if (isExpr(value) && !expressions.has(value)) {
      expressions.add(value);
      if (value.kind === "symbol" && byName.has(value.symbol)) names.add(value.symbol);
      if (value.kind === "prim") walk(value.args);
    } else if (typeof value === "object" && value !== null && !expressions.has(value as Expr)) {
      for (const part of Object.values(value)) walk(part);
    }
  };
  for (const f of module.functions) for (const { op } of f.instructions) walk(op);
  for (const { relocations } of module.variables) {
    for (const { symbol } of relocations) if (byName.has(symbol)) names.add(symbol);
  }
  return [...names];
}

const isExpr = (value: unknown): value is Expr =>
  typeof value === "object" && value !== null && "ty" in value && "kind" in value;
