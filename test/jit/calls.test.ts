import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import { type CallCase, callCasesIn } from "../docs/calls-cases.ts";

const folders = ["../docs/calls/", "../ir/flow/frames/"];
const cases = folders
  .flatMap((folder) => callCasesIn(new URL(folder, import.meta.url)))
  .filter((c) => c.runs)
  .map((c) => [c.name, c] as const);

function launch({ text, threads }: CallCase, engine: "interpreter" | "jit") {
  const device = new Device();
  const out = device.buffer("u32", threads);
  const result = device
    .load(text)
    .kernel("k")
    .launch({ grid: 1, block: threads, args: [out], engine });
  const reports = result.reports.map(({ code, message, span, stack, threads }) => ({
    code,
    message,
    span,
    stack: stack.map((s) => `${s.function} ${s.span.start}`),
    // The others of its warp may be in other chunks, which have not come as far.
    thread: threads[0],
  }));
  return { engine: result.engine, outcome: { out: [...out.read()], stdout: result.stdout, reports } };
}

/** What is given up on the way, since calls nest more deeply than the host's stack allows. */
const tooDeep = ["recursion without an end"];

test.each(cases)("%s", (name, c) => {
  const compiled = launch(c, "jit");
  expect(compiled.engine).toBe(tooDeep.includes(name) ? "interpreter" : "jit");
  expect(compiled.outcome).toEqual(launch(c, "interpreter").outcome);
});
