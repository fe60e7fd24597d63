import type { Random } from "./random.ts";
import { pattern, type Width } from "./values.ts";
import type { RandomImage } from "./images.ts";
import type { RandomTensor } from "./tensor-maps.ts";
import type { Scale } from "./scale.ts";
import { type Target, version } from "./target.ts";

/** How functions pass their arguments and results: as registers, or through parameter space as compilers do. */
export interface Signature {
  readonly style: "reg" | "param";
  /** Behind the address of the thread's own memory and the depth of recursion that is left. */
  readonly takes: readonly Passed[];
  readonly returns: readonly Passed[];
}
/** Bits of a scalar, or bytes of an array (only through parameter space). */
export type Passed = { readonly bits: Exclude<Width, 1 | 8 | 128> } | { readonly bytes: 8 | 16 | 32 };

export interface DeclaredFunction {
  readonly name: string;
  readonly signature: Signature;
  /** It has barriers, so that all threads of a block must call it together. */
  readonly barrier: boolean;
}

/** Bytes of each table and of each array that a thread has for itself: a power of two. */
export const tableBytes = 512;
export const ownBytes = 256;
/** In front of a thread's own memory: the address of what all share. */
export const headerBytes = 32;
export const blobBytes = 64;
/** Bytes that a thread has in each of a few arrays over which all threads go together. */
export const streamBytes = 64;
export const mostStreams = 3;

/** What a module is made for. */
type Launched = Pick<ModuleText, "target" | "block" | "grid" | "tensors" | "images" | "scale">;

/** The parts of a module that its functions share. */
export class ModuleText {
  readonly random: Random;
  readonly block: readonly [number, number, number];
  readonly grid: readonly [number, number, number];
  readonly target: Target;
  readonly scale: Scale;
  readonly functions: DeclaredFunction[] = [];
  /** Those with an even index are loaded, the others stored. */
  readonly tensors: readonly RandomTensor[];
  readonly images: readonly RandomImage[];
  #streams = 0;
  #fresh = 0;
  readonly #variables = new Map<string, string>();
  readonly #bodies: string[] = [];

  constructor(random: Random, { target, block, grid, tensors, images, scale }: Launched) {
    this.random = random;
    this.tensors = tensors;
    this.images = images;
    this.target = target;
    this.scale = scale;
    this.block = block;
    this.grid = grid;
  }

  /** Threads of a block. */
  get threads(): number {
    return this.block[0] * this.block[1] * this.block[2];
  }

  get blocks(): number {
    return this.grid[0] * this.grid[1] * this.grid[2];
  }

  get warps(): number {
    return Math.ceil(this.threads / 32);
  }

  /** A variable that is declared when it is first asked for. Returns its name. */
  variable(name: string, declaration: () => string): string {
    if (!this.#variables.has(name)) this.#variables.set(name, declaration());
    return name;
  }

  get streamsLeft(): number {
    return mostStreams - this.#streams;
  }

  /** The number of an array that nothing has gone over. */
  takeStream(): number {
    return this.#streams++;
  }

  /** A table that nobody writes. */
  table(space: "const" | "global"): string {
    return this.variable(space === "const" ? "ct" : "gt", () => {
      const words = Array.from({ length: tableBytes / 4 }, () => `0x${pattern(this.random, 32).toString(16)}`);
      const name = space === "const" ? "ct" : "gt";
      return `.${space} .align 32 .b32 ${name}[${words.length}] = {${words.join(", ")}};`;
    });
  }

  /** A name of this kind that nothing has. */
  fresh(kind: string): string {
    return `${kind}${this.#fresh++}`;
  }

  /** Shared memory of `bytes` bytes. */
  shared(name: string, bytes: number): string {
    return this.variable(name, () => `.shared .align 32 .b8 ${name}[${bytes}];`);
  }

  has(variable: string): boolean {
    return this.#variables.has(variable);
  }

  addBody(text: string): void {
    this.#bodies.push(text);
  }

  text(): string {
    const heads = this.functions.map((f) => `${headOf(f)};`);
    return [
      `.version ${version.text}`,
      `.target ${this.target.name}`,
      ".address_size 64",
      ...heads,
      ...this.#variables.values(),
      ...this.#bodies,
      "",
    ].join("\n");
  }
}

/** The declaration of one argument or result. */
const passedText = (passed: Passed, style: Signature["style"], name: string): string =>
  "bytes" in passed ? `.param .align 8 .b8 ${name}[${passed.bytes}]` : `.${style} .b${passed.bits} ${name}`;

/** `name` is "_" in a prototype. */
export function signatureText({ style, takes, returns }: Signature, name: string): string {
  const named = (prefix: string, i: number): string => (name === "_" ? "_" : `${prefix}${i}`);
  const results = returns.map((r, i) => passedText(r, style, named("res", i)));
  const fixed: Passed[] = [{ bits: 64 }, { bits: 32 }];
  const args = [...fixed, ...takes].map((a, i) => passedText(a, style, named("arg", i)));
  return `${results.length === 0 ? "" : `(${results.join(", ")}) `}${name} (${args.join(", ")})`;
}

export const headOf = ({ name, signature }: DeclaredFunction): string => `.func ${signatureText(signature, name)}`;
