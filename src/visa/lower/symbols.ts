import type { Relocation, Variable } from "../../ir/index.ts";

/** A location in a section. */
export interface DataPlace {
  readonly section: string;
  /** Bytes from the section's start. */
  readonly offset: number;
}

/**
 * An address that a section contains, as in a table of functions. Its location is that of the address; the section's
 * bytes there are the addend.
 */
export interface DataRelocation extends DataPlace {
  /** The name of the routine or data that it is the address of. */
  readonly symbol: string;
  /** Size of the address; 4 bytes hold only its lower half. */
  readonly bytes: 4 | 8;
}

/** The data of a compiled program, which are in sections such as `.data.const`. */
export interface DataSymbols {
  /** The bytes of each section. */
  readonly sections: ReadonlyMap<string, Uint8Array>;
  /** Names of data that `faddr` can take the address of. */
  readonly symbols: ReadonlyMap<string, DataPlace>;
  /** Addresses in the sections, filled in when the program is loaded. */
  readonly relocations?: readonly DataRelocation[];
}

/** The names that `faddr` and calls can use. */
export interface Symbols {
  readonly routines: ReadonlySet<string>;
  readonly data: DataSymbols["symbols"];
}

const sectionAlign = 64;

/**
 * The sections as variables in the device's memory. Each is a single variable, because its symbols lie side by side, as
 * they were linked.
 */
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

/** The bytes in the section are the addend, as in REL relocations. */
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
