import { elementInfo, Elements, type ElementType, isElementType, misfit } from "../../runtime/data/element.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import type { SamplerOptions } from "../../runtime/data/image.ts";
import { asType, isNumpy, readNumpy } from "../../runtime/data/npy.ts";
import type { ArgumentSpec } from "../../runtime/job/job-argument.ts";
import type { BufferSpec } from "../../runtime/job/job.ts";
import type { BlockSelection } from "../../runtime/launch/block-selection.ts";
import { hexBytes, listBytes, parseBuffer, parseNumber, parseType, type Wrong } from "./argument-values.ts";
import { type ImageArgument, parseImage, parseSampler } from "./image-syntax.ts";
import { parseStruct, type StructLayout } from "./struct-syntax.ts";
import { parseTensor, type TensorArgument } from "./tensor-syntax.ts";

/**
 * The meaning of an `--arg`: a value, local memory, a buffer to create, a struct that may hold some, a tensor map, or a
 * texture, a surface or a sampler.
 */
export type CommandArgument =
  | { readonly kind: "scalar"; readonly spec: Extract<ArgumentSpec, { kind: "scalar" }> }
  | { readonly kind: "vector"; readonly spec: Extract<ArgumentSpec, { kind: "bytes" }> }
  | { readonly kind: "local"; readonly spec: Extract<ArgumentSpec, { kind: "local" }> }
  | { readonly kind: "struct"; readonly spec: StructLayout }
  | { readonly kind: "tensor"; readonly spec: TensorArgument }
  | { readonly kind: "image"; readonly spec: ImageArgument }
  | { readonly kind: "sampler"; readonly spec: SamplerOptions }
  | { readonly kind: "buffer"; readonly spec: BufferSpec };

/** The forms that most arguments have. */
const forms =
  "a number (42, 0xff, 1.5, f32:1e-3), a buffer (f32[1024], f32[1024]=iota, f32[]=1,2,3, @x.npy), or one of the forms that `lanewise help run` lists";

/**
 * Parses the value of an `--arg`. `read` returns the contents of a file; `option` is what errors begin with.
 *
 * @throws UsageError if it has none of the accepted forms
 */
export function parseArgument(
  text: string,
  read: (path: string) => Uint8Array,
  option = `--arg ${text}`,
): CommandArgument {
  const wrong: Wrong = (why) => {
    throw new UsageError(`${option}: ${why}`);
  };
  if (text.startsWith("tensor:")) return { kind: "tensor", spec: parseTensor(text.slice("tensor:".length), wrong) };
  const object = /^(texture|surface|image|sampler):(.*)$/s.exec(text);
  if (object?.[1] === "sampler") return { kind: "sampler", spec: parseSampler(object[2]!, wrong) };
  if (object) {
    const as = object[1] === "texture" ? "texture" : "surface";
    return { kind: "image", spec: parseImage(as, object[2]!, read, wrong) };
  }
  if (text.startsWith("{")) return { kind: "struct", spec: parseStruct(text, wrong) };
  const typed = /^(\w+):(.+)$/s.exec(text);
  if (typed) {
    const [, name, value] = typed as unknown as [string, string, string];
    if (name === "local") return localArgument(value, wrong);
    if (name === "bytes") return byValue(hexBytes(value, wrong));
    if (isElementType(name.replace(/v$/, "")) && name.endsWith("v")) {
      return byValue(listBytes(parseType(name.slice(0, -1), wrong), value, wrong));
    }
    return scalarArgument(parseType(name, wrong), value, wrong);
  }
  const file = /^(\w*)@(.+)$/s.exec(text);
  if (file?.[1] === "bytes") return byValue(read(file[2]!));
  if (file) return fileArgument(file[1] === "" ? null : parseType(file[1]!, wrong), read(file[2]!), wrong);
  const buffer = parseBuffer(text, wrong);
  return buffer === null ? scalarArgument(null, text, wrong) : { kind: "buffer", spec: buffer };
}

/** Bytes that are passed by value: those of a struct or a vector. */
const byValue = (bytes: Uint8Array): CommandArgument => ({
  kind: "vector",
  spec: { kind: "bytes", bytes, pointers: [] },
});

function scalarArgument(type: ElementType | null, text: string, wrong: Wrong): CommandArgument {
  const value = parseNumber(text) ?? wrong(`expected ${forms}`);
  const problem = type === null ? null : misfit(type, value);
  if (problem !== null) wrong(problem);
  return { kind: "scalar", spec: { kind: "scalar", type, value } };
}

/** Parses `local:256` (vISA): an amount of local memory, in bytes. */
function localArgument(text: string, wrong: Wrong): CommandArgument {
  const bytes = /^\d{1,8}$/.test(text) ? Number(text) : 0;
  if (bytes === 0) wrong("expected a number of bytes, as in local:256");
  return { kind: "local", spec: { kind: "local", bytes } };
}

function fileArgument(type: ElementType | null, bytes: Uint8Array, wrong: Wrong): CommandArgument {
  if (isNumpy(bytes)) {
    const array = readNumpy(bytes);
    return bufferOf(type ?? array.type, asType(array, type ?? array.type));
  }
  if (type === null) return wrong("raw bytes need a type, as in f32@x.bin");
  if (bytes.length % elementInfo[type].size !== 0)
    wrong(`${bytes.length} bytes are not a whole number of ${type} elements`);
  return bufferOf(type, bytes);
}

const bufferOf = (type: ElementType, data: Uint8Array): CommandArgument => ({
  kind: "buffer",
  spec: { type, n: new Elements(type, data).length, init: { gen: "bytes", data }, sha256: null },
});

/**
 * What `--out` saves: the buffer of an argument, or of the pointer at a byte of a struct; or a variable, by its name.
 */
export type OutputOf = string | { readonly argument: number; readonly byte: number | null };

/**
 * Parses the `N=FILE` of `--out`: the file for the buffer of argument N, counted from 0 as in nvcc's `kernel_param_0`
 * (`N+BYTE` for that of a pointer in a struct), or for the variable of this name.
 */
export function parseOutput(text: string): { readonly of: OutputOf; readonly path: string } {
  const [, of, path] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (of === undefined || path === undefined)
    throw new UsageError(`--out ${text}: expected N=FILE or NAME=FILE, as in 1=y.npy`);
  const [, argument, byte = null] = /^(\d+)(?:\+(\d+))?$/.exec(of) ?? [];
  if (argument === undefined) return { of, path };
  return { of: { argument: Number(argument), byte: byte === null ? null : Number(byte) }, path };
}

/** Parses the `0-9,20` of `--blocks`. */
export function parseBlocks(text: string): BlockSelection {
  return text.split(",").map((part) => {
    const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part.trim()) ?? [];
    if (first === undefined) throw new UsageError(`--blocks ${text}: expected indices and ranges, as in 0-9,20`);
    return first === last ? Number(first) : [Number(first), Number(last)];
  });
}

/** Parses a size, `X[,Y[,Z]]` or `XxYxZ`; missing dimensions are 1. */
export function parseDim(name: string, text: string): [number, number, number] {
  const max = 0x7fff_ffff;
  const numbers = text.split(/[,x]/i).map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
  if (numbers.length > 3 || numbers.some((n) => n < 1 || n > max)) {
    throw new UsageError(`--${name} ${text}: expected X[,Y[,Z]] or XxYxZ, each from 1 to ${max}`);
  }
  return [numbers[0]!, numbers[1] ?? 1, numbers[2] ?? 1];
}
