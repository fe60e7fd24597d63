import { expect, test } from "vitest";
import { SourceText } from "../../src/index.ts";
import { flowGraphOf, livenessOf } from "../../src/ir/flow/index.ts";
import { withWebs } from "../../src/ir/flow/webs.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { expectSameResults } from "./both-engines.ts";

const kernel = (body: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b64 o;
    .reg .b32 t, x, y;
    .reg .pred p, q;
    ld.param.u64 o, [out];
    mov.u32 t, %tid.x;
    mad.wide.u32 o, t, 4, o;
${body}
    st.global.b32 [o], y;
    ret;
}`;

/** By name: what a kernel does, in how many registers the values of x are, and what thread t gets. */
const cases: readonly (readonly [string, string, number, (t: number) => number])[] = [
  [
    "values one after the other",
    "mov.u32 x, 3; add.u32 y, x, t; mov.u32 x, %ntid.x; add.u32 y, y, x;",
    2,
    (t) => t + 103,
  ],
  [
    "a value that is made of the last one",
    "mov.u32 x, t; add.u32 x, x, 1; mul.lo.u32 x, x, x; mov.u32 y, x;",
    3,
    (t) => (t + 1) ** 2,
  ],
  [
    "what some lanes change",
    "mov.u32 x, t; setp.gt.u32 p, t, 9; @p add.u32 x, x, 100; mov.u32 y, x;",
    1,
    (t) => (t > 9 ? t + 100 : t),
  ],
  [
    "what comes together",
    "setp.gt.u32 p, t, 9; @p bra A; mov.u32 x, 1; bra B; A: mov.u32 x, 2; B: mov.u32 y, x; mov.u32 x, t; add.u32 y, y, x;",
    2,
    (t) => (t > 9 ? 2 : 1) + t,
  ],
  [
    "what goes around",
    "mov.u32 x, 0; mov.u32 y, 0; L: add.u32 y, y, x; add.u32 x, x, 1; setp.le.u32 p, x, t; @p bra L; mov.u32 x, 5; add.u32 y, y, x;",
    2,
    (t) => (t * (t + 1)) / 2 + 5,
  ],
  ["zeros, which are there when a kernel begins", "add.u32 y, x, t; mov.u32 x, 7; add.u32 y, y, x;", 1, (t) => t + 7],
  [
    "zeros that some lanes keep",
    "setp.gt.u32 p, t, 9; @p mov.u32 x, 4; add.u32 y, x, t;",
    1,
    (t) => (t > 9 ? 4 : 0) + t,
  ],
  ["what nobody reads", "mov.u32 x, 1; mov.u32 x, 2; mov.u32 y, x;", 2, () => 2],
  [
    "a predicate that has changed since",
    "setp.gt.u32 p, t, 9; selp.u32 x, 1, 2, p; setp.gt.u32 p, t, 20; @p add.u32 x, x, 10; mov.u32 y, x;",
    1,
    (t) => (t > 9 ? 1 : 2) + (t > 20 ? 10 : 0),
  ],
  [
    "an instruction that writes its own guard",
    "mov.u32 y, 0; setp.gt.u32 p, t, 9; @p setp.gt.u32 p, t, 20; @p mov.u32 y, 3;",
    0,
    (t) => (t > 20 ? 3 : 0),
  ],
];

test.each(cases)("%s", (_, body, registers, expected) => {
  const text = kernel(body);
  const [out] = expectSameResults({ text, buffers: [new Uint8Array(400)], launch: { grid: 1, block: 100 } });
  expect([...new Uint32Array(out!.buffer, out!.byteOffset, 100)]).toEqual(
    Array.from({ length: 100 }, (_, t) => expected(t)),
  );
  expect(registersOf("x", text)).toBe(registers);
});

/** In how many registers the values are that are written to one. */
function registersOf(name: string, text: string): number {
  const { module } = compile([new SourceText("k.ptx", text)], {});
  const { instructions, registers } = module!.functions[0]!;
  const graph = flowGraphOf(instructions);
  const liveness = livenessOf({ instructions, registers }, graph, []);
  const code = withWebs({ instructions, registers }, graph, liveness, { fixed: [], returned: [] });
  const written = new Set<number>();
  for (const { dst } of code.instructions) for (const to of dst) if (typeof to === "number") written.add(to);
  return [...written].filter((r) => code.registers[r]!.name === name).length;
}
