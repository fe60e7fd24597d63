import type { SourceLocation } from "../../ir/index.ts";
import type { LocDirective } from "../tree/leaves.ts";
import type { ModuleSections } from "./debug-sections.ts";

/** The deepest inlining that is kept; compilers stop far earlier. */
const maxDepth = 64;

const keyOf = ({ file, line, column }: { readonly file: number; readonly line: number; readonly column: number }) =>
  `${file} ${line} ${column}`;

/**
 * The positions that the `.loc` directives of a function give. `inlined_at` names only a position: that this is itself
 * in an inlined function follows from the directive for it, which compilers write before the first one that refers to
 * it. Equal positions are one object.
 */
export class Locations {
  readonly #sections: ModuleSections;
  readonly #last = new Map<string, SourceLocation>();
  readonly #known = new Map<string, SourceLocation>();
  readonly #numbers = new Map<SourceLocation, number>();

  constructor(sections: ModuleSections) {
    this.#sections = sections;
  }

  /** Returns the position that a directive gives to the instructions after it. */
  of({ file, line, column, functionName, inlinedAt }: LocDirective): SourceLocation {
    const at = inlinedAt === null ? null : this.#lastAt(inlinedAt);
    const name = functionName === null ? null : this.#sections.string(functionName.label.text, functionName.offset);
    const place = { file, line, column };
    const location = this.#interned(at === null ? place : { ...place, inlined: { function: name, at } });
    this.#last.set(keyOf(place), location);
    return location;
  }

  #lastAt(place: NonNullable<LocDirective["inlinedAt"]>): SourceLocation {
    const found = this.#last.get(keyOf(place));
    const known = found ?? this.#interned({ file: place.file, line: place.line, column: place.column });
    return depthOf(known) < maxDepth ? known : outermost(known);
  }

  #interned(location: SourceLocation): SourceLocation {
    const { inlined } = location;
    const key = `${keyOf(location)} ${inlined === undefined ? "" : `${this.#numbers.get(inlined.at)} ${inlined.function}`}`;
    let found = this.#known.get(key);
    if (found === undefined) {
      this.#known.set(key, (found = location));
      this.#numbers.set(found, this.#numbers.size);
    }
    return found;
  }
}

function depthOf(location: SourceLocation): number {
  let depth = 0;
  for (let at = location.inlined; at !== undefined; at = at.at.inlined) depth++;
  return depth;
}

function outermost(location: SourceLocation): SourceLocation {
  let at = location;
  while (at.inlined !== undefined) at = at.inlined.at;
  return at;
}
