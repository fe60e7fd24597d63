import { launch } from "../../../src/interpreter/index.ts";
import { loadProgram } from "../../../src/program/program.ts";
import { fileLayout, surfaceIndex } from "../../../src/ir/index.ts";
import { JitProgram } from "../../../src/jit/run/jit-program.ts";
import type { LaunchRequest } from "../../../src/machine/launch.ts";
import { DeviceMemory } from "../../../src/machine/memory/memory.ts";
import type { ThreadModel } from "../../../src/machine/state/thread-model.ts";
import { sanitizerNames } from "../../../src/runtime/launch/launch-options.ts";
import { sanitizersFor } from "../../../src/sanitizers/index.ts";
import { SourceText } from "../../../src/source/index.ts";
import {
  type BoundRoutine,
  checkVisa,
  type LinkedVisa,
  linkVisa,
  lowerVisa,
  parseVisa,
  payloadPlaces,
} from "../../../src/visa/index.ts";
import { inputs, type Program, type RoutineText, routineTexts } from "./program.ts";

export interface Outcome {
  /** Codes and messages of the reports. */
  readonly reports: readonly string[];
  /** The value that each work item stored. */
  readonly values: readonly number[];
  /** Why the interpreter ran a program that was to be compiled; null if it was compiled. */
  readonly obstacle?: string | null;
}

const stackBytes = 16384;
const slmBytes = 65536;
const payloadBytes = 512;

/** Checks and links texts: the routines of a program, and all diagnostics. */
export function link(texts: readonly RoutineText[]): LinkedVisa {
  const files = texts.map(({ name, text }) => {
    const { tree, diagnostics } = parseVisa(new SourceText(`${name}.visaasm`, text));
    const checked = checkVisa(tree);
    return { ...checked, diagnostics: [...diagnostics, ...checked.diagnostics] };
  });
  const { routines, diagnostics } = linkVisa(files);
  return { routines, diagnostics: [...files.flatMap((file) => file.diagnostics), ...diagnostics] };
}

export interface Mode {
  /** Whether to run generated code or closures. */
  readonly generate: boolean;
  /** Whether to run with all sanitizers. */
  readonly watched: boolean;
  /** Whether to compile, if possible. */
  readonly compiled?: boolean;
}

/** Launches a program; throws if its text has any diagnostics. */
export function runProgram(program: Program, width: number, mode: Mode): Outcome {
  const { routines, diagnostics } = link(routineTexts(program, width));
  if (diagnostics.length > 0) throw new Error(diagnostics.map((d) => `${d.source.path}: ${d.message}`).join("\n"));
  return run(routines, program, width, mode);
}

/** Launches the first of the routines, as the program says. */
export function run(
  routines: readonly BoundRoutine[],
  program: Pick<Program, "items" | "group">,
  width: number,
  { generate, watched, compiled = false }: Mode,
  maxSteps = 1_000_000,
): Outcome {
  const { items = width, group = items } = program;
  const memory = new DeviceMemory();
  const loaded = loadProgram(memory, lowerVisa(routines));
  const out = memory.alloc(4 * items, "out");
  const threadsPerGroup = Math.ceil(group / width);
  const stacks = memory.alloc((items / group) * threadsPerGroup * stackBytes, "stacks", { perThread: true });
  const places = payloadPlaces(routines[0]!);
  const payload = new DataView(new ArrayBuffer(payloadBytes));
  const model: ThreadModel = {
    width,
    surfaces: new Map(),
    payload: places,
    start: (file, thread) => {
      payload.setBigUint64(inputs.out, loaded.addresses.global(out), true);
      payload.setBigUint64(inputs.stack, loaded.addresses.global(stacks + thread.serial * stackBytes), true);
      for (let lane = 0; lane < width; lane++) {
        payload.setUint32(inputs.id + 4 * lane, thread.group[0] * group + thread.index * width + lane, true);
      }
      for (const { offset, size, at } of places)
        for (let byte = 0; byte < size; byte++) file.setUint8(at + byte, payload.getUint8(offset + byte));
      file.setUint32(fileLayout.surfaces.at, surfaceIndex.slm, true);
      file.setUint32(fileLayout.sr0.at + 8, thread.lanes, true);
    },
  };
  const request: LaunchRequest = {
    kernel: routines[0]!.name,
    grid: [items / group, 1, 1],
    block: [group, 1, 1],
    sharedBytes: slmBytes,
    params: new Uint8Array(),
    threads: model,
    maxSteps,
  };
  const jit = compiled ? new JitProgram(loaded) : null;
  const { reports } =
    (jit?.obstacleOf(request) === null ? jit.launch(request) : null) ??
    launch(loaded, request, { generate, observers: sanitizersFor(watched ? sanitizerNames : []) });
  const bytes = memory.views.u8.slice(out, out + 4 * items);
  return {
    reports: reports.map(({ code, message }) => `${code}: ${message}`),
    values: [...new Uint32Array(bytes.buffer)],
    // An obstacle that turns up during the run is known only afterwards.
    ...(jit === null ? {} : { obstacle: jit.obstacleOf(request) }),
  };
}
