import { expect } from "vitest";
import { checkPtx } from "../../src/ptx/check/check.ts";
import { parsePtx } from "../../src/ptx/parser/index.ts";
import { printPtx } from "../../src/ptx/printer.ts";
import {
  Device,
  type Kernel,
  type KernelArgument,
  LoadError,
  NotExecutableError,
  UsageError,
} from "../../src/runtime/index.ts";
import { type Diagnostic, hasErrors, renderDiagnostic, SourceText } from "../../src/source/index.ts";
import { processorMilliseconds } from "../processor-time.ts";

/** How far a text came. */
export type Stage = "refused" | "loaded" | "launched";

/** Seconds of processor time. No case takes a tenth of it, so that this finds what does not end and nothing else. */
const longest = 120;

/**
 * Takes a text through the whole pipeline: parse, check, print; and, where it has no errors, load and launch each
 * kernel. Fails the test when anything throws that is not documented, points outside of the text, or takes too long.
 */
export function survive(text: string): Stage {
  let stage: Stage = "refused";
  const milliseconds = processorMilliseconds(() => {
    try {
      stage = run(text);
    } catch (error) {
      throw new Error(`${String((error as Error).stack)}\n\nthe text was:\n${shorten(text)}`);
    }
  });
  if (milliseconds > 1000 * longest) expect.fail(`${milliseconds.toFixed(0)} milliseconds for\n${shorten(text)}`);
  return stage;
}

const shorten = (text: string): string => (text.length > 20_000 ? `${text.slice(0, 20_000)}...` : text);

function run(text: string): Stage {
  const { tree, diagnostics } = parsePtx(new SourceText("any.ptx", text));
  const checked = checkPtx(tree);
  printPtx(tree);
  const all = [...diagnostics, ...checked.diagnostics];
  for (const diagnostic of all) inside(diagnostic, text.length);
  for (const diagnostic of all.slice(0, 20)) renderDiagnostic(diagnostic);
  if (hasErrors(all)) return "refused";
  return launchAll(text);
}

function inside({ code, span, notes }: Diagnostic, length: number): void {
  for (const at of [span, ...notes.flatMap((note) => note.span ?? [])]) {
    const good = at.start >= 0 && at.start <= at.end && at.end <= length;
    if (!good) expect.fail(`${code} at ${at.start}-${at.end} of ${length}`);
  }
}

function launchAll(text: string): Stage {
  const device = new Device({ maxSteps: 3000, timeoutMs: 5000, sanitize: "all" });
  // What only the linker or the device minds: a function that nobody defines, or variables that do not fit.
  const module = unless(UsageError, () => unless(LoadError, () => device.load(text)));
  let stage: Stage = "loaded";
  for (const name of module?.kernels ?? []) if (launch(module!.kernel(name))) stage = "launched";
  return stage;
}

/** Whether it was launched: with 40 threads a block, buffers for addresses and small numbers for the rest. */
function launch(kernel: Kernel): boolean {
  const { device } = kernel.module;
  const buffer = device.buffer("u8", 4096);
  const args = kernel.ir.params.map(({ type: { kind, size } }): KernelArgument => {
    if (kind === "array" || size > 8) return new Uint8Array(size);
    return size === 8 && kind !== "f" ? buffer : 7;
  });
  const block = kernel.ir.bounds.reqntid ?? Math.min(40, product(kernel.ir.bounds.maxntid ?? [40]));
  const result = unless(UsageError, () =>
    unless(NotExecutableError, () => kernel.launch({ grid: 2, block, shared: 256, args })),
  );
  buffer.free();
  if (result && !result.ok && result.reports.length === 0) expect.fail("a launch failed without a report");
  return result !== null;
}

const product = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);

/** The result, or null when a documented error says why there is none. */
function unless<T>(Documented: new (...args: never[]) => Error, compute: () => T): T | null {
  try {
    return compute();
  } catch (error) {
    if (error instanceof Documented) return null;
    throw error;
  }
}
