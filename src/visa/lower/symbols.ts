import type { Relocation, Variable } from "../../ir/index.ts";

/** A byte of a section. */
export interface DataPlace {
  readonly section: string;
  readonly offset: number;
}

/**
 * An address that a section holds, as in a table of functions: where it stands, and what it is the address of. The section
 * has there what is added to it.
 */
export interface DataRelocation extends DataPlace {
  /** A routine, or a name of data. */
  readonly symbol: string;
  /** 4: the lower half alone. */
  readonly bytes: 4 | 8;
}

/** The data of a compiled program, which lies in sections, as in `.data.const`. */
export interface DataSymbols {
  /** The bytes of each section. */
  readonly sections: ReadonlyMap<string, Uint8Array>;
  /** The names that `faddr` knows besides those of routines. */
  readonly symbols: ReadonlyMap<string, DataPlace>;
  readonly relocations?: readonly DataRelocation[];
}

/** What `faddr` and calls can name. */
export interface Symbols {
  readonly routines: ReadonlySet<string>;
  readonly data: DataSymbols["symbols"];
}

const sectionAlign = 64;

/** A section is one variable in the device's memory: its symbols lie side by side, as the program was linked. */
export const sectionVariables = ({ sections, symbols, relocations = [] }: DataSymbols): readonly Variable[] =>
  [...sections].map(([name, bytes]) => ({
    name,
    space: "global",
    size: bytes.length,
    align: sectionAlign,
    init: [{ at: 0, bytes }],
    relocations: relocations
      .filter(({ section }) => section === name)
      .map((relocation) => loadedRelocation(bytes, relocation, symbols.get(relocation.symbol))),
    dynamicShared: false,
    managed: false,
    span: { start: 0, end: 0 },
  }));

/** What stands in the section is added to the address, as in files of REL relocations. */
function loadedRelocation(into: Uint8Array, relocation: DataRelocation, data: DataPlace | undefined): Relocation {
  const { offset, bytes, symbol } = relocation;
  const view = new DataView(into.buffer, into.byteOffset, into.length);
  const addend = bytes === 8 ? Number(view.getBigInt64(offset, true)) : view.getInt32(offset, true);
  return {
    at: offset,
    size: bytes,
    shift: 0,
    symbol: data?.section ?? symbol,
    addend: addend + (data?.offset ?? 0),
    generic: true,
  };
}
