import { describe, expect, test } from "vitest";
import { parseJob } from "../../../src/runtime/job/job.ts";
import { runJob } from "../../../src/runtime/job/run-job.ts";
import { SourceText } from "../../../src/source/index.ts";
import { ranges } from "./faults/fault.ts";
import { type FunctionText, routineTexts } from "./program.ts";

/*
 * Kernels of 16 lanes in the words of `program.ts`, with all sanitizers. A `<--` ends the line that first reads a value
 * that was never written; `lanes` are those that report it. Without it, nothing may be reported.
 */
interface Case {
  readonly title: string;
  readonly kernel: string;
  readonly functions?: readonly FunctionText[];
  readonly subroutines?: string;
  readonly lanes?: string;
  readonly stack?: readonly string[];
  readonly says?: string;
}

const marker = /\s*<--\s*$/gm;
const encoder = new TextEncoder();

function run(one: Case, items: number) {
  const files = new Map<string, string>();
  let place: { readonly path: string; readonly line: number } | null = null;
  for (const { name, text } of routineTexts({ ...one, widths: [16], expected: () => 0 }, 16)) {
    const line = text.split("\n").findIndex((row) => row.includes("<--")) + 1;
    if (line > 0) place = { path: `${name}.visaasm`, line };
    files.set(`${name}.visaasm`, text.replace(marker, ""));
  }
  const job = {
    id: one.title,
    isa: "visa",
    platform: "SKL",
    simd: 16,
    variants: { "skl.simd16": { modules: [...files.keys()], simd: 16 } },
    inputs: [
      { name: "OUT", kind: "arg", type: "u64", buf: "out" },
      { name: "STK", kind: "stack", type: "u64", bytes_per_thread: 4096 },
      { name: "ID", kind: "lane-id", type: "u32", n: 16 },
    ],
    buffers: { out: { type: "u32", n: 256, init: { gen: "zero" } } },
    launches: [{ kernel: "k", global: [items, 1, 1], local: [items, 1, 1], args: [{ buf: "out" }] }],
    checks: [],
  };
  const parsed = parseJob(new SourceText("job.json", JSON.stringify(job)));
  const read = (path: string): Uint8Array => encoder.encode(files.get(path)!);
  const sanitize = new Set(["call", "init", "memory", "sync"] as const);
  const result = runJob(parsed.job!, "skl.simd16", { read }, { maxSteps: 200_000, sanitize });
  return { result, place };
}

const add = (x: string) => `add (E) R! ${x} 1:ud`;
const f = (body: string, takes = 1, returns = 1): FunctionText => ({ name: "f", takes, returns, body });
const half = "cmp.lt (E) P1 ID@ 8:ud";

const registers: readonly Case[] = [
  {
    title: "a vector",
    kernel: "add (E) R! X@ 1:ud <--",
    lanes: "0-15",
    says: "`X` is read before it has been written",
  },
  { title: "a vector that is written", kernel: `mov (E) X! ID@\n${add("X@")}` },
  {
    title: "a vector that half of the lanes write",
    kernel: `${half}\n(P1) mov (E) X! ID@\n${add("X@")} <--`,
    lanes: "8-15",
  },
  { title: "both halves", kernel: `${half}\n(P1) mov (E) X! ID@\n(!P1) mov (E) X! 5:ud\n${add("X@")}` },
  { title: "only the lanes that wrote it use it", kernel: `${half}\n(P1) mov (E) X! ID@\n(P1) add (E) R! X@ 1:ud` },
  {
    title: "only the lanes that wrote it select it",
    kernel: `${half}\n(P1) mov (E) X! ID@\nadd (E) Y! X@ 1:ud\n(P1) sel (E) R! Y@ 3:ud`,
  },
  { title: "a scalar", kernel: "add (E) R! S$ ID@ <--", lanes: "0-15" },
  { title: "results that do not depend on it", kernel: "xor (E) X! X@ X@\nand (E) Y! Y@ 0:ud\nadd (E) R! X@ Y@" },
  { title: "the first read is named", kernel: `mov (E) Y! X@ <--\nmul (E) Z! Y@ 3:ud\n${add("Z@")}`, lanes: "0-15" },
  {
    title: "an upper half of words that is not written",
    kernel: `mov (E) X(0,0)<1> 0:ud
and (E) X! X@ 0:ud
mov (E) R! X@`,
  },
  {
    title: "the lanes that work without mask are not those that are there",
    kernel: `${half}\n(P1) mov (E) X! ID@\nadd (NM) Y! X@ 1:ud\n(P1) mov (E) R! Y@`,
  },
  {
    title: "what goes to private memory may be anything",
    kernel: `mov (one) Q(0,0)<1> STK(0,0)<0;1,0>
svm_block_st (2) Q(0,0)<0;1,0> X.0`,
  },
  {
    title: "and comes back as it was",
    kernel: `mov (one) Q(0,0)<1> STK(0,0)<0;1,0>
svm_block_st (4) Q(0,0)<0;1,0> X.0 <--
svm_block_ld (4) Q(0,0)<0;1,0> Y.0
${add("Y@")}`,
    lanes: "0-15",
  },
];

