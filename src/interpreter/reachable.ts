import type { Instruction, IrFunction, IrModule } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";

/** An instruction that a kernel may come to, and that cannot be executed. */
export interface Obstacle {
  readonly function: IrFunction;
  readonly index: number;
  readonly message: string;
}

/**
 * The first thing on a kernel's way that cannot be executed: an instruction that is not modelled, or a call of a function
 * that nobody provides. An indirect call may go to its listed targets, or to any function whose address is taken.
 */
export function findObstacle(
  module: IrModule,
  kernel: IrFunction,
  provided: (name: string) => boolean,
): Obstacle | null {
  const byName = new Map(module.functions.map((f) => [f.name, f]));
  for (const [alias, index] of module.aliases) byName.set(alias, module.functions[index]!);
  const inMemory = module.variables.flatMap((v) => v.relocations.map((r) => r.symbol));
  const todo = [kernel];
  const seen = new Set(todo);
  const add = (name: string): void => {
    const f = byName.get(name);
    if (f === undefined || seen.has(f) || f.kind === "kernel") return;
    seen.add(f);
    todo.push(f);
  };
  for (let f = todo.pop(); f !== undefined; f = todo.pop()) {
    for (const [index, { op, ...instruction }] of f.instructions.entries()) {
      if (op.kind === "unsupported")
        return { function: f, index, message: `${op.what} is not executable yet: ${op.reason}` };
      for (const name of symbolsOf({ op, ...instruction })) add(name);
      if (op.kind !== "call" && op.kind !== "file-call") continue;
      if (op.target.kind === "indirect") {
        for (const name of ("targets" in op.target ? op.target.targets : null) ?? inMemory) add(name);
        continue;
      }
      const callee = byName.get(op.target.function);
      if (callee === undefined || (callee.external && !provided(callee.name))) {
        const message = `\`${op.target.function}\` has no body, and the machine does not provide it`;
        return { function: f, index, message };
      }
      add(callee.name);
    }
  }
  return null;
}

/** The symbols in an instruction's expressions. */
function symbolsOf({ op }: Instruction): readonly string[] {
  const found: string[] = [];
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    const expr = value as Partial<Expr>;
    if (expr.kind === "symbol") found.push((expr as Extract<Expr, { kind: "symbol" }>).symbol);
    for (const part of Object.values(value)) visit(part);
  };
  visit(op);
  return found;
}
