import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { type FunctionWriter, type Label, type Wasm, wasm } from "../../../wasm/index.ts";
import {
  type BlockGraph,
  itemAt,
  itemsOf,
  type Layout,
  type LayoutNeeds,
  layoutOf,
  type Scope,
} from "../analysis/flow/block-layout.ts";
import { dispatch, isTarget } from "./scope-entry.ts";

/** Writes the code of a block. */
export type WriteBlock = (block: FlowBlock) => void;

/** Blocks as structured code, in wasm blocks and loops, and the jumps between them, which all active lanes make. */
export class StructuredCode {
  readonly #writer: FunctionWriter;
  #layout: Layout;
  /** The local with the block at which the next scope is entered; 0 for the scope's beginning. */
  #entry: number | null = null;
  /** After all blocks. */
  #end: Label = { depth: 0 };
  /** While the other code is written that runs first: its end, and the blocks at which lanes continue from there. */
  #otherEnd: Label | null = null;
  readonly #returns = new Set<number>();
  readonly #beforeBlock: (block: number) => void;
  #scope: Scope;

  /** `beforeBlock`: is called before lanes continue at a block from the other code. */
  constructor(writer: FunctionWriter, graph: BlockGraph, needs: LayoutNeeds, beforeBlock: (block: number) => void) {
    this.#writer = writer;
    this.#beforeBlock = beforeBlock;
    this.#layout = layoutOf(graph, needs);
    this.#scope = this.#layout.root;
    if (this.#layout.needsEntry) this.#entry = writer.local("i32");
  }

  /** Lays out the blocks that `write` writes next. */
  lay(graph: BlockGraph, needs: LayoutNeeds): Layout {
    this.#layout = layoutOf(graph, needs);
    this.#scope = this.#layout.root;
    if (this.#layout.needsEntry) this.#entry ??= this.#writer.local("i32");
    return this.#layout;
  }

  /** The layout of the blocks that `write` writes next. */
  get layout(): Layout {
    return this.#layout;
  }

  /** The code that `write` writes begins at a block; 0: at the first one. */
  enterAt(block: number | Wasm): void {
    this.#writer.assign([{ local: this.#entry!, value: typeof block === "number" ? wasm.i32(block) : block }]);
  }

  /**
   * Writes the blocks. `writeBlock` writes the instructions of one, and its end by way of the methods here. `before`
   * writes other code that runs first with the same lanes, and jumps to the end or to one of these blocks.
   */
  write(writeBlock: WriteBlock, before: (() => void) | null): void {
    this.#end = this.#writer.begin("block");
    if (before !== null) this.#writeFirst(before);
    this.#writer.rarely(before !== null, () => this.#writeScope(this.#layout.root, writeBlock));
    this.#writer.end();
  }

  #writeFirst(write: () => void): void {
    const writer = this.#writer;
    const { start, entries, needsEntry, waiting } = this.#layout;
    this.#entry ??= writer.local("i32");
    if (!needsEntry) this.enterAt(start);
    this.#returns.clear();
    this.#otherEnd = writer.begin("block");
    if (entries.length > 0) {
      // Lanes that resume do so in the code for any lanes.
      writer.get(this.#entry);
      writer.brIf(this.#otherEnd);
    }
    write();
    writer.end();
    this.#otherEnd = null;
    this.lay(this.#layout, { start, entries: [...new Set([...entries, ...this.#returns])], waiting });
  }

  /** From the code that runs first: all active lanes continue at a block. */
  continueAt(block: number): void {
    this.#beforeBlock(block);
    this.enterAt(block);
    if (block !== this.#layout.start) this.#returns.add(block);
    this.#writer.br(this.#otherEnd!);
  }

  /** Jumps to the end of all blocks. */
  goToEnd(): void {
    this.#writer.br(this.#end);
  }

  /** Jumps to the beginning of an enclosing loop. */
  goBack(to: number): void {
    if (this.#otherEnd !== null) {
      this.continueAt(to);
      return;
    }
    let scope: Scope | null = this.#scope;
    while (scope !== null && (scope.start !== to || scope.again === null)) scope = scope.around;
    if (scope === null) throw new Error(`no loop begins at block ${to}`);
    this.#writer.br(scope.again!);
  }

  /** Jumps forward. `isNext`: whether that block is written next. */
  goTo(to: number, isNext: boolean): void {
    if (this.#otherEnd !== null) {
      this.continueAt(to);
      return;
    }
    if (isNext) return;
    let scope = this.#scope;
    while (to > scope.end) scope = scope.around!;
    const item = itemAt(scope, to);
    if (item !== to) this.#writer.assign([{ local: this.#entry!, value: wasm.i32(to) }]);
    this.#writer.br(scope.labels.get(item)!);
  }

  /** Whether a scope may be entered at the block. */
  #isEntry(block: number): boolean {
    return this.#layout.isInsideLoop(block) || this.#layout.entries.includes(block);
  }

  #writeScope(scope: Scope, writeBlock: WriteBlock): void {
    const writer = this.#writer;
    const outer = this.#scope;
    this.#scope = scope;
    if (scope.around !== null) scope.again = writer.begin("loop");
    const items = itemsOf(scope);
    const labelled = items.filter((item) => item.start !== scope.start && isTarget(this.#layout, item));
    for (const item of [...labelled].reverse()) scope.labels.set(item.start, writer.begin("block"));
    if (this.#layout.needsEntry) dispatch(writer, this.#layout, wasm.local("i32", this.#entry!), scope, labelled);
    for (const item of items) {
      if (scope.labels.has(item.start)) {
        writer.end();
        scope.labels.delete(item.start);
      }
      if (item.scope !== null) this.#writeScope(item.scope, writeBlock);
      else if (this.#layout.reachable.has(item.start)) this.#write(this.#layout.blocks[item.start]!, writeBlock);
    }
    if (scope.around !== null) writer.end();
    this.#scope = outer;
  }

  #write(block: FlowBlock, writeBlock: WriteBlock): void {
    const { needsEntry, targets } = this.#layout;
    if (needsEntry && targets.has(block.index) && this.#isEntry(block.index)) this.enterAt(0);
    writeBlock(block);
  }
}
