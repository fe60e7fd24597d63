import type { IrFunction } from "../ir/index.ts";
import type { Activation } from "../machine/state/launch-state.ts";

/** Deeper calls count for the node at this depth. */
const deepest = 128;

/** More would not fit a page, nor help anyone. */
const mostNodes = 20_000;

/** A function as it was called from one chain of callers. */
export class CallNode {
  readonly function: IrFunction;
  readonly parent: CallNode | null;
  readonly depth: number;
  readonly children = new Map<IrFunction, CallNode>();
  /** How often groups of lanes have entered it. */
  calls = 0;
  /** Without what it calls. */
  warpInstructions = 0;
  threadInstructions = 0;

  constructor(code: IrFunction, parent: CallNode | null) {
    this.function = code;
    this.parent = parent;
    this.depth = parent === null ? 0 : parent.depth + 1;
  }
}

/** Who called whom, of all lanes together; a subroutine of vISA counts as a call of its function by itself. */
export class CallTree {
  readonly roots = new Map<IrFunction, CallNode>();
  /** Calls were too deep, or too many. */
  cut = false;
  /** How often a function has been entered, and how many activations were below it at most. */
  readonly entered = new Map<IrFunction, { calls: number; deepest: number }>();
  readonly #nodes = new WeakMap<Activation, CallNode>();
  #count = 0;

  /** An activation that has begun. Objects are used again for later ones. */
  enter(x: Activation): CallNode {
    const parent = this.at(x.caller!);
    let node = parent.children.get(x.code.ir);
    if (node === undefined) {
      if (parent.depth === deepest || this.#count >= mostNodes) {
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
