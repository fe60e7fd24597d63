import type { FunctionWriter, WasmTy } from "../../../wasm/index.ts";
import { slotsFor, type Interval } from "../analysis/flow/interval-coloring.ts";
import type { NarrowRegisters } from "../analysis/values/narrow-registers.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { narrowParts } from "../lanes/narrow.ts";
import type { RegisterPlace, MemoryRegisters } from "../plan/memory-registers.ts";

/** How registers share locals. */
export interface Sharing {
  /** By register, its live intervals. */
  readonly intervals: readonly Interval[];
  /** Registers that share their locals with no other. */
  readonly apart: ReadonlySet<number>;
}

/** A place in memory: so many bytes from the address in a local. */
export interface Place {
  readonly base: number;
  readonly offset: number;
}

/** Registers that lie in memory, and where the areas begin in which they do. */
export interface RegisterMemory {
  readonly matrices: MemoryRegisters;
  readonly areas: Readonly<Record<RegisterPlace["area"], Place>>;
}

/** Where a register's place is, counted from the local of its area. */
function placeIn({ areas }: RegisterMemory, { area, at }: RegisterPlace): Place {
  const { base, offset } = areas[area];
  return { base, offset: offset + at };
}

interface LocalsOptions {
  readonly sharing: Sharing | null;
  readonly memory: RegisterMemory | null;
  /** Registers that are never written, since their values are known while code is written: they have no locals. */
  readonly unwritten: ReadonlySet<number>;
  /** Which registers are kept in narrow lanes. */
  readonly narrow: NarrowRegisters;
}

const none: readonly WasmTy[] = [];

/**
 * The locals that hold the registers of a function. How many and of which types a register needs depends on its shape.
 */
export class RegisterLocals {
  readonly #analysis: UniformityAnalysis;
  readonly #quads: number;
  readonly #locals: readonly (readonly number[])[];
  /** Types of locals: for vectors of 32, 64, 8 and 16 bits, and for a base with a vector index. */
  readonly #vectors: Readonly<Record<"word" | "wide" | "indexed" | 8 | 16, readonly WasmTy[]>>;

  readonly #memory: RegisterMemory | null;
  readonly #unwritten: ReadonlySet<number>;
  readonly #narrow: NarrowRegisters;

  /** `quads`: the number of quads of a chunk. */
  constructor(
    writer: FunctionWriter,
    analysis: UniformityAnalysis,
    quads: number,
    { sharing, memory, unwritten, narrow }: LocalsOptions,
  ) {
    this.#analysis = analysis;
    this.#quads = quads;
    this.#memory = memory;
    this.#unwritten = unwritten;
    this.#narrow = narrow;
    const word = new Array<WasmTy>(quads).fill("v128");
    const inLanesOf = (bits: 8 | 16): readonly WasmTy[] => word.slice(0, narrowParts(bits, quads));
    this.#vectors = {
      word,
      wide: [...word, ...word],
      indexed: ["i64", ...word],
      8: inLanesOf(8),
      16: inLanesOf(16),
    };
    const types = analysis.code.ir.registers.map((_, r) => (unwritten.has(r) ? none : this.#typesOf(r)));
    const own = (tys: readonly WasmTy[]): readonly number[] => tys.map((ty) => writer.lasting(ty));
    const inMemory = (r: number): readonly number[] | null => {
      const place = memory?.matrices.of(r) ?? null;
      if (memory === null || place === null || unwritten.has(r)) return null;
      const { base, offset } = placeIn(memory, place);
      return word.map((ty, q) => writer.inMemory(ty, base, offset + 16 * q));
    };
    this.#locals =
      sharing === null ? types.map((tys, r) => inMemory(r) ?? own(tys)) : shared(types, sharing, { own, inMemory });
  }

  /** Where registers lie one after the other; null if they do not lie in memory like that, or are never written. */
  fragment(registers: readonly number[]): Place | null {
    if (registers.some((r) => this.#unwritten.has(r))) return null;
    const place = this.#memory?.matrices.fragment(registers) ?? null;
    return this.#memory === null || place === null ? null : placeIn(this.#memory, place);
  }

  /** The locals of a register for the first `quads` quads. */
  of(register: number, quads: number): readonly number[] {
    const all = this.#locals[register]!;
    const missing = this.#quads - quads;
    if (missing === 0) return all;
    const form = this.#narrow.form(register);
    if (form !== null) return all.slice(0, narrowParts(form.bits, quads));
    const shape = this.#analysis.register(register);
    const isVector = shape.kind === "indexed" && shape.stride === null && shape.rows === undefined;
    const vectors = shape.kind === "vector" ? all.length : isVector ? all.length - 1 : 0;
    return all.slice(0, all.length - (vectors * missing) / this.#quads);
  }

  /** The types of what is kept by rows of so many lanes. */
  #rowTypes(kind: "i32" | "i64" | "indexed", length: number): readonly WasmTy[] {
    const rows = (4 * this.#quads) / length;
    let types = byRows[kind].get(rows);
    if (types === undefined) {
      const bases = new Array<WasmTy>(rows).fill(kind === "i64" ? "i64" : "i32");
      types = kind === "indexed" ? ["i64", ...bases] : bases;
      byRows[kind].set(rows, types);
    }
    return types;
  }

  /** The types of a register's locals; registers of the same types get the same list. */
  #typesOf(register: number): readonly WasmTy[] {
    const { class: c } = this.#analysis.code.ir.registers[register]!;
    const shape = this.#analysis.register(register);
    switch (shape.kind) {
      case "uniform":
      case "affine":
        return c === "b64" ? scalars.i64 : scalars.i32;
      case "indexed":
        if (shape.rows !== undefined) return this.#rowTypes("indexed", shape.rows.length);
        return shape.stride === null ? this.#vectors.indexed : scalars.indexed;
      case "rows":
        return this.#rowTypes(c === "b64" ? "i64" : "i32", shape.rows.length);
      case "vector":
        return this.#vectors[this.#narrow.form(register)?.bits ?? (c === "b64" ? "wide" : "word")];
    }
  }
}

/** By the number of rows of a chunk. */
const byRows: Readonly<Record<"i32" | "i64" | "indexed", Map<number, readonly WasmTy[]>>> = {
  ...{ i32: new Map(), i64: new Map(), indexed: new Map() },
};

const scalars = { i32: ["i32"], i64: ["i64"], indexed: ["i64", "i32"] } as const satisfies Record<
  string,
  readonly WasmTy[]
>;

/** The locals of each register: those whose intervals do not overlap share them. */
function shared(
  types: readonly (readonly WasmTy[])[],
  { intervals, apart }: Sharing,
  {
    own,
    inMemory,
  }: {
    readonly own: (types: readonly WasmTy[]) => readonly number[];
    readonly inMemory: (register: number) => readonly number[] | null;
  },
): readonly (readonly number[])[] {
  const all: (readonly number[])[] = [];
  /** Registers whose locals have the same types, and may thus be shared. */
  const sameTypes = new Map<readonly WasmTy[] | number, number[]>();
  types.forEach((tys, r) => {
    const place = inMemory(r);
    if (place !== null) {
      all[r] = place;
      return;
    }
    const key = apart.has(r) ? r : tys;
    const others = sameTypes.get(key);
    if (others === undefined) sameTypes.set(key, [r]);
    else others.push(r);
  });
  for (const registers of sameTypes.values()) {
    const locals: (readonly number[])[] = [];
    slotsFor(registers.map((r) => intervals[r]!)).forEach((slot, i) => {
      const r = registers[i]!;
      all[r] = locals[slot] ??= own(types[r]!);
    });
  }
  return all;
}
