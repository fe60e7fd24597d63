import { maxThreads } from "./launch-shape.ts";
import { warpWaitBytes, maxWarps } from "./warp-wait-layout.ts";

/** Bytes of the header, in which the launcher puts what all lanes read alike. */
const headerBytes = 256;

/** What a kernel needs to have at hand while it runs. */
export interface ContextNeeds {
  /** Lanes of a chunk, and chunks of a block, at most. */
  readonly lanes: number;
  readonly chunks: number;
  readonly paramBytes: number;
  /** Pointers among the parameters whose allocation is looked up once. */
  readonly roots: number;
  /** Instructions that remember by themselves what they accessed last. */
  readonly sites: number;
  /** Bytes in which a chunk that waits keeps what it goes on with. */
  readonly stateBytes: number;
  /** Bytes in which functions that wait keep what they go on with, and those that say what of them is free. */
  readonly pausedBytes: number;
  readonly poolBytes: number;
  /** Whether lanes may have to wait for others of their warp. */
  readonly gathers: boolean;
  /** Activations that can be open at once, and the most parameters and results that one of them has in memory. */
  readonly calls: number;
  readonly memoryParams: number;
  readonly memoryResults: number;
  /** Arguments of a function that the launcher provides, at most. */
  readonly args: number;
  /** Bytes of the tables that say which functions may be called from where. */
  readonly targetBytes: number;
  /** Bytes of the lanes' stacks. */
  readonly stackBytes: number;
  /** Bytes of frames that are not in their place. */
  readonly frameBytes: number;
  /** Bytes of the byte files of all hardware threads of a group. */
  readonly fileBytes: number;
  /** Bytes of those of the routines that they call. */
  readonly callFileBytes: number;
  /** Bytes in which a function keeps what would be too many locals. */
  readonly lastingBytes: number;
  /** Bytes of shared variables, the dynamic ones left out. */
  readonly sharedBytes: number;
}

/**
 * Memory that belongs to one thread of the host while it runs blocks, as offsets from its beginning. Shared memory comes
 * last, since the launch says how much of it there is.
 */
export interface ContextLayout {
  /** 32-bit words by name. */
  readonly words: Readonly<Record<HeaderWord, number>>;
  readonly params: number;
  readonly roots: number;
  readonly sites: number;
  /** The same for what instructions find in the lanes' stacks, where each lane's is further on. */
  readonly stackSites: number;
  /** For each lane: an address (64 bits), the byte of memory where it is (32 bits), a value (up to four of 64 bits). */
  readonly addresses: number;
  readonly places: number;
  readonly values: number;
  /** Arguments of a function that the launcher provides: of each all lanes, in 64 bits. */
  readonly args: number;
  /** Thread numbers by dimension: 1024 words for x, then y, then z. */
  readonly tids: number;
  /** The shadow stack: an entry for each call that has not returned, the first for the kernel. */
  readonly calls: number;
  /** Bytes of an entry, and in it the words of parameters and of results in memory. */
  readonly callBytes: number;
  readonly callParams: number;
  readonly callResults: number;
  /** For each kind of indirect call a byte for each function of the program: whether it may go there. */
  readonly targets: number;
  readonly states: number;
  /** What `SuspendedFrames` says. */
  readonly paused: number;
  readonly pools: number;
  /** For each warp of a block, what `gathering` says. */
  readonly gatherings: number;
  readonly stacks: number;
  readonly frames: number;
  readonly files: number;
  readonly callFiles: number;
  readonly lasting: number;
  readonly shared: number;
}

