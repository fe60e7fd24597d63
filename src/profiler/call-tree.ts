import type { IrFunction } from "../ir/index.ts";
import type { Activation } from "../machine/state/launch-state.ts";

/** The depth of the tree. Deeper calls are counted at the node at this depth. */
const maxDepth = 128;

/** The most nodes of a tree: a larger one would be of no use on a page. */
const maxNodes = 20_000;

/** A function as called by one chain of callers. */
export class CallNode {
  readonly function: IrFunction;
  readonly parent: CallNode | null;
  readonly depth: number;
  readonly children = new Map<IrFunction, CallNode>();
  /** How often groups of lanes have entered the function. */
  calls = 0;
  /** Instructions of the function itself, without its callees. */
  warpInstructions = 0;
  threadInstructions = 0;

  constructor(code: IrFunction, parent: CallNode | null) {
    this.function = code;
    this.parent = parent;
    this.depth = parent === null ? 0 : parent.depth + 1;
  }
}

/** The tree of calls, over all lanes. A vISA subroutine call counts as a call of its function by itself. */
export class CallTree {
  readonly roots = new Map<IrFunction, CallNode>();
  /** Whether calls were too deep or too many, and so were counted at the node that made them. */
  cut = false;
  /** For each function, how often it was entered, and at how many nested calls at most. */
  readonly entered = new Map<IrFunction, { calls: number; deepest: number }>();
  readonly #nodes = new WeakMap<Activation, CallNode>();
  #count = 0;

  /**
   * Counts an activation that has begun, and returns its node. Activation objects are reused, so each call counts as a
   * new one.
   */
  enter(x: Activation): CallNode {
    const parent = this.at(x.caller!);
    let node = parent.children.get(x.code.ir);
    if (node === undefined) {
      if (parent.depth === maxDepth || this.#count >= maxNodes) {
        this.cut = true;
        node = parent;
      } else {
        this.#count++;
        parent.children.set(x.code.ir, (node = new CallNode(x.code.ir, parent)));
      }
    }
    node.calls++;
    this.#nodes.set(x, node);
    const entered = this.entered.get(x.code.ir);
    if (entered === undefined) this.entered.set(x.code.ir, { calls: 1, deepest: x.depth });
    else {
      entered.calls++;
      entered.deepest = Math.max(entered.deepest, x.depth);
    }
    return node;
  }

  /** Returns the node of an activation. */
  at(x: Activation): CallNode {
    if (x.caller === null) return this.#root(x.code.ir);
    return this.#nodes.get(x) ?? this.enter(x);
  }

  #root(kernel: IrFunction): CallNode {
    let node = this.roots.get(kernel);
    if (node === undefined) this.roots.set(kernel, (node = new CallNode(kernel, null)));
    return node;
  }
}
