import { expect, test } from "vitest";
import { Device, SourceText } from "../../src/index.ts";
import { bindVisa, parseVisa, readCisa, writeCisa } from "../../src/visa/index.ts";
import { diagnose, lineOf } from "../visa/check/diagnose.ts";
import { markText } from "./case-files.ts";
import { type VisaCase, readVisaCases } from "./visa-cases.ts";

const cases = [...readVisaCases("ifcall"), ...readVisaCases("visa")];

test.each(cases.map((c) => [c.file, c.name, c] as const))("%s: %s", (_file, _name, c) => {
  expect(c.marks.length + c.bytes.length > 0 || c.out !== null).toBe(true);
  const found = diagnose(c.text).map((d) => `${lineOf(d)} ${d.severity} ${d.code}`);
  expect(found).toEqual(c.marks.filter(({ kind }) => kind !== "report").map(markText));
  if (c.marks.some(({ kind }) => kind === "error")) return;

  if (c.bytes.length > 0) expect(assembled(c)).toEqual(c.bytes);
  // A case about bytes need not make sense when it runs.
  if (c.out === null && (c.marks.length === 0 || c.bytes.length > 0)) return;
  const watched = launch(c, "interpreter", "all");
  expect(watched.reports).toEqual(c.marks.filter(({ kind }) => kind === "report").map(markText));
  const compiled = launch(c, "jit", []);
  const faults = watched.reports.filter((report) => !sanitizerCodes.some((code) => report.endsWith(` ${code}`)));
  expect(compiled.reports).toEqual(faults);
  if (!c.out) return;
  const expected = Array.from({ length: c.width }, (_, t) => c.out!(t) >>> 0);
  expect(watched.out).toEqual(expected);
  expect(compiled.out).toEqual(expected);
});

/** Reports that only launches with sanitizers have. */
const sanitizerCodes = ["uninitialized-read", "stack-imbalance", "noreturn-returned"];

function launch(c: VisaCase, engine: "interpreter" | "jit", sanitize: "all" | []) {
  const device = new Device({ engine, sanitize, maxSteps: 10_000_000 });
  const out = device.buffer("u32", c.width);
  const inputs = [
    { name: "OUT", kind: "arg", type: "u64" },
    { name: "LANES", kind: "lane-id", type: "u32" },
  ] as const;
  const { reports } = device
    .load([{ path: "k.isaasm", text: c.text }], { inputs })
    .kernel("k")
    .launch({ global: c.items, local: c.items, args: [out] });
  return {
    reports: reports.map((r) => `${r.source.position(r.span.start).line} report ${r.code}`),
    out: [...out.read()],
  };
}

/** How the lines whose bytes a case tells lie in the file that is written of its text. */
function assembled({ text, bytes }: VisaCase): VisaCase["bytes"] {
  const { tree } = parseVisa(new SourceText("k.isaasm", text));
  const [kernel] = tree.routines;
  const lines = kernel!.statements
    .filter((s) => s.kind === "instruction")
    .map(({ start }) => tree.source.position(start).line);
  const read = readCisa(writeCisa(bindVisa(tree)).bytes!, "k.isa").tree!;
  // The file has one instruction more: the subroutine that the kernel begins with.
  const instructions = read.routines[0]!.statements.filter((s) => s.kind === "instruction").slice(-lines.length);
  return bytes.map(({ line }) => ({ line, bytes: read.source.slice(instructions[lines.indexOf(line)]!) }));
}
