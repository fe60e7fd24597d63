/** Bytes of the header, in which the launcher puts what all lanes read alike. */
const headerBytes = 256;

/** What a kernel needs to have at hand while it runs. */
export interface ContextNeeds {
  /** Lanes of a chunk. */
  readonly lanes: number;
  readonly paramBytes: number;
  /** Pointers among the parameters whose allocation is looked up once. */
  readonly roots: number;
  /** Instructions that remember by themselves what they accessed last. */
  readonly sites: number;
  /** Bytes in which a chunk that waits keeps what it goes on with. */
  readonly stateBytes: number;
  /** Bytes of shared variables, the dynamic ones left out. */
  readonly sharedBytes: number;
}

/**
 * Memory that belongs to one thread of the host while it runs blocks, as offsets from its beginning. Shared memory comes
 * last, since the launch says how much of it there is; then the stacks of the lanes.
 */
export interface ContextLayout {
  /** 32-bit words by name. */
  readonly words: Readonly<Record<HeaderWord, number>>;
  readonly params: number;
  readonly roots: number;
  readonly sites: number;
  /** For each lane: an address (64 bits), the byte of memory where it is (32 bits), a value (up to four of 64 bits). */
  readonly addresses: number;
  readonly places: number;
  readonly values: number;
  /** Thread numbers by dimension: 1024 words for x, then y, then z. */
  readonly tids: number;
  readonly calls: number;
  readonly states: number;
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
  /** How deep calls are nested. */
  "depth",
  /** Bytes of dynamic shared memory, where the lanes' stacks begin, and how far one is from the next. */
  "sharedBytes",
  "stacks",
  "stackStride",
  "ticket",
] as const;

export type HeaderWord = (typeof headerWords)[number];

export const isHeaderWord = (name: string): name is HeaderWord => (headerWords as readonly string[]).includes(name);

/** Bytes of the numbers of a block's threads in one dimension. */
export const tidBytes = 4096;
/** Activations that can be open at once. */
export const mostCalls = 4096;
/** Bytes that the shadow of one activation takes: where it was called from, where its frame begins. */
export const callBytes = 8;
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
  return {
    words: Object.fromEntries(headerWords.map((name, i) => [name, 4 * i])) as Record<HeaderWord, number>,
    params: take(needs.paramBytes),
    roots: take(needs.roots * reachBytes),
    sites: take(needs.sites * reachBytes),
    addresses: take(needs.lanes * 8),
    places: take(needs.lanes * 4),
    values: take(needs.lanes * 32),
    tids: take(3 * tidBytes),
    calls: take(mostCalls * callBytes),
    states: take(needs.stateBytes * (1024 / needs.lanes)),
    shared: take(0),
  };
}
