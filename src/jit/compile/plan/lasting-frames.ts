import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";

/** The frame of a function that is always at the same bytes of a lane's stack, above the frames of its callers. */
interface LastingFrame {
  readonly below: LastingFrame | null;
  readonly depth: number;
  /** The offset in the stack where it ends. */
  readonly end: number;
}

/**
 * By function, to which offset of a lane's stack the same variables exist whenever it runs: those of the functions that
 * are on every way to it, as long as each of these is called by one other alone, so that it is known where its frame
 * begins.
 */
export function lastingFrames(graph: CallGraph): ReadonlyMap<CompiledFunction, number> {
  const [kernel] = graph.functions as readonly [CompiledFunction, ...CompiledFunction[]];
  const first: LastingFrame = { below: null, depth: 0, end: kernel.code.frame.size };
  if (graph.order.recursive || kernel.privateStack !== null) return new Map(graph.functions.map((f) => [f, first.end]));
  const frames = new Map([[kernel, first]]);
  /** The functions whose own frame is among these, and ends where that of a callee may begin. */
  const whole = new Set(isFixed(kernel) ? [kernel] : []);
  for (const f of graph.order.functions.toReversed()) {
    if (f === kernel) continue;
    const [caller, ...others] = graph.callersOf(f) as readonly [CompiledFunction, ...CompiledFunction[]];
    const below = frames.get(caller)!;
    if (others.length > 0 || !whole.has(caller)) {
      frames.set(
        f,
        others.reduce((common, other) => commonOf(common, frames.get(other)!), below),
      );
      continue;
    }
    const { size, align } = f.code.frame;
    frames.set(f, { below, depth: below.depth + 1, end: Math.ceil(below.end / align) * align + size });
    if (isFixed(f)) whole.add(f);
  }
  return new Map([...frames].map(([f, { end }]) => [f, end]));
}

/** Whether all activations of a function take the same number of bytes. */
const isFixed = ({ allocates, code }: CompiledFunction): boolean => !allocates && code.frame.unsized < 0;

/** The uppermost frame that is below both, or one of the two. */
function commonOf(a: LastingFrame, b: LastingFrame): LastingFrame {
  while (a !== b) {
    if (a.depth >= b.depth) a = a.below!;
    else b = b.below!;
  }
  return a;
}
