import { scalarNames } from "../../machine/state/specials.ts";
import { extentHeaderBytes } from "./extent-table.ts";
import { maxThreads } from "./launch-shape.ts";
import { warpWaitBytes, maxWarps } from "./warp-wait-layout.ts";

/** Bytes of the header, which holds 32-bit words that are the same for all lanes. */
const headerBytes = 256;

/** Sizes that a kernel's context depends on. */
export interface ContextNeeds {
  /** Lanes of a chunk; chunks of a block, at most. */
  readonly lanes: number;
  readonly chunks: number;
  readonly paramBytes: number;
  /** Pointers among the parameters whose allocations are looked up before a launch. */
  readonly roots: number;
  /** Instructions that may have a record of what they accessed last. */
  readonly sites: number;
  /** Shared variables, constants and parameters, at most. */
  readonly ownExtents: number;
  /** Bytes of a suspended chunk's state. */
  readonly chunkStateBytes: number;
  /** Bytes of suspended frames, and of the words that say which of them are free. */
  readonly suspendedFrameBytes: number;
  readonly framePoolBytes: number;
  /** Whether lanes may wait for others of their warp. */
  readonly hasWarpWaits: boolean;
  /** Registers of 32 bits that a product of matrices reads and writes, at most. */
  readonly fragmentRegisters: number;
  /** Bytes of the matrices that are widened for products. */
  readonly leftTileBytes: number;
  readonly rightTileBytes: number;
  /** Bytes that products of warpgroups need for matrices, and of the words that say which of these are kept. */
  readonly warpgroupBytes: number;
  readonly warpgroupKeptBytes: number;
  /** Bytes of registers with fragments of matrices that no suspended chunk needs. */
  readonly matrixRegisterBytes: number;
  /** Activations that can be open at once; parameters and results in memory of one of them, at most. */
  readonly calls: number;
  readonly memoryParams: number;
  readonly memoryResults: number;
  /** Arguments of a function that the launcher provides, at most. */
  readonly args: number;
  /** Bytes of the tables that say which functions indirect calls may go to. */
  readonly targetBytes: number;
  /** Bytes of the lanes' stacks. */
  readonly stackBytes: number;
  /** Bytes of frames that have been copied away from the stacks. */
  readonly frameBytes: number;
  /** Bytes of the byte files of all hardware threads of a group. */
  readonly fileBytes: number;
  /** Bytes of the byte files of routines that are called. */
  readonly callFileBytes: number;
  /** Bytes of `run`'s spill area, for registers that would be too many locals. */
  readonly spillBytes: number;
  /** Bytes of shared variables, without the dynamic ones. */
  readonly sharedBytes: number;
}

/**
 * The context: memory that belongs to one block while it runs. All fields but sizes are offsets in bytes from its
 * beginning. Shared memory is last, since its size depends on the launch.
 */
export interface ContextLayout {
  /** 32-bit words by name. */
  readonly words: Readonly<Record<HeaderWord, number>>;
  readonly params: number;
  readonly roots: number;
  readonly sites: number;
  /** Records of what instructions found in the lanes' stacks: those of the first lane. */
  readonly stackSites: number;
  /** What compiled code knows of extents: see `extentHeader`. */
  readonly extents: number;
  /**
   * For each lane: an address (64 bits), the byte of memory that it means (32 bits), values (up to four of 64 bits).
   */
  readonly addresses: number;
  readonly places: number;
  readonly values: number;
  /** Arguments of a function that the launcher provides: for each, 64 bits for every lane. */
  readonly args: number;
  /** Thread numbers by dimension: 1024 words for x, then y, then z. */
  readonly tids: number;
  /** The shadow stack: an entry for each open call, the first for the kernel. */
  readonly calls: number;
  /** Bytes of an entry; offsets in it of the words for parameters and for results in memory. */
  readonly callBytes: number;
  readonly callParams: number;
  readonly callResults: number;
  /** For each kind of indirect call a byte for each function of the program: whether the call may go to it. */
  readonly targets: number;
  readonly chunkStates: number;
  /** Suspended frames, and the words of their pools: see `SuspendedFrames`. */
  readonly suspendedFrames: number;
  readonly framePools: number;
  /** Registers of a warp, of which the launcher multiplies matrices, and where it leaves the result. */
  readonly fragments: number;
  /** Registers with fragments of matrices that no suspended chunk needs. */
  readonly matrixRegisters: number;
  /** Matrices that have been widened for products: left ones, and right ones. */
  readonly leftTiles: number;
  readonly rightTiles: number;
  /** Matrices of products of warpgroups, and the words that say which are kept there: see `WarpgroupArea`. */
  readonly warpgroup: number;
  readonly warpgroupKept: number;
  /** The memory of each warp: see `warpWait`. */
  readonly warpWaits: number;
  readonly stacks: number;
  readonly frames: number;
  readonly files: number;
  readonly callFiles: number;
  readonly spill: number;
  readonly shared: number;
}