// IGC writes direct calls with other sizes than the callee's; only what is read although nobody wrote it is wrong.
const sizes: readonly Case[] = [
  {
    title: "a result that the callee does not return, and nobody reads",
    kernel: `mov (E) ARG! ID@\nfcall (E) f # ##\n${add("RET@")}`,
    functions: [f("mov (E) RET! ARG@\nfret (E)")],
  },
  {
    title: "a result that the callee does not return, and that is read",
    kernel: "mov (E) ARG! ID@\nfcall (E) f # ##\nadd (E) R! RET(#,0)<1;1,0> 1:ud <--",
    functions: [f("mov (E) RET! ARG@\nfret (E)")],
    lanes: "0-15",
  },
  {
    title: "an argument that the callee wants and does not get",
    kernel: `mov (E) ARG! ID@\nfcall (E) f # #\n${add("RET@")}`,
    functions: [f("add (E) RET! ARG(#,0)<1;1,0> 1:ud <--\nfret (E)", 2)],
    stack: ["f", "k"],
    lanes: "0-15",
  },
];

const predicates: readonly Case[] = [
  { title: "a branch", kernel: `(P1) goto (E) DONE <--\n${add("ID@")}\nDONE:`, lanes: "0-15", says: "a branch" },
  { title: "a call", kernel: "(P1) fcall (E) f # # <--", functions: [f("mov (E) RET! ARG@\nfret (E)")], lanes: "0-15" },
  // In lane 3 both are the same.
  { title: "a selection", kernel: "(P1) sel (E) R! ID@ 3:ud <--", lanes: "0-2, 4-15" },
  { title: "a selection of equals", kernel: "(P1) sel (E) R! ID@ ID@" },
  { title: "a move that may not have been made", kernel: "(P1) mov (E) R! ID@ <--", lanes: "0-15" },
  { title: "a move whose result is not used", kernel: "(P1) mov (E) X! ID@" },
  {
    title: "a comparison of what is not written",
    kernel: `cmp.eq (E) P1 X@ 77:ud <--\n(P1) goto (E) DONE\n${add("ID@")}\nDONE:`,
    lanes: "0-15",
  },
  {
    title: "a comparison that is settled",
    kernel: `or (E) X! X@ 16:ud\ncmp.eq (E) P1 X@ 3:ud\n(P1) goto (E) DONE\n${add("ID@")}\nDONE:`,
  },
  {
    title: "lanes that left have no part in any",
    kernel: `${half}
(!P1) goto (E) DONE
cmp.gt (E) P2 ID@ 3:ud
(P2.any) goto (E) DONE
${add("ID@")}
DONE:`,
  },
];