const headerWords = [
  "ntid.x",
  "ntid.y",
  "ntid.z",
  "nctaid.x",
  "nctaid.y",
  "nctaid.z",
  "ctaid.x",
  "ctaid.y",
  "ctaid.z",
  "nwarpid",
  "smid",
  "nsmid",
  "gridid",
  "dynamic_smem_size",
  "total_smem_size",
  "aggr_smem_size",
  /** Threads of a block. */
  "threads",
  /** The first thread of the chunk that runs. */
  "first",
  /** The entry in the shadow stack of the activation that asks the launcher. */
  "entry",
  /** Not 0 where lanes of the block wait for others of their warp that can no longer come. */
  "stuck",
  /** The lanes of the chunk that have not ended, bit by bit; for functions in which lanes may have to wait for others. */
  "live",
  /** The byte of memory where the stack of the chunk's first lane begins. */
  "stacks",
  /** Bytes of its lanes' stacks in use, and what they have cost, once lanes have taken some. */
  "stackTop",
  "stackCost",
  "sharedBytes",
  "ticket",
  /** Whether the block of the ticket goes on, where it has stopped because it only waited. */
  "resumed",
  /** Rounds of the chunks in which they only wait after which a block stops. */
  "patience",
  /**
   * For functions that may pause: the byte of memory where the state of the chunk begins; whether it goes on since it has given way
   * (else behind barriers); where the activation is kept that goes on, or 0 if one begins; and, when it has come back, where it is kept
   * if lanes wait, else 0.
   */
  "state",
  "woken",
  "resumes",
  "paused",
] as const;

export type HeaderWord = (typeof headerWords)[number];

export const isHeaderWord = (name: string): name is HeaderWord => (headerWords as readonly string[]).includes(name);

/** Bytes of the numbers of a block's threads in one dimension. */
export const tidBytes = 4 * maxThreads;

/**
 * Words of an entry of the shadow stack: what the launcher, or the callee, must know of a call. Behind them come the places of
 * parameters and results that lie in the caller's frame, as bytes of the lanes' stacks.
 */
export const callEntry = {
  /** The number of the call instruction, and that of the function that is called. */
  site: 0,
  callee: 4,
  /**
   * The first byte of the lanes' stacks that the caller does not use, and the bytes of the unsized argument. In vISA the byte of
   * memory where the callee's byte file begins.
   */
  top: 8,
  unsized: 12,
  /** Where that is counted: what the caller's stack has cost, and the bytes of the host's stack that are left. */
  cost: 16,
  room: 20,
} as const;

const callWordsBytes = 24;

/** Bytes of a root or a site: the first address (64 bits), the size, what makes an address a byte of memory. */
export const reachBytes = 16;

const align = (at: number): number => Math.ceil(at / 64) * 64;

export function layContext(needs: ContextNeeds): ContextLayout {
  let at = headerBytes;
  const take = (bytes: number): number => {
    const start = align(at);
    at = start + bytes;
    return start;
  };
  const callBytes = callWordsBytes + 4 * (needs.memoryParams + needs.memoryResults);
  return {
    words: Object.fromEntries(headerWords.map((name, i) => [name, 4 * i])) as Record<HeaderWord, number>,
    params: take(needs.paramBytes),
    roots: take(needs.roots * reachBytes),
    sites: take(needs.sites * reachBytes),
    stackSites: take(needs.stackBytes === 0 ? 0 : needs.sites * reachBytes),
    // From the sites to here all is zeros when a launch begins.
    pools: take(needs.poolBytes),
    addresses: take(needs.lanes * 8),
    places: take(needs.lanes * 4),
    values: take(needs.lanes * 32),
    args: take(needs.args * needs.lanes * 8),
    tids: take(3 * tidBytes),
    calls: take(needs.calls * callBytes),
    callBytes,
    callParams: callWordsBytes,
    callResults: callWordsBytes + 4 * needs.memoryParams,
    targets: take(needs.targetBytes),
    states: take(needs.stateBytes * needs.chunks),
    paused: take(needs.pausedBytes),
    gatherings: take(needs.gathers ? maxWarps * warpWaitBytes : 0),
    stacks: take(needs.stackBytes),
    frames: take(needs.frameBytes),
    files: take(needs.fileBytes),
    callFiles: take(needs.callFileBytes),
    lasting: take(needs.lastingBytes),
    shared: take(0),
  };
}
