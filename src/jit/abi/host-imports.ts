import { evalImport } from "../../semantics/expansion.ts";
import type { PrimName } from "../../semantics/index.ts";
import type { WasmTy } from "../../wasm/index.ts";

interface HostImportRow {
  readonly params: readonly ("i32" | "i64")[];
  readonly results: readonly [] | readonly ["i32" | "i64"];
  readonly meaning: string;
}

// Parameters, named for what they mean.
/** The byte of memory at which the context of the block begins that runs. */
const context = "i32";
/** The number of an instruction among `CompiledKernel.sites`. */
const site = "i32";
/** A bit for each lane of the chunk. */
const lanes = "i32";
/** A number that the instruction names. */
const operand = "i32";
/** 0 or 1. */
const flag = "i32";
/** The number of one of `giveUpReasons`. */
const reason = "i32";
/** A byte of memory. */
const address = "i32";

/**
 * Every function that compiled code imports from the host, by the name under which modules import it from `env`; the
 * names are part of what `lanewise build` promises (docs/build.md). What a function needs beyond its arguments it finds
 * in the context, where `words.entry` says which activation asks.
 */
export const hostImports = {
  translate: {
    params: [context, site, lanes],
    results: [],
    meaning:
      "writes the bytes of memory that the lanes' `addresses` mean to `places`; faults if an access is not allowed",
  },
  fault: {
    params: [context, site, lanes],
    results: [],
    meaning: "ends the launch: the instruction fails in these lanes; does not return",
  },
  external: {
    params: [context, site, lanes],
    results: [],
    meaning: "does what a function without a body does, from the lanes' `args` to their `values`",
  },
  stack: {
    params: [context, site, lanes],
    results: [],
    meaning: "performs an `alloca`, `stacksave` or `stackrestore` in these lanes",
  },
  openStack: {
    params: [context],
    results: [],
    meaning: "notes that an activation begins whose lanes may take more of their stacks than its frame",
  },
  stackOverflow: {
    params: [context, lanes],
    results: [],
    meaning: "ends the launch: these lanes have called a function for which their stacks have no room; does not return",
  },
  giveUp: {
    params: [reason],
    results: [],
    meaning: "ends the launch, which the interpreter repeats from the beginning; does not return",
  },
  arriveAtWarpWait: {
    params: [context, site, lanes],
    results: [],
    meaning: "notes that lanes wait at a warp-wide operation, and performs what is complete",
  },
  multiply: {
    params: [context, site],
    results: [],
    meaning: "multiplies the matrices in the registers of a warp at `fragments`, and leaves the result there",
  },
  unit: {
    params: [context, site, lanes],
    results: [],
    meaning: "lets a unit of the machine act for these lanes: operands and then results are at `fragments`",
  },
  image: {
    params: [context, operand, operand, operand, operand],
    results: [operand],
    meaning:
      "writes what the handle of a texture or surface (upper half, lower half) refers to at `fragments` (`imageWords`), if compiled code can fetch from it what the third operand says (`fetchNumber`), from the level that the last one gives: gives the number of its `texelForms`, or 0",
  },
  chooseLevels: {
    params: [context, site, lanes],
    results: [operand],
    meaning:
      "chooses the levels of a texture from which lanes fetch, given operands at `fragments` (`levelRegisters`): gives one of `levelModes`",
  },
  nextLevel: {
    params: [context],
    results: [operand],
    meaning:
      "describes the next level (`imageWords`) from which lanes fetch, and for each of them how much its texels count, -1 for other lanes: gives the number of its `texelForms`. After the last one it gives 0, and for each lane what sums are divided by, 0 where there is nothing to add up",
  },
  endUnits: {
    params: [context],
    results: [],
    meaning: "ends the launch if the block, which ends, has not given back what it has taken of a unit of the machine",
  },
  cluster: {
    params: [context, site, operand, lanes],
    results: [lanes],
    meaning:
      "answers a question of these lanes about their cluster (0: have all blocks begun? 1: they arrive at the barrier; 2: is its phase complete? 3: they exit), with the lanes for which the answer is yes",
  },
  settle: {
    params: [context],
    results: [],
    meaning: "performs the warp-wide operations that are complete now that lanes of the warp have exited",
  },
  deadlock: {
    params: [context],
    results: [],
    meaning: "ends the launch: all that is left of the block waits for lanes that never arrive; does not return",
  },
  arriveAtBarrier: {
    params: [context, site, operand, operand, lanes, lanes],
    results: [flag],
    meaning:
      "counts a chunk's arrival (barrier, thread count, lanes, votes of a reduction); 1 if it goes on, 0 if it waits",
  },
  settleBarriers: {
    params: [context, flag],
    results: [],
    meaning:
      "releases the counted barriers that are complete when no chunk runs; the flag: some chunk has only yielded",
  },
  clock: {
    params: [],
    results: ["i64"],
    meaning: "returns a time, a later one for every call",
  },
  startThread: {
    params: [context, address],
    results: [],
    meaning: "fills the byte file at an address for the hardware thread that is about to begin (vISA)",
  },
  surface: {
    params: [context, site, operand, lanes],
    results: [],
    meaning: "notes in the record of a site where the surface with an index lies (vISA)",
  },
} as const satisfies Readonly<Record<string, HostImportRow>>;

export type HostImport = keyof typeof hostImports;

type HostNumber<T extends WasmTy> = T extends "i64" ? bigint : number;

type HostArguments<P extends readonly WasmTy[]> = { -readonly [I in keyof P]: HostNumber<P[I]> };

type HostResult<R extends readonly WasmTy[]> = R extends readonly [infer T extends WasmTy] ? HostNumber<T> : void;

/** The host's side of the table: one function for each row, with the row's types. */
export type HostFunctions = {
  readonly [N in HostImport]: (
    ...args: HostArguments<(typeof hostImports)[N]["params"]>
  ) => HostResult<(typeof hostImports)[N]["results"]>;
};

const evalPrefix = evalImport("");

/**
 * The primitive whose `eval` modules import under a name, besides the functions of the table; null for other names.
 * Such functions take and return what the primitive does, a predicate as 0 or 1.
 */
export const evaluatedPrim = (name: string): PrimName | null =>
  name.startsWith(evalPrefix) ? (name.slice(evalPrefix.length) as PrimName) : null;
