import { binsBytes } from "./atomics.ts";
import { declareFixed, declareFunctions, defineFunctions, numberInGrid, numberThread } from "./calls.ts";
import { type FamilyName, familyOf } from "./families.ts";
import { bytesOfImage, type RandomImage, randomImages } from "./images.ts";
import { FunctionText } from "./function-text.ts";
import { beginLocalArray, sharedTableBytes } from "./memory.ts";
import { blobBytes, headerBytes, ModuleText, mostStreams, ownBytes, streamBytes } from "./module-text.ts";
import type { TensorShape } from "../../src/index.ts";
import { Random } from "./random.ts";
import { sharedArea, warpMatrixBytes } from "./matrices.ts";
import { type Scale, scales } from "./scale.ts";
import type { Scope, Weights } from "./scope.ts";
import { statements } from "./statements.ts";
import { writtenSurfaces } from "./surfaces.ts";
import { isStored } from "./tensor-boxes.ts";
import { type RandomTensor, randomTensor, tensorBytes } from "./tensor-maps.ts";
import { targets } from "./target.ts";
import { patternBytes } from "./values.ts";

/**
 * A module with one kernel `k`, and a launch of it, which is free of races and ends; without reports but in `faults`.
 */
export interface PtxProgram {
  readonly isa: "ptx";
  readonly title: string;
  readonly seed: number;
  readonly text: string;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Blocks of a cluster, in each dimension; null: the launch has none. */
  readonly cluster: readonly [number, number, number] | null;
  /** The kernel's first parameters: what the buffers hold when it begins. */
  readonly buffers: readonly Uint8Array[];
  /** The next one, by value. */
  readonly blob: Uint8Array;
  /** The last ones are maps of tensors, of which each has a buffer with these bytes. */
  readonly tensors: readonly { readonly shape: TensorShape; readonly bytes: Uint8Array }[];
  /** And then textures and surfaces, likewise. */
  readonly images: readonly (RandomImage & { readonly bytes: Uint8Array })[];
}

type Size = readonly [number, number, number];

/** Shapes of blocks: single warps, several, partial last ones, in one to three dimensions. */
const blocks: readonly Size[] = [
  [32, 1, 1],
  [32, 1, 1],
  [64, 1, 1],
  [96, 1, 1],
  [128, 1, 1],
  [1, 1, 1],
  [7, 1, 1],
  [31, 1, 1],
  [33, 1, 1],
  [45, 1, 1],
  [8, 8, 1],
  [5, 7, 1],
  [16, 3, 1],
  [4, 4, 4],
  [3, 5, 3],
  [2, 3, 11],
  [1, 40, 1],
  [32, 2, 1],
  [32, 1, 2],
];
/** Blocks of one warp. */
const singleWarps: readonly Size[] = [
  [32, 1, 1],
  [7, 1, 1],
  [4, 5, 1],
];
/** Blocks of which each row is a warp. */
const rowsOfWarps: readonly Size[] = [
  [32, 1, 1],
  [32, 2, 1],
  [32, 3, 1],
  [7, 1, 1],
];
/** Blocks of which a warp has several rows, or which end within one; layers, too. */
const rowsInWarps: readonly Size[] = [
  [16, 2, 1],
  [16, 4, 1],
  [8, 4, 1],
  [8, 8, 1],
  [16, 3, 1],
  [8, 5, 1],
  [16, 1, 1],
  [4, 8, 1],
  [24, 4, 1],
  [16, 2, 2],
  [8, 2, 4],
  [8, 3, 2],
];
/** Blocks that are one chunk, or whose rows are. */
const tileBlocks: readonly Size[] = [
  [4, 4, 1],
  [16, 1, 1],
  [8, 1, 1],
  [4, 1, 1],
  [4, 2, 1],
  [2, 4, 4],
  [8, 4, 1],
  [4, 4, 2],
  [16, 4, 1],
  [8, 8, 1],
  [4, 16, 1],
  [32, 2, 1],
  [2, 2, 8],
];
/** Blocks of which rows end in the middle of chunks, or go on in the next ones. */
const blocksOfRows: readonly Size[] = [
  [16, 4, 1],
  [8, 8, 1],
  [33, 1, 1],
  [5, 3, 1],
  [64, 2, 1],
  [64, 1, 1],
  [32, 4, 1],
];
/** Blocks of few threads. */
const smallBlocks: readonly Size[] = [
  [4, 1, 1],
  [4, 1, 1],
  [1, 4, 1],
  [2, 2, 1],
  [1, 1, 1],
  [2, 1, 1],
  [3, 1, 1],
  [5, 1, 1],
  [2, 3, 1],
  [7, 1, 1],
  [8, 1, 1],
  [2, 4, 1],
  [2, 2, 2],
  [9, 1, 1],
];
/** Blocks of whole warps. */
const wholeBlocks = blocks.filter(([x, y, z]) => (x * y * z) % 32 === 0);
/** Blocks of whole warpgroups. */
const warpgroupBlocks: readonly Size[] = [
  [128, 1, 1],
  [128, 1, 1],
  [64, 2, 1],
  [256, 1, 1],
];
const grids: readonly Size[] = [
  [1, 1, 1],
  [1, 1, 1],
  [2, 1, 1],
  [3, 1, 1],
  [2, 2, 1],
  [1, 1, 2],
];

