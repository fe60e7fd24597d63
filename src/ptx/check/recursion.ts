import type { FunctionDeclaration, Instruction, NameExpr } from "../tree/nodes.ts";
import type { CallInfo } from "./calls.ts";
import type { ModuleContext } from "./module-context.ts";

/** Reports one call of each cycle of direct calls: PTX 1.x has no stack and does not allow recursion (11.2.2). */
export function checkRecursion(
  bodies: Iterable<FunctionDeclaration>,
  calls: ReadonlyMap<Instruction, CallInfo>,
  context: ModuleContext,
): void {
  const edges = new Map<FunctionDeclaration, { readonly to: FunctionDeclaration; readonly at: NameExpr }[]>();
  for (const body of bodies) edges.set(body, []);
  for (const [{ operands }, { target, caller }] of calls) {
    if (target.kind !== "direct") continue;
    const at = operands.find((o): o is NameExpr => o.kind === "name" && o.symbol === target.function);
    if (at) edges.get(caller)?.push({ to: target.function.declaration, at });
  }
  const state = new Map<FunctionDeclaration, "open" | "done">();
  for (const root of edges.keys()) {
    // An explicit stack, because a chain of calls can be as long as the module.
    const stack = [{ body: root, next: 0 }];
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      if (top.next === 0 && state.has(top.body)) {
        stack.pop();
        continue;
      }
      state.set(top.body, "open");
      const edge = edges.get(top.body)?.[top.next++];
      if (edge === undefined) {
        state.set(top.body, "done");
        stack.pop();
      } else if (state.get(edge.to) === "open") {
        context.sink.error("recursion", edge.at, `'${edge.at.text}' calls itself, which PTX 1.x does not allow`, {
          help: "write `.version 2.0` or higher",
        });
      } else if (!state.has(edge.to)) stack.push({ body: edge.to, next: 0 });
    }
  }
}
