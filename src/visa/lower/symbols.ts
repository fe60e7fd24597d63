import type { Variable } from "../../ir/index.ts";

/** Names of data that `faddr` knows: each lies in a section of the compiled program, as in `.data.const`. */
export interface DataSymbols {
  /** The bytes of each section. */
  readonly sections: ReadonlyMap<string, Uint8Array>;
  readonly symbols: ReadonlyMap<string, { readonly section: string; readonly offset: number }>;
}

/** What `faddr` and calls can name. */
export interface Symbols {
  readonly routines: ReadonlySet<string>;
  readonly data: DataSymbols["symbols"];
}

const sectionAlign = 64;

/** A section is one variable in the device's memory: its symbols lie side by side, as the program was linked. */
export const sectionVariables = ({ sections }: DataSymbols): readonly Variable[] =>
  [...sections].map(([name, bytes]) => ({
    name,
    space: "global",
    size: bytes.length,
    align: sectionAlign,
    init: [{ at: 0, bytes }],
    relocations: [],
    dynamicShared: false,
    managed: false,
    span: { start: 0, end: 0 },
  }));