/** Grids of many blocks. */
const wideGrids: readonly Size[] = [
  [8, 1, 1],
  [32, 1, 1],
  [12, 2, 1],
  [4, 3, 2],
  [16, 1, 2],
];

const clustered: readonly { readonly grid: Size; readonly cluster: Size }[] = [
  { grid: [2, 1, 1], cluster: [2, 1, 1] },
  { grid: [4, 1, 1], cluster: [2, 1, 1] },
  { grid: [4, 1, 1], cluster: [4, 1, 1] },
  { grid: [2, 2, 1], cluster: [1, 2, 1] },
  { grid: [2, 2, 1], cluster: [2, 2, 1] },
  { grid: [3, 1, 2], cluster: [3, 1, 1] },
];
/** Those in which each block is one of a pair. */
const paired = clustered.filter(({ cluster: [x, y, z] }) => (x * y * z) % 2 === 0);

/** Places of eight bytes for what a thread has computed. */
const outSlots = 96;
/** Bytes that the threads' first loads reach beyond each other. */
const inputTail = 512;

export function ptxProgram(family: FamilyName, seed: number, size: Scale = scales.usual): PtxProgram {
  const random = new Random(seed);
  const {
    weights,
    statements: range,
    functions = 0,
    flat = false,
    few = false,
    meeting = false,
    leaving = false,
    alone = false,
    whole = false,
    warpgroups = false,
    tensors = false,
    images: hasImages = false,
    clusters = false,
    pairs = false,
    global = false,
    wide = false,
    blocks: shape,
    targets: names,
  } = familyOf(family);
  const { varying, uniform } = scales.small;
  const scale = few ? { ...size, varying, uniform } : size;
  const target = names === undefined ? targets.sm_100a : targets[random.pick(names)];
  const block = random.pick(
    shape !== undefined
      ? { tiles: tileBlocks, warps: rowsOfWarps, wholeRows: rowsInWarps, rows: blocksOfRows, few: smallBlocks }[shape]
      : alone
        ? singleWarps
        : warpgroups
          ? warpgroupBlocks
          : whole
            ? wholeBlocks
            : blocks,
  );
  const { grid, cluster } = clusters
    ? random.pick(pairs ? paired : clustered)
    : { grid: alone ? ([1, 1, 1] as const) : random.pick(global || wide ? wideGrids : grids), cluster: null };
  const threads = [...block, ...grid].reduce((product, n) => product * n);
  const images = hasImages ? [...randomImages(random), ...writtenSurfaces(random, threads)] : [];
  const module = new ModuleText(random, {
    target,
    block,
    grid,
    tensors: tensorsOf(random, tensors, target.sm),
    images,
    scale,
  });
  const text = new FunctionText(random, target, scale);

  declareFunctions(module, functions, meeting);
  begin(module, text, weights, global);
  // Compiled code then runs the warp as one, and of several faults reports the one that comes first in the interpreter.
  if (alone) text.add(`activemask.b32 ${text.temporary(32)};`);
  const out = new Output(text, threads);
  const scope: Scope = {
    module,
    text,
    weights,
    statements,
    level: -1,
    flat,
    converged: !leaving,
    nesting: 0,
    loops: [],
    leave: leaving ? (guard) => out.leave(guard) : null,
  };
  statements(scope, random.between(...range));
  out.all();
  if (module.has("sb")) copyShared(module, text);
  text.add(random.chance(0.5) ? "ret;" : "exit;");
  defineFunctions(module, scope);
  module.addBody(text.text(kernelHead(module)));

  return {
    isa: "ptx",
    title: `${family} ${seed}`,
    seed,
    text: module.text(),
    grid: module.grid,
    cluster,
    block: module.block,
    buffers: [
      new Uint8Array(threads * outSlots * 8),
      patternBytes(random, threads * 16 + inputTail),
      patternBytes(random, threads * (ownBytes + headerBytes)),
      new Uint8Array(binsBytes * (1 + module.blocks)),
      patternBytes(random, threads * streamBytes * mostStreams),
    ],
    blob: patternBytes(random, blobBytes),
    tensors: module.tensors.map(({ shape }) => ({ shape, bytes: patternBytes(random, tensorBytes) })),
    images: images.map((image) => ({ ...image, bytes: patternBytes(random, bytesOfImage(image)) })),
  };
}

