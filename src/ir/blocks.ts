/** A block of a matrix in memory, or several side by side, and how it lies in registers (vISA). */
export interface MatrixBlock {
  /** Bytes of an element. */
  readonly size: 1 | 2 | 4 | 8;
  /** How many blocks, the elements in a row of one, and its rows. */
  readonly blocks: number;
  readonly width: number;
  readonly height: number;
  /** In registers columns follow each other, not rows. */
  readonly transposed: boolean;
  /** Elements that fill a dword in registers come from so many rows (transposed: columns) next to each other. */
  readonly packed: boolean;
  /** Bytes of a register: each block begins in one. */
  readonly registerBytes: 32 | 64;
}

/** A block of an image: bytes of a row, and rows. Rows lie in registers at the next power of two, at least 4 bytes. */
export interface ImageBlock {
  readonly width: number;
  readonly height: number;
  /** What is read outside the image: the nearest texel, or zeros. */
  readonly outside: "edge" | "zero";
  /** Only every second row of the image counts: from the first on (0), or from the second (1). Null: all of them. */
  readonly field: 0 | 1 | null;
}

const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(n));

/** Bytes from a row of an image's block to the next in registers. */
export const imageBlockPitch = ({ width }: ImageBlock): number => Math.max(4, powerOfTwo(width));

/** Elements from a row (transposed: a column) to the next in registers: the next power of two. */
const pitchOf = ({ width, height, transposed }: MatrixBlock): number => powerOfTwo(transposed ? height : width);

/** Elements from a block to the next in registers. */
function blockPitchOf(block: MatrixBlock): number {
  const { size, width, height, transposed, registerBytes } = block;
  const elements = registerBytes / size;
  return Math.ceil((pitchOf(block) * (transposed ? width : height)) / elements) * elements;
}

/** Bytes of registers that all blocks take. */
export const matrixBlockBytes = (block: MatrixBlock): number => block.blocks * blockPitchOf(block) * block.size;

/** The byte of registers at which an element lies: column x and row y of a block (LSC_UNTYPED, `LOAD_BLOCK2D`). */
export function elementPlace(block: MatrixBlock, index: number, x: number, y: number): number {
  const { size, transposed, packed } = block;
  const [along, across] = transposed ? [y, x] : [x, y];
  const group = packed ? Math.max(1, 4 / size) : 1;
  const within = (across - (across % group)) * pitchOf(block) + along * group + (across % group);
  return (index * blockPitchOf(block) + within) * size;
}
