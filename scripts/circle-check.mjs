// Files that a bundler makes may import each other in a circle even if the modules in them do not. Then one of them
// runs before what it needs, and whether that does harm depends on chance.
import { relative } from "node:path";

/** Looks at one run of the bundler. */
export class CircleCheck {
  #importsOf = new Map();

  /** Notes which modules import which, for the message. */
  get plugin() {
    return { name: "circles", moduleParsed: ({ id, importedIds }) => void this.#importsOf.set(id, importedIds) };
  }

  /** A module and all that it needs, once the bundler has read them. */
  neededBy(first) {
    const needed = new Set([first]);
    // A set may grow while it is iterated.
    for (const id of needed) for (const imported of this.#importsOf.get(id) ?? []) needed.add(imported);
    return needed;
  }

  /** Throws if files of the output import each other in a circle. `root` is the project's. */
  refuse(output, root) {
    const chunks = new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]));
    const circle = circleIn(new Map([...chunks].map(([name, { imports }]) => [name, imports])));
    if (circle === null) return;
    const reasons = circle.slice(1).map((name, i) => {
      const found = this.#importBetween(chunks.get(circle[i]), chunks.get(name));
      const why = found === null ? "" : `: ${found.map((id) => relative(root, id)).join(" imports ")}`;
      return `  ${circle[i]} needs ${name}${why}`;
    });
    throw new Error(
      `built files import each other in a circle, so one would run before what it needs:\n${reasons.join("\n")}\n` +
        "  Change `files` in the script that bundles them, so that what is needed is in the first of them, or in a file of its own.",
    );
  }

  /** A module of one file and the one of the other that it imports; null if the bundler itself made the import. */
  #importBetween(from, to) {
    for (const id of from.moduleIds) {
      const needed = this.#importsOf.get(id)?.find((other) => to.moduleIds.includes(other));
      if (needed !== undefined) return [id, needed];
    }
    return null;
  }
}

/** A circle in a map from files to those that they import, its first file again at the end; null if there is none. */
export function circleIn(imports) {
  const done = new Set();
  const path = [];
  const visit = (file) => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    path.push(file);
    for (const next of imports.get(file) ?? []) {
      const circle = visit(next);
      if (circle !== null) return circle;
    }
    path.pop();
    done.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const circle = visit(file);
    if (circle !== null) return circle;
  }
  return null;
}