const kernelHead = ({ tensors, images }: ModuleText): string => {
  const buffers = ["out", "input", "own", "bins", "stream"].map((name) => `.param .u64 ${name}`);
  const maps = tensors.map(({ parameter }) => `.param .align 64 .b8 ${parameter}[128]`);
  const handles = images.map(({ parameter }) => `.param .u64 ${parameter}`);
  return `.visible .entry k(${[...buffers, `.param .align 16 .b8 blob[${blobBytes}]`, ...maps, ...handles].join(", ")})`;
};

/** Tensors that are loaded and stored in turn. */
function tensorsOf(random: Random, has: boolean, sm: number): RandomTensor[] {
  const tensors: RandomTensor[] = [];
  for (let i = has ? random.between(2, 5) : 0; i > 0; ) {
    const tensor = randomTensor(random, `map${tensors.length}`, sm);
    if (tensors.length % 2 === 1 && !isStored(tensor)) continue;
    tensors.push(tensor);
    i--;
  }
  return tensors;
}

/** Numbers the thread, fills the pool from the input, and shared memory for those who read it. */
function begin(module: ModuleText, text: FunctionText, weights: Weights, global: boolean): void {
  const { random } = text;
  declareFixed(text);
  text.declare(".reg .b64 %out, %input, %inp, %bins, %stream;");
  text.declare(".reg .b32 %gid, %cta;");
  text.add("ld.param.u64 %out, [out];", "ld.param.u64 %input, [input];", "ld.param.u64 %own, [own];");
  text.add(
    "ld.param.u64 %bins, [bins];",
    "ld.param.u64 %stream, [stream];",
    `mov.u32 %depth, ${random.between(0, 2)};`,
  );
  if (global) {
    numberInGrid(text, module.block);
    text.add("mov.u32 %gid, %lt;", "mov.u32 %cta, %ty;");
  } else {
    numberThread(text, module.block);
    text.declare(".reg .b32 %cx, %cy, %cz, %gx, %gy;");
    text.add("mov.u32 %cx, %ctaid.x;", "mov.u32 %cy, %ctaid.y;", "mov.u32 %cz, %ctaid.z;");
    text.add("mov.u32 %gx, %nctaid.x;", "mov.u32 %gy, %nctaid.y;");
    text.add("mad.lo.u32 %cta, %cz, %gy, %cy;", "mad.lo.u32 %cta, %cta, %gx, %cx;");
    text.add(`mad.lo.u32 %gid, %cta, ${module.threads}, %lt;`);
  }
  text.add("mad.wide.u32 %inp, %gid, 16, %input;");
  text.add(`mad.wide.u32 %own, %gid, ${ownBytes + headerBytes}, %own;`, `add.s64 %own, %own, ${headerBytes};`);
  text.add(`st.global.u64 [%own+-${headerBytes}], %bins;`);
  fillPool(text);
  beginLocalArray(text, weights);
  if ("print" in weights) text.declare(".local .align 8 .b8 pr[24];");

  const { load, exchange, sharedAtomic, ownAtomic, mbarrierPhases } = {
    load: 0,
    exchange: 0,
    sharedAtomic: 0,
    ownAtomic: 0,
    mbarrierPhases: 0,
    ...weights,
  };
  const shared: [name: string, bytes: number][] = [];
  if (load > 0 && !global && random.chance(0.5)) shared.push(["st", sharedTableBytes]);
  if (sharedAtomic > 0) shared.push(["sb", binsBytes]);
  if (ownAtomic > 0) shared.push(["so", 32 * module.threads]);
  if (exchange + mbarrierPhases > 0) module.shared("xc", 8 * module.threads);
  if ("matrix" in weights) shared.push([sharedArea(module), module.warps * warpMatrixBytes]);
  for (const [name, bytes] of shared) {
    fillShared(module, text, module.shared(name, bytes), bytes, name === "sb" ? null : text.register(64));
  }
  if (shared.length > 0) text.add("bar.sync 0;");
}

