import { targetsOf, type ControlFlow } from "./control-flow.ts";
import { controlOf } from "../isa/row.ts";
import type { Name } from "../tree.ts";
import type { RoutineContext } from "./routine-context.ts";

/** Checks that subroutines do not call each other in a cycle: they share the variables of their routine. */
export function checkRecursion(context: RoutineContext, { partOf }: ControlFlow): void {
  const { parts } = context.binding;
  if (parts.length < 2) return;
  // A call of the routine's body is an error of its own.
  const partOfName = new Map(parts.map(({ name }, part) => [name.text, part] as const).slice(1));
  const calls = parts.map((): { readonly to: number; readonly name: Name }[] => []);
  context.routine.instructions.forEach((instruction, index) => {
    if (controlOf(instruction.row) !== "call") return;
    for (const name of targetsOf(instruction)) {
      const to = partOfName.get(name.text);
      if (to !== undefined) calls[partOf[index]!]!.push({ to, name });
    }
  });
  const state = new Uint8Array(parts.length);
  for (let root = 0; root < parts.length; root++) visit(root);

  /** Depth-first search with an explicit stack: `state` is 1 on the path and 2 once finished. */
  function visit(root: number): void {
    if (state[root] !== 0) return;
    const path = [{ part: root, next: 0 }];
    state[root] = 1;
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const call = calls[at.part]![at.next++];
      if (call === undefined) {
        state[at.part] = 2;
        path.pop();
      } else if (state[call.to] === 1) {
        const message = `\`${call.name.text}\` is called while it runs`;
        context.error(
          "visa-recursion",
          call.name,
          message,
          "only functions called by fcall and ifcall can be recursive",
        );
      } else if (state[call.to] === 0) {
        state[call.to] = 1;
        path.push({ part: call.to, next: 0 });
      }
    }
  }
}
