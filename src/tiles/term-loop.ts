import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { leftLayout, rightLayout } from "./layout.ts";

/** A local with an address, and how far it goes in each round. */
export interface Stride {
  readonly local: number;
  readonly bytes: number;
}

/**
 * Writes a loop over elements k of a row and a column, several of them in a round: `write` writes one, whose operands
 * lie `ahead` rounds after the addresses in the strides. A few elements at a time keep their operands in registers:
 * in longer straight code V8 loads all of them first, and has to spill them.
 */
export function writeTermLoop(
  w: FunctionWriter,
  count: number,
  inRound: number,
  strides: readonly Stride[],
  write: (ahead: number) => void,
): void {
  const rounds = count / inRound;
  const left = w.local("i32");
  w.assign([{ local: left, value: wasm.i32(rounds) }]);
  w.loop((again) => {
    for (let ahead = 0; ahead < inRound; ahead++) write(ahead);
    w.assign([
      ...strides.map(({ local, bytes }) => ({
        local,
        value: wasm.op("i32.add", wasm.local("i32", local), wasm.i32(bytes * inRound)),
      })),
      { local: left, value: wasm.op("i32.sub", wasm.local("i32", left), wasm.i32(1)) },
    ]);
    w.get(left);
    w.brIf(again);
  });
  w.release(left);
}

/** Elements of a round: their operands and four sums fit in 16 registers, with four factors. */
const inRound = 1;

/** Locals with the addresses of the first elements of a pair of rows, and of those of all columns. */
export interface TermAddresses {
  readonly row: number;
  readonly column: number;
}

/**
 * Writes code for `count` elements of a pair of rows and of all columns, from the k-th after the addresses on: the
 * operands of four products, those of the first row with the even and the odd columns, then those of the second.
 */
export function writeTerms(
  w: FunctionWriter,
  ofTile: number,
  at: TermAddresses,
  { from, count }: { readonly from: number; readonly count: number },
  write: (products: readonly (readonly [Wasm, Wasm])[]) => void,
): void {
  const { step } = rightLayout(ofTile);
  const [row, column] = [w.local("i32"), w.local("i32")];
  const [splats, columns] = [[0, 1].map(() => w.local("v128")), [0, 1].map(() => w.local("v128"))];
  w.assign([
    { local: row, value: wasm.op("i32.add", wasm.local("i32", at.row), wasm.i32(4 * from)) },
    { local: column, value: wasm.op("i32.add", wasm.local("i32", at.column), wasm.i32(step * from)) },
  ]);
  const strides = [
    { local: row, bytes: 4 },
    { local: column, bytes: step },
  ];
  writeTermLoop(w, count, inRound, strides, (ahead) => {
    splats.forEach((splat, i) => {
      w.get(row);
      w.memory("v128.load32_splat", 4, i * leftLayout(ofTile).row + 4 * ahead);
      w.set(splat);
    });
    columns.forEach((local, i) => {
      w.get(column);
      w.memory("v128.load", 16, step * ahead + 16 * i);
      w.set(local);
    });
    const products = [0, 1, 2, 3].map(
      (i) => [wasm.local("v128", splats[i >> 1]!), wasm.local("v128", columns[i & 1]!)] as const,
    );
    write(products);
  });
  for (const local of [row, column, ...splats, ...columns]) w.release(local);
}
