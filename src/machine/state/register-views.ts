/** A register file seen as elements of 8 and 16 bits, and as elements that need not be aligned. */
export interface SmallViews {
  readonly i8: Int8Array;
  readonly u8: Uint8Array;
  readonly i16: Int16Array;
  readonly u16: Uint16Array;
  readonly data: DataView;
}

/** The parts of a byte file that calls copy to another: the thread's part, %arg and %retval. */
export interface PassedParts {
  readonly thread: Int32Array;
  readonly arg: Int32Array;
  readonly retval: Int32Array;
}

export const smallViews = (buffer: ArrayBuffer): SmallViews => ({
  i8: new Int8Array(buffer),
  u8: new Uint8Array(buffer),
  i16: new Int16Array(buffer),
  u16: new Uint16Array(buffer),
  data: new DataView(buffer),
});
