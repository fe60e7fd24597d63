/** Tasks that are kept, at most: the last ones. */
const mostTasks = 128;

/** By what they keep; null before the first one. */
let tasks: Map<unknown, () => void> | null = null;

/**
 * Does something when the process ends, where the host is Node: to keep things for later processes. A task takes the
 * place of an earlier one for the same thing, and must not hold on to what is large.
 */
export function atEnd(thing: unknown, task: () => void): void {
  if (tasks === null) {
    tasks = new Map();
    const { process } = globalThis as { process?: { once(event: "exit", then: () => void): void } };
    process?.once("exit", () => {
      for (const each of tasks!.values()) each();
    });
  }
  tasks.delete(thing);
  tasks.set(thing, task);
  for (const first of tasks.keys()) {
    if (tasks.size <= mostTasks) break;
    tasks.delete(first);
  }
}
