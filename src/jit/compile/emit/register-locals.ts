import type { FunctionWriter, WasmTy } from "../../../wasm/index.ts";
import { slotsFor, type Interval } from "../analysis/flow/interval-coloring.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";

/** How registers share locals. */
export interface Sharing {
  /** By register, the blocks that need it. */
  readonly spans: readonly Interval[];
  /** Registers that have locals of their own. */
  readonly apart: ReadonlySet<number>;
}

/** Where the registers of a function are: what each needs hangs on its shape. */
export class RegisterLocals {
  readonly #analysis: UniformityAnalysis;
  readonly #quads: number;
  readonly #locals: readonly (readonly number[])[];
  /** The types of all lanes of a word, of a number of 64 bits, and of what is indexed by any vector. */
  readonly #vectors: Readonly<Record<"word" | "wide" | "indexed", readonly WasmTy[]>>;

  /** `quads`: how many times four lanes there are. */
  constructor(writer: FunctionWriter, analysis: UniformityAnalysis, quads: number, sharing: Sharing | null) {
    this.#analysis = analysis;
    this.#quads = quads;
    const word = new Array<WasmTy>(quads).fill("v128");
    this.#vectors = { word, wide: [...word, ...word], indexed: ["i64", ...word] };
    const types = analysis.code.ir.registers.map((_, r) => this.#typesOf(r));
    const own = (tys: readonly WasmTy[]): readonly number[] => tys.map((ty) => writer.lasting(ty));
    this.#locals = sharing === null ? types.map(own) : shared(types, sharing, own);
  }

  /** The locals of a register, as far as they have the first so many times four lanes. */
  of(register: number, quads: number): readonly number[] {
    const all = this.#locals[register]!;
    const missing = this.#quads - quads;
    if (missing === 0) return all;
    const { kind } = this.#analysis.register(register);
    const vectors = kind === "vector" ? all.length : kind === "indexed" && all.length > 2 ? all.length - 1 : 0;
    return all.slice(0, all.length - (vectors * missing) / this.#quads);
  }

  /** The same list for all registers with the same types. */
  #typesOf(register: number): readonly WasmTy[] {
    const { class: c } = this.#analysis.code.ir.registers[register]!;
    const shape = this.#analysis.register(register);
    switch (shape.kind) {
      case "uniform":
      case "affine":
        return c === "b64" ? scalars.i64 : scalars.i32;
      case "indexed":
        return shape.stride === null ? this.#vectors.indexed : scalars.indexed;
      case "vector":
        return c === "b64" ? this.#vectors.wide : this.#vectors.word;
    }
  }
}

const scalars = { i32: ["i32"], i64: ["i64"], indexed: ["i64", "i32"] } as const satisfies Record<
  string,
  readonly WasmTy[]
>;

/** By register, its locals: those that are never needed at the same time have the same. */
function shared(
  types: readonly (readonly WasmTy[])[],
  { spans, apart }: Sharing,
  own: (types: readonly WasmTy[]) => readonly number[],
): readonly (readonly number[])[] {
  /** Registers that may share locals, by the types of these. */
  const alike = new Map<readonly WasmTy[] | number, number[]>();
  types.forEach((tys, r) => {
    const key = apart.has(r) ? r : tys;
    const others = alike.get(key);
    if (others === undefined) alike.set(key, [r]);
    else others.push(r);
  });
  const all: (readonly number[])[] = [];
  for (const registers of alike.values()) {
    const locals: (readonly number[])[] = [];
    slotsFor(registers.map((r) => spans[r]!)).forEach((place, i) => {
      const r = registers[i]!;
      all[r] = locals[place] ??= own(types[r]!);
    });
  }
  return all;
}
