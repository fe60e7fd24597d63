import {
  tensorFills,
  tensorInterleaves,
  type TensorSwizzle,
  tensorSwizzles,
  type TensorType,
  tensorTypes,
} from "../../ir/index.ts";
import { elementInfo } from "../../runtime/data/element.ts";
import { tensorMapBytesOf, type TensorShape } from "../../runtime/data/tensor-map.ts";
import type { BufferSpec } from "../../runtime/job/job.ts";
import { nearest } from "../../source/index.ts";
import { parseBuffer, type Wrong } from "./argument-values.ts";

/** A tensor map as an argument: its bytes, but for the address of its buffer. */
export interface TensorArgument {
  /** A buffer to create, or the index of the argument whose buffer it is. */
  readonly of: BufferSpec | number;
  /** Bytes from the beginning of the buffer to the tensor. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const example = "as in tensor:f16[8192]=iota,dim=128x64,box=64x64,swizzle=128B";
const keys = [
  ...["dim", "box", "strides", "type", "swizzle", "interleave", "oob", "steps", "offset"],
  ...["lower", "upper", "channels", "pixels"],
] as const;
type Key = (typeof keys)[number];

/**
 * Parses what follows `tensor:`, a buffer and the fields of its map: `f16[8192],dim=128x64,box=64x64,swizzle=128B`. The
 * names are short for those of cuTensorMapEncodeTiled; im2col has `lower`, `upper`, `channels` and `pixels` for `box`.
 */
export function parseTensor(text: string, wrong: Wrong): TensorArgument {
  const [source = "", ...rest] = text.split(/,(?=[a-z]+=)/);
  const fields = new Map<Key, string>();
  for (const field of rest) {
    const [, name = "", value = ""] = /^([a-z]+)=(.*)$/s.exec(field)!;
    const key = keys.find((one) => one === name);
    if (key === undefined) {
      const meant = nearest(name, keys);
      return wrong(
        `a tensor map has no ${name}${meant === null ? `: ${keys.join(", ")}` : `; did you mean ${meant}?`}`,
      );
    }
    if (fields.has(key)) wrong(`${key} is given twice`);
    fields.set(key, value);
  }
  const of = /^\d+$/.test(source) ? Number(source) : parseBuffer(source, wrong);
  if (of === null) return wrong(`"${source}" is neither a buffer nor the number of an argument: ${example}`);
  const [offset = 0] = numbersIn(fields, "offset", wrong) ?? [];
  const bytes = tensorMapBytesOf(shapeIn(fields, of, wrong), offset);
  if (typeof bytes === "string") return wrong(`no tensor map that the driver would encode: ${inOurNames(bytes)}`);
  return { of, offset, bytes };
}

/** Numbers with an x between them, which may be negative. */
function numbersIn(fields: ReadonlyMap<Key, string>, key: Key, wrong: Wrong): readonly number[] | undefined {
  const text = fields.get(key);
  if (text === undefined) return undefined;
  return text
    .split("x")
    .map((part) => (/^-?\d{1,15}$/.test(part) ? Number(part) : wrong(`${key}=${text}: expected numbers as in 128x64`)));
}

function choiceIn<T extends string>(
  fields: ReadonlyMap<Key, string>,
  key: Key,
  all: readonly T[],
  wrong: Wrong,
): T | undefined {
  const text = fields.get(key);
  if (text === undefined) return undefined;
  return all.find((one) => one === text) ?? wrong(`${key}=${text}: expected one of ${all.join(", ")}`);
}

function shapeIn(fields: ReadonlyMap<Key, string>, of: BufferSpec | number, wrong: Wrong): TensorShape {
  const numbers = (key: Key): readonly number[] | undefined => numbersIn(fields, key, wrong);
  const dataType = choiceIn(fields, "type", tensorTypes, wrong) ?? typeOf(of, wrong);
  const globalDim = numbers("dim") ?? wrong(`the dimensions of the tensor are missing, the fastest first: ${example}`);
  const boxDim = numbers("box");
  const isIm2col = ["lower", "upper", "channels", "pixels"].some((key) => fields.has(key as Key));
  if (boxDim === undefined && !isIm2col) wrong(`the box is missing: ${example}`);
  if (boxDim !== undefined && isIm2col) wrong("a map has either a box, or lower, upper, channels and pixels (im2col)");
  const need = (key: Key): readonly number[] =>
    numbers(key) ?? wrong(`${key} is missing: im2col needs lower, upper, channels, pixels`);
  const elementStrides = numbers("steps");
  return {
    dataType,
    globalDim,
    globalStrides: numbers("strides") ?? denseStrides(dataType, globalDim),
    ...(boxDim !== undefined
      ? { boxDim }
      : {
          im2col: {
            pixelBoxLowerCorner: need("lower"),
            pixelBoxUpperCorner: need("upper"),
            channelsPerPixel: need("channels")[0]!,
            pixelsPerColumn: need("pixels")[0]!,
          },
        }),
    ...(elementStrides && { elementStrides }),
    interleave: choiceIn(fields, "interleave", tensorInterleaves, wrong) ?? "none",
    swizzle: choiceIn(fields, "swizzle", Object.keys(tensorSwizzles) as TensorSwizzle[], wrong) ?? "none",
    oobFill: choiceIn(fields, "oob", tensorFills, wrong) ?? "none",
  };
}

/** The type of a tensor's elements, where those of its buffer are such a type. */
function typeOf(of: BufferSpec | number, wrong: Wrong): TensorType {
  if (typeof of === "number") return wrong("the type of the elements is missing, as in type=f16");
  return (
    tensorTypes.find((type) => type === of.type) ??
    wrong(`no tensor has elements of ${of.type}: say type=${tensorTypes.join(", ")}`)
  );
}

/** The strides of a tensor without gaps, in bytes. */
function denseStrides(type: TensorType, globalDim: readonly number[]): number[] {
  const element =
    type in elementInfo ? elementInfo[type as keyof typeof elementInfo].size : type.startsWith("16u") ? 0.5 : 4;
  let bytes = element * globalDim[0]!;
  return globalDim.slice(1).map((size) => {
    const stride = bytes;
    bytes *= size;
    return stride;
  });
}

/** The driver's names of fields as they are here. */
const names = {
  globalDim: "dim",
  globalStrides: "strides",
  boxDim: "box",
  elementStrides: "steps",
  pixelBoxLowerCorner: "lower",
  pixelBoxUpperCorner: "upper",
  channelsPerPixel: "channels",
  pixelsPerColumn: "pixels",
  oobFill: "oob",
  globalAddress: "offset",
} as const;

const inOurNames = (text: string): string =>
  text.replace(/\b[a-z]+[A-Z]\w+\b/g, (word) => (word in names ? names[word as keyof typeof names] : word));
