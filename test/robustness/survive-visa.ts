import { expect } from "vitest";
import { parse } from "yaml";
import { parseJob, runJob, UsageError } from "../../src/runtime/index.ts";
import { type Diagnostic, hasErrors, renderDiagnostic, SourceText } from "../../src/source/index.ts";
import { bindVisa, checkVisa, parseVisa, printVisa, readCisa, writeCisa } from "../../src/visa/index.ts";
import type { VisaFile } from "../../src/visa/tree.ts";
import type { Stage } from "./survive.ts";
import type { Seed } from "./visa-seeds.ts";

/** Milliseconds. No case takes a tenth of it. */
const longest = 300_000;

/** Takes a text through parser, printer, checker and writer. Throws where they do not agree with each other. */
export function surviveText(text: string): void {
  const { tree, diagnostics } = parseVisa(new SourceText("any.visaasm", text));
  for (const { span, source } of diagnostics) {
    expect(span.start >= 0 && span.start <= span.end && span.end <= source.text.length).toBe(true);
  }
  surviveTree(tree, hasErrors(diagnostics));
}

/** The same for a CISA file, which is read first. */
export function surviveCisa(bytes: Uint8Array): void {
  const { tree, diagnostics } = readCisa(bytes, "any.isa");
  for (const diagnostic of diagnostics.slice(0, 20)) renderDiagnostic(diagnostic);
  if (tree !== null) surviveTree(tree, hasErrors(diagnostics));
}

const errors = (diagnostics: readonly Diagnostic[]): readonly string[] =>
  diagnostics.flatMap(({ severity, message }) => (severity === "error" ? [message] : []));

function surviveTree(tree: VisaFile, isDamaged: boolean): void {
  const text = printVisa(tree);
  const again = parseVisa(new SourceText("printed.visaasm", text));
  const { diagnostics } = checkVisa(tree);
  for (const diagnostic of diagnostics.slice(0, 20)) renderDiagnostic(diagnostic);
  const { bytes } = writeCisa(bindVisa(tree));
  if (isDamaged) return;
  expect(errors(again.diagnostics)).toEqual([]);
  expect(printVisa(again.tree)).toBe(text);
  if (bytes !== null && !hasErrors(diagnostics)) {
    expect(errors(readCisa(bytes, "written.isa").diagnostics)).toEqual([]);
  }
}

/** Runs a job; what stands in for its `.ze_info` may be a document. Fails for a defect, and for what does not end. */
export function surviveJob(
  { json, files }: Pick<Seed, "json" | "files">,
  yaml: (text: string) => unknown = parse,
): Stage {
  const { job, diagnostics } = parseJob(new SourceText("any.json", json));
  expect(job !== null || hasErrors(diagnostics)).toBe(true);
  if (job === null) return "refused";
  const read = (path: string): Uint8Array => {
    const file = files.get(path);
    if (file === undefined) throw new UsageError(`cannot read ${path}`);
    return file;
  };
  const [variant = ""] = job.variants.keys();
  const began = performance.now();
  const result = runJob(
    job,
    variant,
    { read, yaml },
    { maxSteps: 20_000, timeoutMs: 5000, sanitize: new Set(["init", "race"]) },
  );
  if (result.defect) throw result.defect;
  expect(performance.now() - began).toBeLessThan(longest);
  if (result.launches.length > 0) return "launched";
  return result.failure === "the program has errors" ? "refused" : "loaded";
}