const headerWords = [
  ...scalarNames,
  /** Threads of a block. */
  "threads",
  /** The first thread of the chunk that runs. */
  "first",
  /** The byte of memory of the shadow stack's entry for the activation that calls the launcher. */
  "entry",
  /** Not 0 if lanes of the block wait for others of their warp that can no longer arrive. */
  "stuck",
  /** A bit for each lane of the chunk that has not exited; for functions in which lanes may wait for others. */
  "live",
  /** The byte of memory where the stack of the chunk's first lane begins. */
  "stacks",
  /** Bytes of its lanes' stacks in use, and what they count as, after lanes have taken some. */
  "stackTop",
  "stackCost",
  "sharedBytes",
  /** The linear index of the block that runs. */
  "blockIndex",
  /** Whether that block resumes, after it has stopped because it only waited. */
  "resumed",
  /** Rounds in which all chunks only wait after which the block stops. */
  "patience",
  /** Of barriers that reduce predicates of all threads: the votes and the voters, of this round and of the last. */
  "votes",
  "voters",
  "lastVotes",
  "lastVoters",
  /**
   * For functions that may suspend: the byte of memory where the state of the chunk begins; whether the chunk resumes
   * after it has yielded (else after barriers); the suspended frame of the activation that resumes, or 0 if one begins;
   * and, when a call returns, the suspended frame if lanes are suspended in it, else 0.
   */
  "state",
  "resumesYielded",
  "resumedFrame",
  "suspendedFrame",
] as const;

export type HeaderWord = (typeof headerWords)[number];

export const isHeaderWord = (name: string): name is HeaderWord => (headerWords as readonly string[]).includes(name);

/** Bytes of the numbers of a block's threads in one dimension. */
export const tidBytes = 4 * maxThreads;

/**
 * Words of an entry of the shadow stack: what the launcher, or the callee, must know of a call. After them come the
 * parameters and results that lie in the caller's frame, as bytes of the lanes' stacks.
 */
export const callEntry = {
  /** The number of the call instruction, and that of the function that is called. */
  site: 0,
  callee: 4,
  /**
   * The first byte of the lanes' stacks that the caller does not use, and the bytes of the unsized argument. In vISA
   * the byte of memory where the callee's byte file begins.
   */
  top: 8,
  unsized: 12,
  /** Where calls are checked: what the caller's stack counts as, and the bytes of the host's stack that are left. */
  cost: 16,
  room: 20,
  /** In vISA, the byte of memory where the registers lie that calls pass: a byte file's beginning. */
  passed: 24,
} as const;

const callWordsBytes = 32;

/**
 * Bytes of a record, or of a root: an object's first address (64 bits), its size, and what makes an address a byte of
 * memory.
 */
export const recordBytes = 16;

const align = (at: number): number => Math.ceil(at / 64) * 64;

/** The number of a word in the header, the same in all contexts. */
export const headerWord = (name: HeaderWord): number => headerWords.indexOf(name);

const headerOffsets = Object.fromEntries(headerWords.map((name, i) => [name, 4 * i])) as Record<HeaderWord, number>;

export function layContext(needs: ContextNeeds): ContextLayout {
  let at = headerBytes;
  const take = (bytes: number): number => {
    const start = align(at);
    at = start + bytes;
    return start;
  };
  const callBytes = callWordsBytes + 4 * (needs.memoryParams + needs.memoryResults);
  return {
    words: headerOffsets,
    params: take(needs.paramBytes),
    roots: take(needs.roots * recordBytes),
    sites: take(needs.sites * recordBytes),
    stackSites: take(needs.stackBytes === 0 ? 0 : needs.sites * recordBytes),
    // From the sites to the end of the table all is zeros when a launch begins, for launchers that fill none of it.
    framePools: take(needs.framePoolBytes),
    warpgroupKept: take(needs.warpgroupKeptBytes),
    extents: take(extentHeaderBytes + needs.ownExtents * recordBytes),
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
    chunkStates: take(needs.chunkStateBytes * needs.chunks),
    suspendedFrames: take(needs.suspendedFrameBytes),
    fragments: take(needs.fragmentRegisters * 128),
    matrixRegisters: take(needs.matrixRegisterBytes),
    leftTiles: take(needs.leftTileBytes),
    rightTiles: take(needs.rightTileBytes),
    warpgroup: take(needs.warpgroupBytes),
    warpWaits: take(needs.hasWarpWaits ? maxWarps * warpWaitBytes : 0),
    stacks: take(needs.stackBytes),
    frames: take(needs.frameBytes),
    files: take(needs.fileBytes),
    callFiles: take(needs.callFileBytes),
    spill: take(needs.spillBytes),
    shared: take(0),
  };
}
