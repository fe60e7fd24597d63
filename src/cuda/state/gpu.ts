/** A graphics card: what its documentation says of it, as far as programs ask. Sizes in bytes, clocks in kHz. */
export interface Gpu {
  readonly name: string;
  readonly major: number;
  readonly minor: number;
  readonly multiprocessors: number;
  readonly clock: number;
  readonly memoryClock: number;
  readonly busBits: number;
  readonly l2: number;
  readonly persistingL2: number;
  readonly threadsPerMultiprocessor: number;
  readonly blocksPerMultiprocessor: number;
  readonly sharedPerMultiprocessor: number;
  readonly sharedOptIn: number;
  /** Bytes of shared memory that the system keeps for itself in each block. */
  readonly sharedReserved: number;
}

const kib = 1024;

/**
 * The cards of `--gpu`. Figures: CUDA Programming Guide, technical specifications per compute capability; data sheets.
 */
export const gpus: Readonly<Record<string, Gpu>> = {
  sm_75: {
    name: "Tesla T4",
    major: 7,
    minor: 5,
    multiprocessors: 40,
    clock: 1_590_000,
    memoryClock: 5_001_000,
    busBits: 256,
    l2: 4096 * kib,
    persistingL2: 0,
    threadsPerMultiprocessor: 1024,
    blocksPerMultiprocessor: 16,
    sharedPerMultiprocessor: 64 * kib,
    sharedOptIn: 64 * kib,
    sharedReserved: 0,
  },
  sm_80: {
    name: "NVIDIA A100-SXM4-40GB",
    major: 8,
    minor: 0,
    multiprocessors: 108,
    clock: 1_410_000,
    memoryClock: 1_215_000,
    busBits: 5120,
    l2: 40_960 * kib,
    persistingL2: 30_720 * kib,
    threadsPerMultiprocessor: 2048,
    blocksPerMultiprocessor: 32,
    sharedPerMultiprocessor: 164 * kib,
    sharedOptIn: 163 * kib,
    sharedReserved: kib,
  },
  sm_86: {
    name: "NVIDIA GeForce RTX 3090",
    major: 8,
    minor: 6,
    multiprocessors: 82,
    clock: 1_695_000,
    memoryClock: 9_751_000,
    busBits: 384,
    l2: 6144 * kib,
    persistingL2: 4608 * kib,
    threadsPerMultiprocessor: 1536,
    blocksPerMultiprocessor: 16,
    sharedPerMultiprocessor: 100 * kib,
    sharedOptIn: 99 * kib,
    sharedReserved: kib,
  },
  sm_90: {
    name: "NVIDIA H100 80GB HBM3",
    major: 9,
    minor: 0,
    multiprocessors: 132,
    clock: 1_980_000,
    memoryClock: 2_619_000,
    busBits: 5120,
    l2: 51_200 * kib,
    persistingL2: 32_768 * kib,
    threadsPerMultiprocessor: 2048,
    blocksPerMultiprocessor: 32,
    sharedPerMultiprocessor: 228 * kib,
    sharedOptIn: 227 * kib,
    sharedReserved: kib,
  },
  sm_100: {
    name: "NVIDIA B200",
    major: 10,
    minor: 0,
    multiprocessors: 148,
    clock: 1_965_000,
    memoryClock: 3_996_000,
    busBits: 8192,
    l2: 129_024 * kib,
    persistingL2: 81_920 * kib,
    threadsPerMultiprocessor: 2048,
    blocksPerMultiprocessor: 32,
    sharedPerMultiprocessor: 228 * kib,
    sharedOptIn: 227 * kib,
    sharedReserved: kib,
  },
  sm_120: {
    name: "NVIDIA GeForce RTX 5090",
    major: 12,
    minor: 0,
    multiprocessors: 170,
    clock: 2_407_000,
    memoryClock: 14_001_000,
    busBits: 512,
    l2: 98_304 * kib,
    persistingL2: 61_440 * kib,
    threadsPerMultiprocessor: 1536,
    blocksPerMultiprocessor: 24,
    sharedPerMultiprocessor: 100 * kib,
    sharedOptIn: 99 * kib,
    sharedReserved: kib,
  },
};

/** The card of programs that bring no code along. */
export const defaultGpu = "sm_90";

/** Bytes that a kernel may have without asking for more. */
export const sharedPerBlock = 48 * kib;

/** Its compute capability as one number: 90. */
export const capabilityOf = ({ major, minor }: Gpu): number => 10 * major + minor;
