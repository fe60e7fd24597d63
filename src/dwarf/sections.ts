/** A value in a section that stands for an address of the program: that of `symbol`, plus `addend`. */
export interface SymbolReference {
  /** A label of the code, a variable, or a parameter of a kernel. */
  readonly symbol: string;
  readonly addend: number;
}

/** The contents of a section such as `.debug_info`. */
export interface DebugSection {
  /** The bytes; where an address stands, they are zeros. References within debug sections are resolved. */
  readonly bytes: Uint8Array;
  /** By offset of their first byte, the addresses. */
  readonly references: ReadonlyMap<number, SymbolReference>;
}

/** The debug sections of a module. */
export interface DebugSections {
  /** Returns a section by its name without the dot, as in "debug_info"; null if the module has none. */
  section(name: string): DebugSection | null;
}
