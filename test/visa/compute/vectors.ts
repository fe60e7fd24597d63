import { type DataType, isDataType, typeBytes } from "../../../src/visa/types.ts";
import { bitsOf } from "./patterns.ts";

/** A source: a variable that holds a value, or an immediate. */
export interface VectorSource {
  readonly type: DataType;
  /** The bit pattern; for an immediate, with as many bits as files store. */
  readonly bits: bigint;
  readonly immediate: boolean;
  /** As written: "(-)", "(abs)", "(-abs)", "(~)" or "". */
  readonly modifier: string;
}

/** An instruction of one channel, the values of its sources and the expected results. */
export interface Vector {
  readonly at: string;
  /** The value of %cr0. */
  readonly control: number;
  readonly mnemonic: string;
  /** "!" and the like before `P`, for the guard (`sel`); its value. */
  readonly guard: boolean | null;
  /** `bool` for a predicate. */
  readonly results: readonly { readonly type: DataType; readonly bits: bigint }[];
  readonly sources: readonly VectorSource[];
  /** The manual's page and sentence, or how the value is known. */
  readonly origin: string;
}

const source = /^(#)?(\((?:-|abs|-abs|~)\))?(.+):(\w+)$/;

/**
 * A file of vectors: `# origin` for those that follow, `control 0x4c0` for %cr0, and vectors, as in
 *
 *     add.sat ub = 200:ub 100:ub -> 255
 *
 * The type of each result; the sources, with `#` where immediates; the results, in the notation of `bitsOf`. `[P]` or
 * `[!P]` before it: with a predicate that is set or not.
 */
export function parseVectors(file: string, text: string): readonly Vector[] {
  let origin = "";
  let control = 0x4c0;
  return text.split("\n").flatMap((line, i): Vector[] => {
    const at = `${file}:${i + 1}`;
    if (line.trim() === "") return [];
    if (line.startsWith("# ")) {
      origin = line.slice(2);
      return [];
    }
    if (line.startsWith("control ")) {
      control = Number(line.slice("control ".length));
      return [];
    }
    const match = /^(?:\[(!?)P\] )?(\S+) ([\w ]+) = (.*) -> (.+)$/.exec(line);
    if (match === null) throw new Error(`${at}: not a vector: ${line}`);
    const [, clear, mnemonic, types, sources, wanted] = match;
    const values = wanted!.split(" ");
    return [
      {
        at,
        control,
        mnemonic: mnemonic!,
        guard: clear === undefined ? null : clear === "",
        results: types!.split(" ").map((type, j) => ({ type: typeOf(type, at), bits: bitsOf(type, values[j]!, at) })),
        sources: sources!.split(" ").map((word): VectorSource => {
          const parts = source.exec(word);
          if (parts === null) throw new Error(`${at}: not a source: ${word}`);
          const [, immediate, modifier = "", value, type] = parts;
          return {
            type: typeOf(type!, at),
            bits: bitsOf(type!, value!, at),
            immediate: immediate !== undefined,
            modifier,
          };
        }),
        origin,
      },
    ];
  });
}

function typeOf(name: string, at: string): DataType {
  if (!isDataType(name)) throw new Error(`${at}: ${name} is no type`);
  return name;
}

/** The bytes of a pattern. */
export function bytesOf(bits: bigint, type: DataType): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, bits), true);
  return bytes.slice(0, Math.max(1, typeBytes(type)));
}
