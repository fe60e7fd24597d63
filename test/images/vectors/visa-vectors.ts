import type { EngineName } from "../../../src/runtime/launch/launch-options.ts";
import { type ImageProgram, runOnImage } from "../visa-program.ts";
import { imageRow, type Rows, rowsOf, textureRow, channel } from "./vectors.ts";

/*
 * Vectors of vISA's images, as vectors.ts has them, for 16 lanes. A vector begins with its instruction, in which `S0` is
 * the sampler, `T6` the image, and
 *
 *       platform dg2
 *       p 3f000000 ...       A0, A1, ...: doublewords that the lanes give
 *       d 42280000 ...       those of R, register by register
 *       t 11 48 ...          the channels of the image afterwards; as before if nothing is said
 */

export interface VisaVector {
  readonly line: number;
  readonly origin: string;
  readonly instruction: string;
  readonly rows: Rows;
}

/** The mnemonic of a vector, without what follows its first dot. */
export const mnemonicOf = ({ instruction }: VisaVector): string => /^\w+/.exec(instruction)![0];

/** Parses the vectors of a file. */
export const parseVisaVectors = (text: string): VisaVector[] =>
  rowsOf(text).map(({ line, origin, head, rows }) => ({ line, origin, instruction: head, rows }));

/** What an engine gives for a vector, in the words in which the vector says it. */
export function runVisaVector(
  { instruction, rows }: VisaVector,
  engine: EngineName,
): { got: unknown; wanted: unknown } {
  const image = imageRow(rows);
  const parameters = rows.get("p") ?? [];
  const wanted = rows.get("d") ?? [];
  const platform = rows.get("platform")![0]![0]!;
  const wide = platform === "pvc" || platform === "bmg";
  const at = (i: number, lane: number): string => (wide ? `${i},${lane}` : `${2 * i + (lane >> 3)},${lane & 7}`);
  const program: ImageProgram = {
    declarations: [
      `.decl A v_type=G type=ud num_elts=${16 * Math.max(1, parameters.length)} align=wordx32`,
      ".decl AF v_type=G type=f num_elts=16 align=wordx32 alias=<A, 0>",
      `.decl RW v_type=G type=uw num_elts=${32 * Math.max(1, wanted.length)} align=wordx32 alias=<R, 0>`,
      ...parameters.map((_, i) => `.decl A${i} v_type=G type=ud num_elts=16 align=wordx32 alias=<A, ${64 * i}>`),
    ],
    body: [
      ...parameters.flatMap((words, i) =>
        words.map((word, lane) => `mov (M1_NM, 1) A(${at(i, lane)})<1> 0x${word}:ud`),
      ),
      ...wanted.map((_, i) => `mov (M1_NM, 16) R(${at(i, 0)})<1> 0x0:ud`),
      instruction,
    ],
    results: wanted.length,
    platform,
  };
  const { width, height = 1, layers = 1, samples = 1, levels = 1, channels = 1 } = image;
  const size = (level: number): number => Math.max(1, width >> level) * Math.max(1, height >> level);
  const count =
    Array.from({ length: levels }, (_, level) => size(level)).reduce((sum, n) => sum + n) * layers * samples;
  const texels = Array.from({ length: count * channels }, (_, n) => channel(image.type, n));
  const outcome = runOnImage(program, engine, image, texels, (device) => device.sampler(textureRow(rows)));
  const results = wanted.map((_, i) => [...outcome.words.subarray(16 * i, 16 * i + 16)].map((w) => w.toString(16)));
  return {
    got: { codes: outcome.codes, results, texels: outcome.texels },
    wanted: { codes: [], results: wanted, texels: rows.get("t")?.[0]?.map(Number) ?? texels },
  };
}
