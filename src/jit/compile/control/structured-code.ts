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

/** The code of blocks, in wasm blocks and loops, and the ways from one to another: whatever lanes are active go there. */
export class StructuredCode {
  readonly #writer: FunctionWriter;
  #layout: Layout;
  /** The block in the middle of a scope with which it begins; 0 for its beginning. */
  #entry: number | null = null;
  /** Behind all blocks. */
  #end: Label = { depth: 0 };
  /** Where other code for the same lanes ends, while that is written; and the blocks at which these go on then. */
  #away: Label | null = null;
  readonly #returns = new Set<number>();
  #scope: Scope;

  constructor(writer: FunctionWriter, graph: BlockGraph, needs: LayoutNeeds) {
    this.#writer = writer;
    this.#layout = layoutOf(graph, needs);
    this.#scope = this.#layout.root;
    if (this.#layout.needsEntry) this.#entry = writer.local("i32");
  }

  /** What `write` writes next is laid out in another way. */
  lay(graph: BlockGraph, needs: LayoutNeeds): Layout {
    this.#layout = layoutOf(graph, needs);
    this.#scope = this.#layout.root;
    if (this.#layout.needsEntry) this.#entry ??= this.#writer.local("i32");
    return this.#layout;
  }

  /** How the blocks are written that `write` writes next. */
  get layout(): Layout {
    return this.#layout;
  }

  /** All active lanes go on at a block, once `write` comes; 0 for where it begins. */
  enterAt(block: number | Wasm): void {
    this.#writer.assign([{ local: this.#entry!, value: typeof block === "number" ? wasm.i32(block) : block }]);
  }

  /**
   * Writes the blocks. `writeBlock` writes the instructions of one, and its end by way of the methods here. `before`
   * writes other code that runs first with the same lanes, and jumps to the end or to one of these blocks.
   */
  write(writeBlock: WriteBlock, before: (() => void) | null): void {
    this.#end = this.#writer.begin("block");
    if (before !== null) this.#writeBefore(before);
    this.#writeScope(this.#layout.root, writeBlock);
    this.#writer.end();
  }

  #writeBefore(write: () => void): void {
    const writer = this.#writer;
    const { start, entries, needsEntry, waiting } = this.#layout;
    this.#entry ??= writer.local("i32");
    if (!needsEntry) this.enterAt(start);
    this.#returns.clear();
    this.#away = writer.begin("block");
    if (entries.length > 0) {
      // Lanes that have paused go on where they were.
      writer.get(this.#entry);
      writer.brIf(this.#away);
    }
    write();
    writer.end();
    this.#away = null;
    this.lay(this.#layout, { start, entries: [...new Set([...entries, ...this.#returns])], waiting });
  }

  /** From other code: all active lanes go on at a block. */
  goOnAt(block: number): void {
    this.enterAt(block);
    if (block !== this.#layout.start) this.#returns.add(block);
    this.#writer.br(this.#away!);
  }

  /** Behind all blocks. */
  goToEnd(): void {
    this.#writer.br(this.#end);
  }

  /** To the beginning of a loop around. */
  goBack(to: number): void {
    if (this.#away !== null) {
      this.goOnAt(to);
      return;
    }
    let scope: Scope | null = this.#scope;
    while (scope !== null && (scope.start !== to || scope.again === null)) scope = scope.around;
    if (scope === null) throw new Error(`no loop begins at block ${to}`);
    this.#writer.br(scope.again!);
  }

  /** Forward. `isNext`: what is written next is that block. */
  goTo(to: number, isNext: boolean): void {
    if (this.#away !== null) {
      this.goOnAt(to);
      return;
    }
    if (isNext) return;
    let scope = this.#scope;
    while (to > scope.end) scope = scope.around!;
    const item = itemAt(scope, to);
    if (item !== to) this.#writer.assign([{ local: this.#entry!, value: wasm.i32(to) }]);
    this.#writer.br(scope.labels.get(item)!);
  }

  /** Whether the block may be where a scope is entered. */
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
