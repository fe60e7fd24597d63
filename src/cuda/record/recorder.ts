import type { Image, ImageShape } from "../../machine/images/image.ts";
import type { FoundObject } from "../../machine/images/image-table.ts";
import type { LaunchRequest } from "../../machine/launch.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Module } from "../../runtime/device/module.ts";
import { type SourceFile, textOf } from "../../runtime/data/source-file.ts";
import type { HostFrame } from "../base/host-frame.ts";
import { offsetOf } from "../base/addresses.ts";
import type { Arrangement, LaunchChunk, ProgramChunk, RecordedObject } from "./chunk.ts";
import { type Deflate, encodeChunk, recordedPageBytes as pageBytes, recordingStart } from "./format.ts";

/** Where a recording goes. */
export interface RecordSink {
  readonly write: (bytes: Uint8Array) => void;
  readonly deflate: Deflate;
}

/** Writes down the launches of a program, each with the memory that it finds, so that they can be run again. */
export class Recorder {
  readonly #sink: RecordSink;
  readonly #modules = new Map<Module, number>();
  /** Pages of device memory as the last launch has found them. */
  readonly #pages = new Map<number, Int32Array>();
  /** Constants as the last launch of their module has found them. */
  readonly #constants = new Map<string, Uint8Array>();
  #arrangement = "";

  constructor(sink: RecordSink, program: Omit<ProgramChunk, "kind">) {
    this.#sink = sink;
    sink.write(recordingStart());
    this.#write({ kind: "program", ...program }, []);
  }

  /** Notes a program that has just been loaded. */
  module(module: Module, files: readonly SourceFile[]): void {
    const texts = files.map((file) => new TextEncoder().encode(textOf(file)));
    const variables = module.ir.variables
      .filter(({ space }) => space === "global")
      .map(({ name }) => offsetOf(module.variable(name).address)!);
    this.#modules.set(module, this.#modules.size);
    const about = files.map(({ path }, i) => ({ path, bytes: texts[i]!.length }));
    this.#write({ kind: "module", files: about, variables }, texts);
  }

  /** Notes a launch that is about to begin, and what has changed since the last one did. */
  launch(module: Module, request: LaunchRequest, stack: readonly HostFrame[]): void {
    const { memory } = module.device;
    const number = this.#modules.get(module);
    if (number === undefined) return;
    const constants = this.#changedConstants(module, number);
    const pages = this.#changedPages(memory);
    const { kernel, block, cluster, sharedBytes, environment, params } = request;
    const head: LaunchChunk = {
      kind: "launch",
      module: number,
      kernel,
      grid: gridOf(module, request),
      block,
      ...(cluster === undefined ? {} : { cluster }),
      sharedBytes,
      ...(environment === undefined ? {} : { environment }),
      paramBytes: params.length,
      stack,
      ...this.#changedArrangement(memory),
      constants: constants.map(([name, bytes]) => ({ name, bytes: bytes.length })),
      pages: pages.map(([at]) => at),
    };
    this.#write(head, [params, ...constants.map(([, bytes]) => bytes), ...pages.map(([, bytes]) => bytes)]);
  }

  #write(head: Parameters<typeof encodeChunk>[0], parts: readonly Uint8Array[]): void {
    const data = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      data.set(part, at);
      at += part.length;
    }
    this.#sink.write(encodeChunk(head, data, this.#sink.deflate));
  }

  #changedConstants(module: Module, number: number): readonly (readonly [string, Uint8Array])[] {
    return [...module.constants].filter(([name, bytes]) => {
      const key = `${number} ${name}`;
      const known = this.#constants.get(key);
      this.#constants.set(key, bytes);
      return known === undefined || !isSame(known, bytes);
    });
  }

  /** The pages of allocations in which something has changed. */
  #changedPages(memory: DeviceMemory): readonly (readonly [number, Uint8Array])[] {
    const changed: (readonly [number, Uint8Array])[] = [];
    const { i32 } = memory.views;
    let next = 0;
    for (const { start, end } of memory.allocations) {
      for (next = Math.max(next, start - (start % pageBytes)); next < end; next += pageBytes) {
        const now = i32.subarray(next / 4, (next + pageBytes) / 4);
        if (isSame(this.#pages.get(next) ?? zeros, now)) continue;
        const copy = now.slice();
        this.#pages.set(next, copy);
        changed.push([next, new Uint8Array(copy.buffer)]);
      }
    }
    return changed;
  }

  #changedArrangement(memory: DeviceMemory): { readonly arrangement?: Arrangement } {
    const allocations = memory.allocations.map(({ start, end, name, freed }) => ({ start, end, name, freed }));
    const arrangement = { allocations, heap: [...memory.heap], objects: memory.images.objects.map(recordedObject) };
    const text = JSON.stringify(arrangement);
    if (text === this.#arrangement) return {};
    this.#arrangement = text;
    return { arrangement };
  }
}

const zeros = new Int32Array(pageBytes / 4);

/** The grid as a launch asks for it: where a kernel counts clusters, that is not in blocks. */
function gridOf(module: Module, { kernel, grid }: LaunchRequest): Dim3 {
  const { blocksareclusters, reqnctapercluster } = module.ir.functions.find((f) => f.name === kernel)!.bounds;
  if (blocksareclusters !== true || reqnctapercluster === undefined) return grid;
  return [grid[0] / reqnctapercluster[0], grid[1] / reqnctapercluster[1], grid[2] / reqnctapercluster[2]];
}

function recordedObject(object: Exclude<FoundObject, null>): RecordedObject | "freed" | "memory-freed" {
  if (typeof object === "string" || object.kind === "sampler") return object;
  const { base } = object.image;
  const shape = shapeOf(object.image);
  return object.kind === "surface" ? { kind: "surface", shape, base } : { ...object, kind: "texture", shape, base };
}

function shapeOf(image: Image): ImageShape {
  const { layout, format, width, height, depth, layers, cube, levels, samples, pitch } = image;
  return { layout, format, width, height, depth, layers, cube, levels, samples, pitch };
}

function isSame(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
