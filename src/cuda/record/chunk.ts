import { addressModes } from "../../numeric/texture-coordinates.ts";
import type { ImageShape } from "../../machine/images/image.ts";
import type { Sampler } from "../../machine/images/sampler.ts";
import type { Allocation } from "../../machine/memory/allocation.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import type { HostFrame } from "../base/host-frame.ts";

/** The program that was recorded, and how its kernels ran. */
export interface ProgramChunk {
  readonly kind: "program";
  readonly program: string;
  readonly args: readonly string[];
  readonly seed?: number;
  readonly matrix?: "hardware" | "exact";
}

/** A module that the program has loaded: the data is its texts. */
export interface ModuleChunk {
  readonly kind: "module";
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Offsets of its global variables in device memory, in the order in which they are placed. */
  readonly variables: readonly number[];
}

/** A texture, surface or sampler: an image by its shape and the offset of its first texel. */
export type RecordedObject =
  | {
      readonly kind: "texture";
      readonly shape: ImageShape;
      readonly base: number;
      readonly sampler: Sampler;
      readonly sRGB: boolean;
    }
  | { readonly kind: "surface"; readonly shape: ImageShape; readonly base: number }
  | { readonly kind: "sampler"; readonly sampler: Sampler };

type RecordedAllocation = Readonly<Pick<Allocation, "start" | "end" | "name" | "freed">>;

/** The allocations of a device and what has been made of them. */
export interface Arrangement {
  readonly allocations: readonly RecordedAllocation[];
  /** Allocations of device code, which it may free. */
  readonly heap: readonly number[];
  readonly objects: readonly (RecordedObject | "freed" | "memory-freed")[];
}

/**
 * A launch. Its data is its parameters, then constants, then pages of device memory: those that differ from the last
 * launch's, as they were when this one began.
 */
export interface LaunchChunk {
  readonly kind: "launch";
  /** The number of its module. */
  readonly module: number;
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly cluster?: Dim3;
  readonly sharedBytes: number;
  readonly environment?: readonly [number, number];
  readonly paramBytes: number;
  /** The stack of the program. */
  readonly stack: readonly HostFrame[];
  /** Absent where it is that of the last launch. */
  readonly arrangement?: Arrangement;
  readonly constants: readonly { readonly name: string; readonly bytes: number }[];
  /** Offsets of pages. */
  readonly pages: readonly number[];
}

export type ChunkHead = ProgramChunk | ModuleChunk | LaunchChunk;

/** Says of a value from a file whether it may be taken for a T. */
type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const flag: Check = (value) => typeof value === "boolean";
const number: Check = (value) => typeof value === "number";
const size: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
const nothing: Check = (value) => value === undefined;
const either =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));
const optional = (check: Check): Check => either(nothing, check);
const nullable = (check: Check): Check => either((value) => value === null, check);
const list =
  (check: Check, length?: number): Check =>
  (value) =>
    Array.isArray(value) && (length === undefined || value.length === length) && value.every(check);
const one =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(checks).every(([name, check]) => check((value as Readonly<Record<string, unknown>>)[name]));

const three = list(size, 3);
const shape = fields({
  layout: one("linear", "pitch", "array"),
  format: fields({ type: text, channels: one(1, 2, 3, 4) }),
  ...{ width: size, height: size, depth: size, layers: nullable(size), cube: flag },
  ...{ levels: size, samples: size, pitch: size },
});
const sampler = fields({
  address: list(one(...addressModes), 3),
  ...{ filter: one("point", "linear"), mipFilter: one("point", "linear"), normalized: flag, border: list(number, 4) },
  ...{
    lodBias: number,
    minLod: number,
    maxLod: nullable(number),
    maxAnisotropy: number,
    compare: text,
    seamless: flag,
  },
});
const object = either(
  one("freed", "memory-freed"),
  fields({ kind: one("texture"), shape, base: size, sampler, sRGB: flag }),
  fields({ kind: one("surface"), shape, base: size }),
  fields({ kind: one("sampler"), sampler }),
);
const frame = fields({ function: text, file: nullable(text), line: nullable(size) });

/** Every field of every kind of chunk. */
const kinds: Readonly<Record<ChunkHead["kind"], Check>> = {
  program: fields({
    program: text,
    args: list(text),
    seed: optional(number),
    matrix: optional(one("hardware", "exact")),
  }),
  module: fields({ files: list(fields({ path: text, bytes: size })), variables: list(size) }),
  launch: fields({
    ...{ module: size, kernel: text, grid: three, block: three, cluster: optional(three), sharedBytes: size },
    ...{ environment: optional(list(size, 2)), paramBytes: size, stack: list(frame), pages: list(size) },
    constants: list(fields({ name: text, bytes: size })),
    arrangement: optional(
      fields({
        allocations: list(fields({ start: size, end: size, name: text, freed: flag })),
        heap: list(size),
        objects: list(object),
      }),
    ),
  }),
};

/**
 * Takes what stands in a file for the head of a chunk.
 *
 * @throws UsageError if it is none
 */
export function headOf(value: unknown): ChunkHead {
  const { kind } = (value ?? {}) as { readonly kind?: unknown };
  const check = typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind as ChunkHead["kind"]] : null;
  if (!check?.(value))
    throw new UsageError(`the recording is damaged: a chunk of kind ${JSON.stringify(kind)} is none`);
  return value as ChunkHead;
}
