import { expect } from "vitest";
import { launch } from "../../src/interpreter/index.ts";
import { loadProgram } from "../../src/program/program.ts";
import type { ChunkWidth } from "../../src/jit/abi/launch-shape.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import type { LaunchRequest, LaunchResult } from "../../src/machine/launch.ts";
import type { Dim3, Report } from "../../src/machine/reports/report.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";

/** A kernel `k(.param .u64 out)`: its registers and instructions. */
export interface Case {
  readonly name: string;
  readonly body: string;
  /** Module-level text before the kernel. */
  readonly before?: string;
  readonly block?: Dim3;
  readonly grid?: Dim3;
  /** False where several threads wait, and a report may point to any of them and tell of more or less. */
  readonly tellsWho?: boolean;
  /** 32-bit words of the buffer `out` for each thread. */
  readonly words?: number;
}

const allWidths: readonly ChunkWidth[] = ["scalar", 1, 2, 4, 8];

/** Of kernels whose warps have to run as a whole, whatever is asked for. */
export const inWarps: readonly ChunkWidth[] = [8];

interface Outcome {
  readonly out: readonly number[];
  readonly reports: readonly object[];
}

const described = ({ code, message, source, span, help, notes }: Report): Record<string, unknown> => ({
  code,
  message,
  line: source.position(span.start).line,
  help,
  notes,
});

function program({ body, before = "" }: Case): string {
  return `.version 8.6
.target sm_100a
.address_size 64
${before}
.visible .entry k(.param .u64 out)
{
.reg .b64 %out;
.reg .b32 %r<40>, %n, %t, %u;
.reg .b64 %d<20>;
.reg .f32 %f<10>;
.reg .pred %p<20>;
ld.param.u64 %out, [out];
// the number of the thread in its grid, and where its words are
mov.u32 %n, %ntid.x; mov.u32 %u, %ntid.y; mul.lo.u32 %n, %n, %u; mov.u32 %u, %ntid.z; mul.lo.u32 %n, %n, %u;
mov.u32 %t, %tid.z; mov.u32 %u, %ntid.y; mul.lo.u32 %t, %t, %u; mov.u32 %u, %tid.y; add.u32 %t, %t, %u;
mov.u32 %u, %ntid.x; mul.lo.u32 %t, %t, %u; mov.u32 %u, %tid.x; add.u32 %t, %t, %u;
mov.u32 %u, %ctaid.x; mad.lo.u32 %u, %u, %n, %t; mad.wide.u32 %out, %u, WORDS, %out;
${body}
}`;
}

function run(
  test: Case,
  start: (run: ReturnType<typeof loadProgram>, request: LaunchRequest) => LaunchResult,
): Outcome {
  const { block = [32, 1, 1], grid = [1, 1, 1], words = 4, tellsWho = true } = test;
  const text = program(test).replace("WORDS", `${4 * words}`);
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)], {});
  if (module === null) throw new Error(diagnostics.map((d) => d.message).join("\n"));
  const device = new PtxDevice();
  const { memory } = device;
  const loaded = loadProgram(memory, module);
  const threads = [...block, ...grid].reduce((a, b) => a * b);
  const out = device.buffer(new Int32Array(threads * words));
  const kernel = module.functions.find((f) => f.name === "k")!;
  const params = packArguments(kernel, [out], { memory, addressSize: 64 });
  const { reports } = start(loaded, { kernel: "k", grid, block, sharedBytes: 0, params });
  // What lanes have done that did nothing wrong when a fault ended the launch, nobody promises.
  return {
    out: reports.length > 0 ? [] : [...(out.read() as Int32Array)],
    reports: reports.map((r) => (tellsWho ? described(r) : { ...described(r), line: 0, notes: [] })),
  };
}

/** Compiled code of every width leaves what the interpreter leaves. */
export function expectSame(test: Case, widths: readonly ChunkWidth[] = allWidths): Outcome {
  const wanted = run(test, launch);
  for (const width of widths) {
    const outcome = run(test, (loaded, request) => {
      const jit = new JitProgram(loaded, width);
      expect({ width, obstacle: jit.obstacleOf(request) }).toEqual({ width, obstacle: null });
      const result = jit.launch(request);
      expect(result).not.toBeNull();
      return result!;
    });
    expect({ width, ...outcome }).toEqual({ width, ...wanted });
  }
  return wanted;
}
