import { threadNames } from "./formula.ts";
import type { Contents, Space, WarpVector } from "./warp-vectors.ts";

/** A register of every thread, stored for the comparison. */
export interface Column {
  readonly what: string;
  /** Bits that count. */
  readonly size: number;
  /** By thread; null where it does not come to the store. */
  readonly values: readonly (bigint | null)[];
  /** Threads whose values may be in any order among them. */
  readonly inAnyOrder: readonly number[];
}

/** Memory that is compared at the end: contents of a space, of each thread where it is its own. */
export interface Area {
  readonly space: Space;
  /** In the buffer of all areas. */
  readonly at: number;
  readonly contents: Contents;
  readonly isOwn: boolean;
  /** Blocks of the cluster that have it each. */
  readonly blocks: number;
}

const ownSpaces: readonly Space[] = ["local", "argument", "passed"];
/** Copies of shared memory wait at a barrier that no vector uses: a warp may come to it while others are at theirs. */
const harnessBarrier = "bar.sync 13;";
const areaAlign = 256;
/** Bytes that a column has for each thread. */
export const cellBytes = 16;
/** What cells hold that nothing has been stored to, byte by byte. */
export const emptyByte = 0xcc;

/** The buffers and the parameter of a kernel that executes several vectors. */
export class Buffers {
  /** Threads of the cluster, and of one of its blocks. */
  readonly block: number;
  readonly blockSize: number;
  /** Values that threads load, by column and thread. */
  readonly inputs: (readonly bigint[])[] = [];
  columns = 0;
  readonly memory: number[] = [];
  readonly parameter: number[] = [];
  /** Module-level variables and functions. */
  readonly declarations: string[] = [];
  sharedBytes = 0;
  #names = 0;

  constructor({ block, blockSize }: Pick<WarpVector, "block" | "blockSize">) {
    this.block = block;
    this.blockSize = blockSize;
  }

  name(start: string): string {
    return `${start}${this.#names++}`;
  }
}

const bytesOf = (contents: Contents, names: Readonly<Record<string, bigint>>): number[] =>
  Array.from({ length: contents.count }, (_, i) =>
    elementBytes(contents.formula({ names: { ...names, i: BigInt(i) }, position: i }), contents.bits),
  ).flat();

const elementBytes = (value: bigint, bits: number): number[] =>
  Array.from({ length: bits / 8 }, (_, k) => Number(BigInt.asUintN(8, value >> BigInt(8 * k))));

export const bytesIn = ({ bits, count }: Contents): number => (bits / 8) * count;

/** Where the memory and the values of one vector are, and the instructions that bring them there and back. */
export class Layout {
  /** Bits of an address. */
  readonly pointer: 32 | 64;
  readonly columns: (Column & { readonly at: number })[] = [];
  readonly areas: Area[] = [];
  /** The size of the parameter of the function that the section has to be in. */
  argument: { readonly bytes: number; readonly at: number } | null = null;
  readonly #vector: WarpVector;
  readonly #buffers: Buffers;
  readonly #variables = new Map<Space, string>();

  constructor(vector: WarpVector, buffers: Buffers, pointer: 32 | 64) {
    this.#vector = vector;
    this.#buffers = buffers;
    this.pointer = pointer;
  }

  label(): string {
    return this.#buffers.name("L");
  }

  /** The offset of a column of values to load. */
  input(values: readonly bigint[]): number {
    const { inputs, block } = this.#buffers;
    inputs.push(values);
    return (inputs.length - 1) * cellBytes * block;
  }

  output(column: Column): number {
    const at = this.#buffers.columns++ * cellBytes * this.#buffers.block;
    this.columns.push({ ...column, at });
    return at;
  }

