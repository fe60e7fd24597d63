import type { FrameVariable } from "../../ir/index.ts";
import type { ParameterSymbol, VariableSymbol } from "../tree/nodes.ts";

/**
 * The `.local` and `.param` variables of an activation. nvcc opens a block with new `.param` variables for every call,
 * so a variable of a block that has ended is reused for the next one of the same name and shape. Variables of different
 * shapes are never merged, so that every access can be checked against its variable.
 */
export class Frame {
  readonly variables: FrameVariable[] = [];
  readonly #index = new Map<VariableSymbol | ParameterSymbol, number>();
  /** The `.param` variables of the open blocks, in order of declaration. */
  readonly #open: number[] = [];
  /** The `.param` variables of ended blocks, by name and shape. */
  readonly #free = new Map<string, number[]>();

  /** The mark to release when the block that begins here ends. */
  mark(): number {
    return this.#open.length;
  }

  release(mark: number): void {
    for (const variable of this.#open.splice(mark)) {
      const shape = shapeOf(this.variables[variable]!);
      const free = this.#free.get(shape);
      if (free === undefined) this.#free.set(shape, [variable]);
      else free.push(variable);
    }
  }

  declare(symbol: VariableSymbol | ParameterSymbol, space: FrameVariable["space"], unsized = false): number {
    const { name, size, align, span } = symbol;
    const fresh: FrameVariable = { name, space, size, align, unsized, span };
    const variable = this.#free.get(shapeOf(fresh))?.pop() ?? this.variables.push(fresh) - 1;
    if (space === "call-param") this.#open.push(variable);
    this.#index.set(symbol, variable);
    return variable;
  }

  indexOf(symbol: VariableSymbol | ParameterSymbol): number | undefined {
    return this.#index.get(symbol);
  }
}

const shapeOf = ({ name, space, size, align }: FrameVariable): string => `${space} ${name} ${size} ${align}`;
