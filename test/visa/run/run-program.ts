import { launch, loadProgram } from "../../../src/interpreter/index.ts";
import { fileLayout, surfaceIndex } from "../../../src/ir/index.ts";
import type { LaunchRequest, ThreadModel } from "../../../src/machine/launch.ts";
import { DeviceMemory } from "../../../src/machine/memory.ts";
import { sanitizerNames } from "../../../src/runtime/module.ts";
import { sanitizersFor } from "../../../src/sanitizers/index.ts";
import { SourceText } from "../../../src/source/index.ts";
import {
  type BoundRoutine,
  checkVisa,
  linkVisa,
  lowerVisa,
  parseVisa,
  payloadPlaces,
} from "../../../src/visa/index.ts";
import { inputs, type Program, routineTexts } from "./program.ts";

export interface Outcome {
  /** Codes and messages of the reports. */
  readonly reports: readonly string[];
  /** What each work item stored. */
  readonly values: readonly number[];
}

const stackBytes = 16384;
const slmBytes = 65536;

/** The routines of a program, checked and linked; throws where there is anything to object to. */
function routinesOf(program: Program, width: number): readonly BoundRoutine[] {
  const files = routineTexts(program, width).map(({ name, text }) => {
    const { tree, diagnostics } = parseVisa(new SourceText(`${name}.visaasm`, text));
    const checked = checkVisa(tree);
    return { ...checked, diagnostics: [...diagnostics, ...checked.diagnostics] };
  });
  const { routines, diagnostics } = linkVisa(files);
  const all = [...files.flatMap((file) => file.diagnostics), ...diagnostics];
  if (all.length > 0) throw new Error(all.map((d) => `${d.source.path}: ${d.message}`).join("\n"));
  return routines;
}

/** Launches a program. `generate`: by code made from text, or by closures. `watched`: with all sanitizers. */
export function runProgram(
  program: Program,
  width: number,
  { generate, watched }: { readonly generate: boolean; readonly watched: boolean },
): Outcome {
  const routines = routinesOf(program, width);
  const { items = width, group = items } = program;
  const memory = new DeviceMemory();
  const loaded = loadProgram(memory, lowerVisa(routines), { generate });
  const out = memory.alloc(4 * items, "out");
  const threadsPerGroup = Math.ceil(group / width);
  const stacks = memory.alloc((items / group) * threadsPerGroup * stackBytes, "stacks");
  const places = payloadPlaces(routines[0]!);
  const payload = new DataView(new ArrayBuffer(inputs.id + 4 * width));
  const model: ThreadModel = {
    width,
    surfaces: new Map(),
    start: (file, thread) => {
      payload.setBigUint64(inputs.out, loaded.addresses.global(out), true);
      payload.setBigUint64(inputs.stack, loaded.addresses.global(stacks + thread.serial * stackBytes), true);
      for (let lane = 0; lane < width; lane++) {
        payload.setUint32(inputs.id + 4 * lane, thread.group[0] * group + thread.index * width + lane, true);
      }
      for (const { offset, size, at } of places) file.set(new Uint8Array(payload.buffer, offset, size), at);
      const state = new DataView(file.buffer, file.byteOffset, file.byteLength);
      state.setUint32(fileLayout.surfaces.at, surfaceIndex.slm, true);
      state.setUint32(fileLayout.sr0.at + 8, thread.lanes, true);
    },
  };
  const request: LaunchRequest = {
    kernel: "k",
    grid: [items / group, 1, 1],
    block: [group, 1, 1],
    sharedBytes: slmBytes,
    params: new Uint8Array(),
    threads: model,
    maxSteps: 1_000_000,
  };
  const { reports } = launch(loaded, request, { observers: sanitizersFor(watched ? sanitizerNames : []) });
  const bytes = memory.views.u8.slice(out, out + 4 * items);
  return {
    reports: reports.map(({ code, message }) => `${code}: ${message}`),
    values: [...new Uint32Array(bytes.buffer)],
  };
}