  /** The instructions that fill a space, before any statement. */
  enter(space: Space): string[] {
    const contents = this.#vector.memory.get(space)!;
    const bytes = bytesIn(contents);
    if (space === "const" || space === "param") return this.#place(space, bytesOf(contents, {}));
    const area = this.#area(space, contents);
    switch (space) {
      case "global":
        return [];
      case "shared":
        this.#variables.set(space, "shared");
        this.#buffers.sharedBytes = Math.max(this.#buffers.sharedBytes, bytes);
        return [...this.#copyShared(area, bytes, "in"), harnessBarrier];
      case "local": {
        const name = this.#buffers.name("local");
        this.#variables.set(space, name);
        return [`.local .align 32 .b8 ${name}[${bytes}];`, ...this.#copyOwn(area, bytes, name, "in")];
      }
      case "argument":
        this.argument = { bytes, at: area.at };
        // The caller fills it, and nobody reads it afterwards.
        this.areas.pop();
        return [];
      case "passed":
        return [`.param .align 32 .b8 passed[${bytes}];`, ...this.copyToParameter("passed", area.at, bytes)];
    }
  }

  /** The instructions between the vector's own and those after it. */
  passOn(space: Space): string[] {
    if (space !== "passed") return [];
    const { pointer } = this;
    const name = this.#buffers.name("receive");
    const [area] = this.areas.filter((a) => a.space === "passed");
    const bytes = bytesIn(area!.contents);
    const words = Array.from({ length: bytes / 4 }, (_, k) => 4 * k);
    this.#buffers.declarations.push(
      `.func ${name}(.param .align 32 .b8 passed[${bytes}], .param .u${pointer} to) { ` +
        `.reg .b32 w; .reg .u${pointer} a; ld.param.u${pointer} a, [to]; ` +
        words.map((at) => `ld.param.b32 w, [passed+${at}]; st.global.b32 [a+${at}], w;`).join(" ") +
        " ret; }",
    );
    const own = this.#buffers.name("own");
    return [
      ...this.#ownAddress(own, area!.at, bytes),
      `.param .u${pointer} to_${own};`,
      `st.param.u${pointer} [to_${own}], ${own};`,
      `call ${name}, (passed, to_${own});`,
    ];
  }

  /** The instructions that bring a space to where it is compared, after all statements. */
  leave(space: Space): string[] {
    const area = this.areas.find((a) => a.space === space);
    if (!area) return [];
    const bytes = bytesIn(area.contents);
    if (space === "shared") return [harnessBarrier, ...this.#copyShared(area, bytes, "out"), harnessBarrier];
    return space === "local" ? this.#copyOwn(area, bytes, this.#variables.get(space)!, "out") : [];
  }

  /** The instructions that put the address of a space into a register. */
  address(space: Space, register: string, isGeneric: boolean): string[] {
    const { pointer } = this;
    if (space === "global") {
      const { at } = this.areas.find((a) => a.space === space)!;
      return [`add.u${pointer} ${register}, %mem, ${at};`];
    }
    const [name, offset = 0] = this.#variables.get(space)!.split("+");
    return [
      `mov.u${pointer} ${register}, ${name};`,
      ...(offset === 0 ? [] : [`add.u${pointer} ${register}, ${register}, ${offset};`]),
      ...(isGeneric ? [`cvta.${space}.u${pointer} ${register}, ${register};`] : []),
    ];
  }

  /** Fills a parameter from the thread's own bytes in an area. */
  copyToParameter(parameter: string, at: number, bytes: number): string[] {
    const [own, word] = [this.#buffers.name("own"), this.#buffers.name("word")];
    const copies = Array.from(
      { length: bytes / 4 },
      (_, k) => `ld.global.b32 ${word}, [${own}+${4 * k}]; st.param.b32 [${parameter}+${4 * k}], ${word};`,
    );
    return [...this.#ownAddress(own, at, bytes), `.reg .b32 ${word};`, ...copies];
  }

  /** Contents that no instruction changes. */
  #place(space: "const" | "param", bytes: readonly number[]): string[] {
    const { declarations, parameter } = this.#buffers;
    if (space === "const") {
      const name = this.#buffers.name("constants");
      declarations.push(`.const .align 32 .b8 ${name}[${bytes.length}] = {${bytes.join(", ")}};`);
      this.#variables.set(space, name);
    } else {
      while (parameter.length % 32 !== 0) parameter.push(0);
      this.#variables.set(space, `data+${parameter.length}`);
      parameter.push(...bytes);
    }
    return [];
  }

  #area(space: Space, contents: Contents): Area {
    const { memory, block } = this.#buffers;
    while (memory.length % areaAlign !== 0) memory.push(0);
    const isOwn = ownSpaces.includes(space);
    const blocks = space === "shared" ? this.#vector.cluster : 1;
    const area: Area = { space, at: memory.length, contents, isOwn, blocks };
    for (let thread = 0; thread < (isOwn ? block : 1); thread++)
      for (let rank = 0; rank < blocks; rank++)
        memory.push(...bytesOf(contents, isOwn ? threadNames(thread) : { rank: BigInt(rank) }));
    this.areas.push(area);
    return area;
  }

  #ownAddress(register: string, at: number, bytes: number, thread = "%t"): string[] {
    const { pointer } = this;
    return [
      `.reg .u${pointer} ${register};`,
      `mad.${pointer === 64 ? "wide" : "lo"}.u32 ${register}, ${thread}, ${bytes}, %mem;`,
      `add.u${pointer} ${register}, ${register}, ${at};`,
    ];
  }

  #copyOwn({ at }: Area, bytes: number, variable: string, way: "in" | "out"): string[] {
    const [own, word] = [this.#buffers.name("own"), this.#buffers.name("word")];
    return [
      ...this.#ownAddress(own, at, bytes),
      `.reg .b32 ${word};`,
      ...Array.from({ length: bytes / 4 }, (_, k) =>
        copy(`global [${own}+${4 * k}]`, `local [${variable}+${4 * k}]`, word, way),
      ),
    ];
  }

  /** The threads copy a word each, as often as it takes. */
  #copyShared({ at }: Area, bytes: number, way: "in" | "out"): string[] {
    const { pointer } = this;
    const [from, to, word, p] = ["from", "to", "word", "p"].map((start) => this.#buffers.name(start));
    const wide = pointer === 64 ? "wide" : "lo";
    const { blockSize: block } = this.#buffers;
    const words = bytes / 4;
    const rounds = Array.from({ length: Math.ceil(words / block) }, (_, round) => {
      const text = copy(`global [${from}+${4 * block * round}]`, `shared [${to}+${4 * block * round}]`, word!, way);
      if ((round + 1) * block <= words) return text;
      const guarded = text.replace(/^|; (?=.)/g, (start) => `${start}@${p} `);
      return `setp.lt.u32 ${p}, %local, ${words - round * block}; ${guarded}`;
    });
    return [
      `.reg .u${pointer} ${from}, ${to}; .reg .b32 ${word}; .reg .pred ${p};`,
      ...this.#ownAddress(from!, at, 4, "%local").slice(1),
      `mad.${wide}.u32 ${from}, %rank, ${bytes}, ${from};`,
      `mov.u${pointer} ${to}, shared;`,
      `mad.${wide}.u32 ${to}, %local, 4, ${to};`,
      ...rounds,
    ];
  }
}

/** A word between `SPACE [ADDRESS]` and another, as memory instructions name them. */
function copy(outer: string, inner: string, word: string, way: "in" | "out"): string {
  const [from, to] = way === "in" ? [outer, inner] : [inner, outer];
  const [[fromSpace, fromAddress], [toSpace, toAddress]] = [from.split(" "), to.split(" ")];
  return `ld.${fromSpace}.b32 ${word}, ${fromAddress}; st.${toSpace}.b32 ${toAddress}, ${word};`;
}
