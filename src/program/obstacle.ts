import { type IrFunction, type IrModule, symbolsOf } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";

/** An instruction that a kernel may reach and that cannot be executed. */
export interface Obstacle {
  readonly function: IrFunction;
  readonly index: number;
  readonly message: string;
}

/**
 * Finds an instruction reachable from a kernel that cannot be executed: one that is not modelled, or a call of a
 * function that has no body and that the machine does not provide. An indirect call may reach the targets it lists, or
 * any function whose address is taken.
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
  // Where kernels are the only functions, taking an address cannot make anything reachable.
  const hasFunctions = module.functions.some((f) => f.kind !== "kernel");
  /** Expressions already visited: operations share some of them. */
  const looked = new Set<Expr>();
  for (let f = todo.pop(); f !== undefined; f = todo.pop()) {
    for (let index = 0; index < f.instructions.length; index++) {
      const { op } = f.instructions[index]!;
      if (op.kind === "unsupported")
        return { function: f, index, message: `${op.what} is not executable yet: ${op.reason}` };
      if (hasFunctions) symbolsOf(op, add, looked);
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
