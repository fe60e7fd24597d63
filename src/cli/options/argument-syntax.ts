import {
  elementInfo,
  Elements,
  type ElementType,
  elementTypes,
  isElementType,
  misfit,
} from "../../runtime/data/element.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { asType, isNumpy, readNumpy } from "../../runtime/data/npy.ts";
import type { Init } from "../../runtime/job/init.ts";
import type { ArgumentSpec } from "../../runtime/job/job-argument.ts";
import type { BufferSpec } from "../../runtime/job/job.ts";

/** The meaning of an `--arg`: a value, an amount of local memory, or a buffer to create. */
export type CommandArgument =
  | { readonly kind: "scalar"; readonly spec: Extract<ArgumentSpec, { kind: "scalar" }> }
  | { readonly kind: "vector"; readonly spec: Extract<ArgumentSpec, { kind: "bytes" }> }
  | { readonly kind: "local"; readonly spec: Extract<ArgumentSpec, { kind: "local" }> }
  | { readonly kind: "buffer"; readonly spec: BufferSpec };

const forms = `a number (42, 0xff, 1.5, u64:7, f32:1e-3) or a buffer (f32[1024], f32[1024]=iota, f32[1024]=fill:2, f32[1024]=lcg:7, @x.npy, f32@x.bin)`;

/**
 * Parses the value of an `--arg`. `read` returns the contents of a file.
 *
 * @throws UsageError if it has none of the accepted forms
 */
export function parseArgument(text: string, read: (path: string) => Uint8Array): CommandArgument {
  const wrong = (why: string): never => {
    throw new UsageError(`--arg ${text}: ${why}`);
  };
  const type = (name: string): ElementType =>
    isElementType(name) ? name : wrong(`there is no type "${name}" (${elementTypes.join(" ")})`);

  const typed = /^(\w+):(.+)$/.exec(text);
  if (typed) {
    const [, name, value] = typed as unknown as [string, string, string];
    if (name === "local") return localArgument(value, wrong);
    if (isElementType(name.replace(/v$/, "")) && name.endsWith("v")) {
      return vectorArgument(type(name.slice(0, -1)), value, wrong);
    }
    return scalarArgument(type(name), value, wrong);
  }
  const file = /^(\w*)@(.+)$/s.exec(text);
  if (file) return fileArgument(file[1] === "" ? null : type(file[1]!), read(file[2]!), wrong);
  const sized = /^(\w+)\[(\d+)\](?:=(.*))?$/.exec(text);
  if (sized) {
    const element = type(sized[1]!);
    const n = Number(sized[2]);
    const most = Math.floor(0x7fff_ffff / elementInfo[element].size);
    if (n > most) wrong(`a buffer of ${element} has at most ${most} elements`);
    return {
      kind: "buffer",
      spec: { type: element, n, init: parseInit(element, sized[3] ?? "zero", wrong), sha256: null },
    };
  }
  return scalarArgument(null, text, wrong);
}

type Wrong = (why: string) => never;

/** Parses a number; integers, hexadecimal ones included, are exact. */
function parseNumber(text: string): number | bigint | null {
  const sign = text.startsWith("-") ? -1 : 1;
  const magnitude = text.replace(/^[+-]/, "");
  if (/^(0x[0-9a-f]{1,32}|0b[01]{1,128}|\d{1,40})$/i.test(magnitude)) {
    const value = BigInt(magnitude) * BigInt(sign);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (/^(inf|infinity)$/i.test(magnitude)) return sign * Infinity;
  if (/^nan$/i.test(magnitude)) return NaN;
  return /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(magnitude) ? sign * Number(magnitude) : null;
}

function scalarArgument(type: ElementType | null, text: string, wrong: Wrong): CommandArgument {
  const value = parseNumber(text) ?? wrong(`expected ${forms}`);
  const problem = type === null ? null : misfit(type, value);
  if (problem !== null) wrong(problem);
  return { kind: "scalar", spec: { kind: "scalar", type, value } };
}

/** Parses `f32v:1,2,3,4` (vISA): a vector passed by value. */
function vectorArgument(type: ElementType, text: string, wrong: Wrong): CommandArgument {
  const values = text.split(",").map((part) => parseNumber(part) ?? wrong(`"${part}" is no number`));
  const elements = Elements.zeros(type, values.length);
  values.forEach((value, i) => {
    const problem = misfit(type, value);
    if (problem !== null) wrong(problem);
    elements.set(i, value);
  });
  return { kind: "vector", spec: { kind: "bytes", bytes: elements.bytes, pointers: [] } };
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
  if (bytes.length % elementInfo[type].size !== 0) wrong(`${bytes.length} bytes are no whole number of ${type}`);
  return bufferOf(type, bytes);
}

const bufferOf = (type: ElementType, data: Uint8Array): CommandArgument => ({
  kind: "buffer",
  spec: { type, n: new Elements(type, data).length, init: { gen: "bytes", data }, sha256: null },
});

function parseInit(type: ElementType, text: string, wrong: Wrong): Init {
  const [name = "", value] = text.split(":", 2);
  const number = (absent: number): number | bigint => {
    if (value === undefined) return absent;
    const parsed = parseNumber(value) ?? wrong(`"${value}" is no number`);
    const problem = name === "lcg" ? null : misfit(type, parsed);
    return problem === null ? parsed : wrong(problem);
  };
  switch (name) {
    case "zero":
      return { gen: "zero" };
    case "iota":
      return { gen: "iota", start: number(0), step: 1 };
    case "fill":
      return { gen: "fill", value: number(0) };
    case "lcg": {
      const seed = Number(number(0));
      if (!Number.isInteger(seed) || seed < 0 || seed > 0xffff_ffff) wrong("a seed is an integer of 32 bits");
      return { gen: "lcg", seed, lo: 0, hi: 1, mod: null, add: 0, scale: 1 };
    }
    default:
      return wrong(`buffers are filled by zero, iota, fill:V or lcg:SEED, not "${name}"`);
  }
}

/**
 * Parses the `N=FILE` of `--out`: the file for the buffer of argument N, counted from 0 as in nvcc's `kernel_param_0`.
 */
export function parseOutput(text: string): { readonly argument: number; readonly path: string } {
  const [, number, path] = /^(\d+)=(.+)$/s.exec(text) ?? [];
  if (number === undefined || path === undefined) throw new UsageError(`--out ${text}: expected N=FILE, as in 1=y.npy`);
  return { argument: Number(number), path };
}

/** Parses a size, `X[,Y[,Z]]`; missing dimensions are 1. */
export function parseDim(name: string, text: string): [number, number, number] {
  const most = 0x7fff_ffff;
  const numbers = text.split(",").map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
  if (numbers.length > 3 || numbers.some((n) => n < 1 || n > most)) {
    throw new UsageError(`--${name} ${text}: expected X[,Y[,Z]], each from 1 to ${most}`);
  }
  return [numbers[0]!, numbers[1] ?? 1, numbers[2] ?? 1];
}
