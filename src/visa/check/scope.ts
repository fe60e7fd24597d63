/** The names of one scope: those of a routine, or between `{` and `}`. */
export class Scope<T> {
  readonly names = new Map<string, T>();
  readonly #outer: Scope<T> | null;

  constructor(outer: Scope<T> | null) {
    this.#outer = outer;
  }

  /** The innermost declaration of a name. */
  find(name: string): T | null {
    for (let scope: Scope<T> | null = this; scope !== null; scope = scope.#outer) {
      const found = scope.names.get(name);
      if (found !== undefined) return found;
    }
    return null;
  }

  /** Visible names, innermost scope first; at most `limit`. */
  visible(limit: number): readonly string[] {
    const names: string[] = [];
    for (let scope: Scope<T> | null = this; scope !== null; scope = scope.#outer) {
      for (const name of scope.names.keys()) {
        if (names.length >= limit) return names;
        names.push(name);
      }
    }
    return names;
  }
}
