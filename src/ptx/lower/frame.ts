import type { FrameVariable } from "../../ir/index.ts";
import type { Span } from "../../source/index.ts";
import type { ParameterSymbol, VariableSymbol } from "../symbols.ts";

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align;

/** Bytes between variables, so that a run past the end of one does not land in the next. */
const gap = 16;

/**
 * The `.local` and `.param` variables of an activation. Variables of blocks that have ended give their room to later
 * blocks: nvcc opens a block with fresh `.param` variables for every call.
 */
export class Frame {
  readonly variables: FrameVariable[] = [];
  readonly #index = new Map<VariableSymbol | ParameterSymbol, number>();
  #top = 0;
  #size = 0;

  get size(): number {
    return alignUp(this.#size, 16);
  }

  /** The position to go back to when the block that begins here ends. */
  mark(): number {
    return this.#top;
  }

  release(mark: number): void {
    this.#top = mark;
  }

  declare(symbol: VariableSymbol | ParameterSymbol, space: FrameVariable["space"], unsized = false): number {
    const index = this.#add(symbol.name, space, symbol.size, symbol.align, symbol.span, unsized);
    this.#index.set(symbol, index);
    return index;
  }

  #add(name: string, space: FrameVariable["space"], size: number, align: number, span: Span, unsized: boolean): number {
    const offset = alignUp(this.#top, Math.max(align, 1));
    this.#top = offset + size + gap;
    this.#size = Math.max(this.#size, this.#top);
    return this.variables.push({ name, space, size, align, offset, unsized, span }) - 1;
  }

  indexOf(symbol: VariableSymbol | ParameterSymbol): number | undefined {
    return this.#index.get(symbol);
  }

  /** An unsized formal lies behind all others. */
  finish(): readonly FrameVariable[] {
    return this.variables.map((v) => (v.unsized ? { ...v, offset: this.size } : v));
  }
}
