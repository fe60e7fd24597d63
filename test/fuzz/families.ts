import type { Weights } from "./scope.ts";
import type { targets } from "./target.ts";

/** What a family's programs consist of. */
interface Family {
  readonly weights: Weights;
  /** Statements of the kernel, at least and at most. */
  readonly statements: readonly [number, number];
  readonly functions?: number;
  /** Functions call only those after them, so that none calls itself. */
  readonly flat?: boolean;
  /** One of the functions has barriers. */
  readonly meeting?: boolean;
  /** Threads may end early: then nothing may wait for them. */
  readonly leaving?: boolean;
  /** Blocks consist of whole warps. */
  readonly whole?: boolean;
  /** Blocks consist of whole warpgroups. */
  readonly warpgroups?: boolean;
  /** The kernel has tensor maps. */
  readonly tensors?: boolean;
  /** The kernel has textures and surfaces. */
  readonly images?: boolean;
  /** Launches have clusters. */
  readonly clusters?: boolean;
  /** Their blocks are in pairs. */
  readonly pairs?: boolean;
  /** The architectures of its modules. */
  readonly targets?: readonly (keyof typeof targets)[];
  /** Blocks whose few rows fill chunks, each a warp or several of one; rows that end anywhere; few threads. */
  readonly blocks?: "tiles" | "warps" | "wholeRows" | "rows" | "few";
  /** Few values are live at once, so that chunks are wide. */
  readonly few?: boolean;
  /** Launches have many blocks. */
  readonly wide?: boolean;
  /** Threads know themselves by their global index alone. */
  readonly global?: boolean;
  /** One block of one warp: which warp is the first to do what is reported depends on the schedule. */
  readonly alone?: boolean;
}

const flow = { compute: 8, conditional: 4, loop: 3, jump: 3, choice: 2 } as const;

