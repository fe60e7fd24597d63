import { expect, test } from "vitest";
import { Device } from "../../../src/runtime/index.ts";
import { cases } from "./cases.ts";
import { inputWords, kernelText, moduleText, opcodeOf } from "./kernel.ts";
import { type Case, prepare } from "./model.ts";

/** What is wrong with the results of cases, one line each at most. */
function problems(chosen: readonly Case[], engine: "interpreter" | "jit", sanitize: "all" | []): string[] {
  const prepared = chosen.map(prepare);
  const device = new Device();
  const module = device.load(moduleText(chosen.map((c, i) => kernelText(`k${i}`, c, prepared[i]!))));
  return chosen.flatMap((c, i) => {
    const { image, registersOfD } = prepared[i]!;
    const expected = registersOfD.flat();
    const out = device.buffer(new Uint32Array(expected.length));
    const args = [device.buffer(image), device.buffer(inputWords(c, prepared[i]!)), out];
    const { reports } = module.kernel(`k${i}`).launch({ grid: 1, block: 128, args, engine, sanitize });
    const about = `${opcodeOf(c)}, A ${JSON.stringify(c.left)}, B ${JSON.stringify(c.right)}`;
    if (reports.length > 0) return [`${about}: ${reports[0]!.code}: ${reports[0]!.message}`];
    const found = out.read();
    const wrong = expected.findIndex((value, at) => Number(found[at]) !== value);
    if (wrong < 0) return [];
    const count = registersOfD[0]!.length;
    const place = `register ${wrong % count} of thread ${Math.floor(wrong / count)}`;
    return [`${about}: ${place} is ${Number(found[wrong]).toString(16)}, expected ${expected[wrong]!.toString(16)}`];
  });
}

const formOf = (c: Case): string =>
  `${opcodeOf(c).replace(/n\d+k/, "nNk").replace(".satfinite", "")}, A in ${c.left === null ? "registers" : "shared memory"}`;

const keyOf = (c: Case): string => `${c.selector === null ? "dense" : "sparse"} ${c.a} ${c.left === null}`;
const byForm = [...new Set(cases.map(keyOf))].map((key) => cases.filter((c) => keyOf(c) === key));

test.each(byForm.map((list) => ({ form: formOf(list[0]!), list })))(
  "$form",
  ({ list }) => {
    expect(problems(list, "interpreter", [])).toEqual([]);
  },
  120_000,
);

test("the compiler gives the same", () => {
  const chosen = byForm.flatMap((list) => list.filter((c) => c.n === 8 || c.n === 48));
  expect(problems(chosen, "jit", [])).toEqual([]);
}, 300_000);

test("no report of a sanitizer", () => {
  const chosen = byForm.flatMap((list) => list.filter((c) => c.n === 24));
  expect(problems(chosen, "interpreter", "all")).toEqual([]);
}, 120_000);