function fillPool(text: FunctionText): void {
  const { random } = text;
  const word = text.temporary(32);
  for (const { name, width, uniform } of text.pool()) {
    const at = `[%inp+${8 * random.below(inputTail / 8 - 1)}]`;
    if (width === 1)
      text.add(
        `ld.${uniform ? "param" : "global"}.b32 ${word}, ${uniform ? `[blob+${4 * random.below(16)}]` : at};`,
        `setp.gt.s32 ${name}, ${word}, 0;`,
      );
    else if (width === 128) text.add(`mov.b128 ${name}, {%d0, %d1};`);
    else if (uniform) text.add(`ld.param.b${width} ${name}, [blob+${8 * random.below(blobBytes / 8)}];`);
    else if (width === 32 && random.chance(0.3)) {
      // Values that go up with the lane, as addresses and indices do.
      text.add(
        `mad.lo.s32 ${name}, ${random.pick(["%lt", "%gid", "%lane", "%tx", "%cta"])}, ${random.between(-4, 9)}, ${random.between(-9, 9)};`,
      );
    } else text.add(`ld.global.${width === 8 ? "u8" : `b${width}`} ${name}, ${at};`);
  }
}

/** All threads together fill shared memory: with zeros, or with a value of each thread. */
function fillShared(module: ModuleText, text: FunctionText, name: string, bytes: number, value: string | null): void {
  const [index, at, p, top] = [text.temporary(32), text.temporary(64), text.temporary(1), text.label()];
  const end = text.label();
  text.add(`mov.u32 ${index}, %lt;`);
  text.place(top);
  text.add(`setp.ge.u32 ${p}, ${index}, ${bytes / 8};`, `@${p} bra ${end};`, `mov.u64 ${at}, ${name};`);
  text.add(`mad.wide.u32 ${at}, ${index}, 8, ${at};`, `st.shared.b64 [${at}], ${value ?? "0"};`);
  text.add(`add.u32 ${index}, ${index}, ${module.threads};`, `bra ${top};`);
  text.place(end);
}

/** What the block has added up in shared memory goes to its part of the bins' buffer. */
function copyShared(module: ModuleText, text: FunctionText): void {
  const [index, at, to, p] = [text.temporary(32), text.temporary(64), text.temporary(64), text.temporary(1)];
  const [value, top, end] = [text.temporary(64), text.label(), text.label()];
  text.add("bar.sync 0;", `mov.u32 ${index}, %lt;`);
  text.place(top);
  text.add(`setp.ge.u32 ${p}, ${index}, ${binsBytes / 8};`, `@${p} bra ${end};`, `mov.u64 ${at}, sb;`);
  text.add(`mad.wide.u32 ${at}, ${index}, 8, ${at};`, `ld.shared.b64 ${value}, [${at}];`);
  text.add(`mad.wide.u32 ${to}, %cta, ${binsBytes}, %bins;`, `mad.wide.u32 ${to}, ${index}, 8, ${to};`);
  text.add(`st.global.b64 [${to}+${binsBytes}], ${value};`, `add.u32 ${index}, ${index}, ${module.threads};`);
  text.add(`bra ${top};`);
  text.place(end);
}

/** Where a thread's values go: its own places, all of a thread together or the same of all threads together. */
class Output {
  readonly #text: FunctionText;
  readonly #stride: number;
  #next = 0;

  constructor(text: FunctionText, threads: number) {
    this.#text = text;
    const together = text.random.chance(0.5);
    this.#stride = together ? 8 : 8 * threads;
    text.add(`mad.wide.u32 %out, %gid, ${together ? 8 * outSlots : 8}, %out;`);
  }

  /** Some values, and then the thread ends. */
  leave(guard: string): void {
    const text = this.#text;
    for (const width of [32, 64, 16] as const) this.#store(text.register(width), width, guard);
    text.add(`${guard}${text.random.chance(0.5) ? "ret" : "exit"};`);
  }

  all(): void {
    const text = this.#text;
    const word = text.temporary(32);
    const [low, high] = [text.temporary(64), text.temporary(64)];
    for (const { name, width } of text.pool()) {
      if (width === 1) {
        text.add(`selp.b32 ${word}, 1, 0, ${name};`);
        this.#store(word, 32, "");
      } else if (width === 128) {
        text.add(`mov.b128 {${low}, ${high}}, ${name};`);
        this.#store(low, 64, "");
        this.#store(high, 64, "");
      } else this.#store(name, width, "");
    }
  }

  #store(name: string, width: number, guard: string): void {
    this.#text.add(`${guard}st.global.b${width} [%out+${this.#stride * (this.#next++ % outSlots)}], ${name};`);
  }
}