const calls: readonly Case[] = [
  {
    title: "an argument",
    functions: [f("add (E) RET! ARG@ 1:ud <--\nfret (E)")],
    kernel: "fcall (E) f # #\nmov (E) R! RET@",
    lanes: "0-15",
    stack: ["f", "k"],
  },
  {
    title: "an argument that is not used",
    functions: [f("mov (E) RET! 1:ud\nfret (E)")],
    kernel: "fcall (E) f # #\nmov (E) R! RET@",
  },
  {
    title: "a result",
    functions: [f("fret (E)")],
    kernel: `mov (E) ARG! ID@\nfcall (E) f # #\n${add("RET@")} <--`,
    lanes: "0-15",
    says: "`%retval`",
  },
  {
    title: "the result of a lane that did not call",
    functions: [f("mov (E) RET! ARG@\nfret (E)")],
    kernel: `mov (E) ARG! ID@\n${half}\n(P1) fcall (E) f # #\n${add("RET@")} <--`,
    lanes: "8-15",
  },
  {
    title: "lanes have their results from different calls",
    functions: [f("mov (E) RET! ARG@\nfret (E)")],
    kernel: `mov (E) ARG! ID@\n${half}\n(P1) fcall (E) f # #\nmov (E) ARG! ID@\n(!P1) fcall (E) f # #\n${add("RET@")}`,
  },
  {
    title: "arguments of the call before",
    functions: [f("mov (E) RET! ARG@\nfret (E)")],
    kernel: `mov (E) ARG! ID@\nfcall (E) f # #\n${add("ARG@")} <--`,
    lanes: "0-15",
    says: "`%arg`",
  },
  {
    title: "variables of a function are new each time",
    functions: [f("cmp.eq (E) P1 ARG@ 0:ud\n(P1) mov (E) X! 1:ud\nadd (E) RET! X@ ARG@ <--\nfret (E)")],
    kernel:
      "mov (E) ARG! 0:ud\nfcall (E) f # #\nmov (E) R! RET@\nmov (E) ARG! 1:ud\nfcall (E) f # #\nadd (E) R! R@ RET@",
    lanes: "0-15",
    stack: ["f", "k"],
  },
  {
    title: "a subroutine has the variables of its function",
    kernel: `mov (E) X! ID@\ncall (E) sub\n${add("Y@")}`,
    subroutines: '.function "sub"\nsub:\nadd (E) Y! X@ 1:ud\nret (E)',
  },
  {
    title: "a subroutine that some lanes call",
    kernel: `mov (E) X! ID@\n${half}\n(P1) call (E) sub\n${add("Y@")} <--`,
    subroutines: '.function "sub"\nsub:\nadd (E) Y! X@ 1:ud\nret (E)',
    lanes: "8-15",
  },
  { title: "an address", kernel: "ifcall (E) F$ # # <--", lanes: "0-15", says: "the address of a call" },
];

describe.each(Object.entries({ registers, "sizes of direct calls": sizes, predicates, calls }))("%s", (_, cases) => {
  test.each(cases)("$title", (one) => {
    const { result, place } = run(one, 16);
    expect(result).toMatchObject({ problem: null, defect: null, skipped: null });
    const { stack = ["k"], says = "" } = one;
    const found = result.reports.map((report) => ({
      report: report.code,
      path: report.source.path,
      line: report.source.position(report.span.start).line,
      lanes: ranges(report.threads.map(({ thread }) => thread[0])),
      stack: report.stack.map((entry) => entry.function),
    }));
    const wanted = one.lanes === undefined ? [] : [{ report: "uninitialized-read", ...place, lanes: one.lanes, stack }];
    expect(found).toEqual(wanted);
    expect([result.reports[0]?.message, ...(result.reports[0]?.notes ?? [])].join("\n")).toContain(says);
  });

  test.each(cases.filter((one) => one.lanes === undefined))("$title, with a partial thread", (one) => {
    expect(run(one, 13).result.reports).toEqual([]);
  });
});
