import { ModuleWriter } from "../../../src/wasm/index.ts";
import type { HostFunction } from "../../../src/jit/abi/host-function.ts";
import { OrderedOutput } from "../../../src/jit/threads/ordered-output.ts";
import type { Team, Work } from "../../../src/jit/threads/team.ts";
import { wasm } from "../../../src/wasm/index.ts";

/** Where the blocks count themselves, each in a word of its own. */
const counts = 0x1_0000;

/**
 * A module with `run(context, from, to)`, which returns `to`: each block writes its number into the first word of the
 * context, calls `visit` of the host with its number and 3, adds what comes back to its count, and spins for a while.
 */
function countingModule(spins: number): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter();
  module.importMemory({ initial: 1, maximum: 0x1_0000, shared: true });
  module.importFunction("visit", ["i32", "i64"], ["i32"]);
  const w = module.function("run", ["i32", "i32", "i32"], ["i32"]);
  const [context, block, last] = [0, 1, 2];
  const spin = w.local("i32");
  const at = wasm.op("i32.shl", wasm.local("i32", block), wasm.i32(2));
  const step = (local: number, by: number) => wasm.op("i32.add", wasm.local("i32", local), wasm.i32(by));
  w.loop((next) => {
    w.get(context);
    w.get(block);
    w.memory("i32.store", 4);
    w.value(at);
    w.value(at);
    w.memory("i32.load", 4, counts);
    w.get(block);
    w.value(wasm.i64(3n));
    w.call("visit");
    w.op("i32.add");
    w.memory("i32.store", 4, counts);
    w.assign([{ local: spin, value: wasm.i32(spins) }]);
    w.loop((again) => {
      w.assign([{ local: spin, value: step(spin, -1) }]);
      w.get(spin);
      w.brIf(again);
    });
    w.assign([{ local: block, value: step(block, 1) }]);
    w.value(wasm.op("i32.lt_u", wasm.local("i32", block), wasm.local("i32", last)));
    w.brIf(next);
  });
  w.get(last);
  module.export("run");
  return module.finish();
}

export interface Counting {
  readonly work: Work;
  /** How often each block has run. */
  readonly counts: () => readonly number[];
  readonly printed: () => string;
}

/** `visit`: what the host does for a block; what it returns is added to the block's count. */
export function countingWork(
  options: Pick<Work, "threads"> & {
    readonly blocks: number;
    readonly spins?: number;
    readonly visit?: (block: number, three: bigint, print: (text: string) => void) => number;
  },
  team: () => Team,
): Counting {
  const { blocks, threads, spins = 1, visit = () => 1 } = options;
  const memory = new WebAssembly.Memory({ initial: 64, maximum: 0xffff, shared: true });
  const words = new Int32Array(memory.buffer);
  const module = new WebAssembly.Module(countingModule(spins));
  let printed = "";
  const output = new OrderedOutput((text) => {
    printed += text;
  });
  const functions = new Map<string, HostFunction>([
    [
      "visit",
      (block, three) => visit(Number(block), BigInt(three!), (text) => output.add(work.blockIn(team().context), text)),
    ],
  ]);
  const own = new WebAssembly.Instance(module, { env: { memory, ...Object.fromEntries(functions) } });
  let contexts = 0;
  const work: Work = {
    first: 0,
    end: blocks,
    threads,
    expectedMs: 1,
    module,
    tiles: null,
    memory,
    native: null,
    clock: null,
    runBlocks: own.exports["run"] as Work["runBlocks"],
    waits: false,
    yieldSooner: () => {},
    maxContexts: 100,
    openContext: () => 64 * ++contexts,
    blockIn: (context) => words[context >> 2]!,
    functions: () => functions,
    output,
    onProgress: () => {},
    fingerprint: null,
    stuck: () => new Error("no work is stuck"),
  };
  return {
    work,
    counts: () => Array.from(words.subarray(counts >> 2, (counts >> 2) + blocks)),
    printed: () => printed,
  };
}