const families = {
  arithmetic: { weights: { compute: 20 }, statements: [8, 20] },
  control: { weights: { ...flow, leave: 1 }, statements: [4, 9], leaving: true },
  graph: { weights: { compute: 6, conditional: 1, jump: 1, graph: 1, leave: 0.5 }, statements: [4, 7], leaving: true },
  memory: { weights: { compute: 3, load: 10, store: 7, stream: 1, conditional: 1, loop: 1 }, statements: [10, 25] },
  // Arrays of a thread that are filled with constants, and only read.
  tables: {
    weights: { compute: 3, table: 8, conditional: 1, loop: 0.6, warp: 0.3, exchange: 0.3 },
    statements: [4, 10],
  },
  // Compiled code may run the threads in other blocks.
  globalIndex: {
    weights: { compute: 8, stream: 1, conditional: 3, loop: 2, jump: 1, choice: 1, leave: 0.5 },
    statements: [2, 6],
    leaving: true,
    global: true,
  },
  streams: { weights: { compute: 3, stream: 3, load: 1, conditional: 1 }, statements: [4, 8] },
  print: { weights: { ...flow, print: 6, graph: 0.3, leave: 0.5 }, statements: [4, 8], leaving: true },
  calls: {
    weights: { compute: 8, call: 4, conditional: 2, loop: 1, leave: 1, load: 1, store: 1 },
    statements: [5, 10],
    functions: 4,
    leaving: true,
  },
  smallFunctions: {
    weights: { compute: 5, callSmall: 6, conditional: 2, loop: 2, jump: 1, choice: 1, load: 1, leave: 0.3 },
    statements: [4, 9],
    leaving: true,
  },
  // Functions that are given pointers into their callers' local memory.
  localPointers: {
    weights: { compute: 3, callWithPointer: 8, conditional: 1.5, loop: 1, jump: 0.5 },
    statements: [3, 9],
  },
  // The order of what is printed tells in which order functions are called by address.
  printingCalls: {
    weights: { compute: 5, call: 4, print: 3, conditional: 2, jump: 1, leave: 1 },
    statements: [4, 8],
    functions: 4,
    leaving: true,
  },
  barriers: {
    weights: { compute: 5, exchange: 4, blockReduction: 2, produce: 2, loop: 2, conditional: 2, call: 1 },
    statements: [6, 12],
    functions: 1,
    meeting: true,
  },
  // Barriers of all threads that tell how many say yes, and words that all lanes update.
  votes: {
    weights: { compute: 5, vote: 5, sharedAtomic: 2, loop: 1, conditional: 2, phase: 1 },
    statements: [5, 12],
    meeting: true,
  },
  // Barriers in any lanes of any function: they wait for whoever is left.
  pauses: {
    weights: {
      compute: 8,
      call: 6,
      pause: 4,
      conditional: 3,
      loop: 1,
      jump: 1,
      leave: 1,
      load: 1,
      store: 1,
      ownAtomic: 1,
    },
    statements: [4, 8],
    functions: 4,
    flat: true,
    leaving: true,
  },
  recursivePauses: {
    weights: { compute: 8, call: 4, pause: 3, conditional: 2, loop: 0.5, jump: 1, leave: 1, load: 1, store: 1 },
    statements: [4, 7],
    functions: 4,
    leaving: true,
  },
  trees: { weights: { compute: 1, phase: 8, conditional: 0.5, load: 0.5 }, statements: [5, 14] },
  // Places that follow from the threads' numbers, in blocks of known size.
  layouts: { weights: { compute: 1, layout: 8, conditional: 0.5, load: 0.5 }, statements: [4, 10] },
  // Words one after another that each thread loads one by one: columns of tiles, records of any size.
  windows: {
    weights: { compute: 1, inputWindow: 6, layout: 3, conditional: 0.7, loop: 0.5, load: 0.5 },
    statements: [3, 8],
    blocks: "tiles",
  },
  // Values of thread numbers that are the same in each chunk.
  tiles: {
    weights: { compute: 1, tile: 10, conditional: 1, loop: 0.7, phase: 1, exchange: 0.5 },
    statements: [5, 14],
    blocks: "tiles",
  },
  // Neighbours' places in a picture of several blocks.
  borders: {
    weights: { compute: 1, border: 8, conditional: 0.7, loop: 0.5, phase: 1, exchange: 0.5 },
    statements: [1, 4],
    blocks: "tiles",
    wide: true,
  },
  // Clamped places, used where they are computed or long after.
  clamps: {
    weights: { compute: 0.5, clamped: 8, conditional: 0.7, loop: 0.4, exchange: 0.05 },
    statements: [1, 2],
    blocks: "rows",
    few: true,
  },
  // Numbers that are even along each row of a block, in warps of several rows.
  rows: {
    weights: { compute: 1, rows: 8, conditional: 0.5, load: 0.3, store: 0.3, exchange: 0.7, warp: 0.7 },
    statements: [2, 6],
    blocks: "wholeRows",
  },
  // Bytes and halves, which compiled code keeps in narrow lanes.
  bytes: {
    weights: { compute: 0.5, bytes: 8, conditional: 0.5, loop: 0.3, load: 0.3, exchange: 0.3 },
    statements: [2, 5],
    wide: true,
  },
  // Loops over rows, as compilers unroll them.
  strides: {
    weights: { compute: 1, strides: 6, conditional: 0.7, loop: 0.3, phase: 1, warp: 1 },
    statements: [1, 4],
    wide: true,
  },
  // Loops that lanes leave one by one, and what tiles of lanes do after them.
  trips: {
    weights: { compute: 2, trips: 6, conditional: 0.7, phase: 0.5, warp: 0.5 },
    statements: [2, 6],
    wide: true,
  },
  // Loops that are unrolled by four, with a loop for what is left over, and others that differ in one place.
  unrolled: {
    weights: { compute: 2, unrolledRow: 6, conditional: 0.7, loop: 0.3, phase: 0.5 },
    statements: [1, 4],
    wide: true,
  },
  // Rounds of loops over tiles of one size, and conditions, that the numbers of a block's threads rule out.
  fixedRounds: {
    weights: { compute: 2, fixedRounds: 6, conditional: 0.5, phase: 0.7, layout: 1, exchange: 0.3 },
    statements: [2, 5],
    wide: true,
  },
  // Words of other lanes of the warp, which no barrier makes known.
  lockstep: {
    weights: { compute: 1, lockstep: 6, conditional: 0.5, load: 0.3 },
    statements: [1, 4],
    blocks: "warps",
  },
  // Buffers of which one is read while the other is written, in turn.
  turns: { weights: { compute: 1, turns: 6, conditional: 0.5, load: 0.3 }, statements: [1, 3] },
  // Elements that are stored only where data says so, in any blocks.
  updates: { weights: { compute: 1, update: 5, conditional: 0.3 }, statements: [1, 4], global: true },
  // Unrolled waves over tiles, in blocks that are one chunk and others.
  wavefronts: {
    weights: { compute: 1, wavefront: 5, conditional: 0.5, exchange: 0.3 },
    statements: [1, 3],
    blocks: "tiles",
  },
  // Blocks of few threads.
  neighbours: {
    weights: { compute: 1, neighbour: 6, conditional: 0.4, stream: 0.3 },
    statements: [2, 7],
    blocks: "few",
    wide: true,
  },
  // Loops around barriers of which it may be known how often they repeat.
  doublings: {
    weights: { compute: 1, doubling: 5, conditional: 0.5, exchange: 0.3, phase: 0.3 },
    statements: [1, 3],
    wide: true,
  },
  // Steps in which lanes of a warp take part as the number of the step says, and may or may not meet.
  eliminations: { weights: { compute: 1, elimination: 5, conditional: 0.5 }, statements: [1, 3], blocks: "warps" },
  // Numbers of warps and of lanes within them, in blocks of any shape.
  warpNumbers: {
    weights: { compute: 1, warpNumber: 10, conditional: 1, loop: 0.5, phase: 0.5 },
    statements: [3, 9],
  },
  // Operations of the lanes of a warp that come to them, as their numbers say.
  partialWarps: {
    weights: { compute: 2, partialWarp: 6, phase: 1, exchange: 0.7, conditional: 0.5, warpNumber: 0.5 },
    statements: [2, 6],
  },
  // Operations of groups of lanes, as tiles are.
  laneGroups: {
    weights: { compute: 3, laneGroups: 7, phase: 0.7, exchange: 0.7, conditional: 0.5, warpNumber: 0.5 },
    statements: [2, 6],
  },
  rounds: { weights: { compute: 5, rounds: 6, conditional: 2, loop: 2, phase: 0.5, load: 1 }, statements: [3, 8] },
  warp: { weights: { ...flow, warp: 10, graph: 0.3, leave: 0.3 }, statements: [6, 14], leaving: true },
  faults: {
    weights: { ...flow, load: 2, store: 1, fault: 1.5, leave: 0.3 },
    statements: [4, 9],
    leaving: true,
    alone: true,
  },
  atomics: { weights: { compute: 3, sharedAtomic: 6, ownAtomic: 6, conditional: 1, loop: 1 }, statements: [8, 18] },
  matrices: {
    weights: { matrix: 10, matrixValues: 4, compute: 3, loop: 2, conditional: 1, warp: 1, exchange: 1 },
    statements: [6, 16],
    whole: true,
    targets: ["sm_90a", "sm_100a", "sm_120a", "sm_120a"],
  },
  warpgroups: {
    weights: { warpgroupProducts: 8, compute: 3, matrixValues: 2, warp: 1, exchange: 1, loop: 1, conditional: 1 },
    statements: [2, 5],
    warpgroups: true,
    targets: ["sm_90a"],
  },
  tensorMemory: {
    weights: { tensorMemory: 8, compute: 3, matrixValues: 2, exchange: 1, conditional: 1 },
    statements: [2, 5],
    warpgroups: true,
    targets: ["sm_100a"],
  },
  tensorPairs: {
    weights: { tensorPairs: 8, compute: 3, matrixValues: 2, exchange: 1 },
    statements: [1, 2],
    warpgroups: true,
    clusters: true,
    pairs: true,
    targets: ["sm_100a"],
  },
  asynchronous: {
    weights: {
      ...{ mbarrierPhases: 4, pipeline: 6, copyGroups: 3, bulkStores: 3, bulkWithin: 2 },
      ...{ compute: 3, exchange: 1, conditional: 1, loop: 1, matrix: 1 },
    },
    statements: [3, 8],
    whole: true,
    targets: ["sm_90a", "sm_100a"],
  },
  tensors: {
    weights: { tensorLoad: 6, tensorStore: 4, compute: 2, bulkStores: 1, copyGroups: 1, conditional: 1, loop: 1 },
    statements: [3, 8],
    whole: true,
    tensors: true,
    targets: ["sm_90a", "sm_100a"],
  },
  images: {
    weights: {
      ...{ fetchTexel: 8, accessSurface: 3, updateSurface: 5, queryImage: 1 },
      ...{ compute: 5, conditional: 2, loop: 1, leave: 0.2 },
    },
    statements: [4, 10],
    leaving: true,
    images: true,
  },
  clusters: {
    weights: {
      ...{ clusterExchange: 4, clusterStores: 4, clusterArrivals: 3, clusterMulticast: 3 },
      ...{ compute: 4, pipeline: 1, exchange: 1, conditional: 1, loop: 1 },
    },
    statements: [3, 9],
    whole: true,
    clusters: true,
    targets: ["sm_90a", "sm_100a"],
  },
  mixed: {
    weights: {
      ...{ compute: 12, conditional: 3, loop: 2, jump: 2, choice: 1, graph: 0.3, leave: 0.3, load: 3, store: 2 },
      ...{
        exchange: 2,
        blockReduction: 1,
        produce: 0.5,
        call: 2,
        warp: 2,
        sharedAtomic: 1,
        ownAtomic: 1,
        stream: 1,
        print: 0.5,
      },
    },
    statements: [6, 14],
    functions: 3,
    meeting: true,
  },
} as const satisfies Readonly<Record<string, Family>>;

export type FamilyName = keyof typeof families;
export const familyNames = Object.keys(families) as FamilyName[];
export const familyOf = (name: FamilyName): Family => families[name];
