import { expect, test } from "vitest";
import type { Quads } from "../../src/jit/abi/launch-shape.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { loadProgram } from "../../src/program/program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { noFeatures } from "../../src/wasm/index.ts";
import { vectorsAroundLoops, vectorsInLoops } from "./live-locals.ts";

// Values of one chunk are not kept while others run: a chunk that begins needs none of them, so that by the rules of
// liveness no vector is to be brought around the loops over blocks and chunks. Where a kernel has no barrier and chunks
// are small, its one loop over chunks may keep registers that lanes write one after the other.

function compiled(body: string, quads: Quads): Uint8Array {
  const text = `.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %p, %at, %o; .reg .b32 %t, %x, %y, %z; .reg .pred %q, %r; .shared .align 4 .b32 s[64];
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.s64 %at, %p, %o;
  ld.global.u32 %x, [%at];
${body}
  ret;
}`;
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)]);
  if (module === null) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  const found = new JitProgram(loadProgram(new PtxDevice().memory, module), quads).compiled(
    "k",
    [64, 1, 1],
    noFeatures,
  );
  if (typeof found === "string") throw new Error(found);
  return found.bytes;
}

const aroundLoops = (body: string, quads: Quads = 2): readonly number[] => vectorsAroundLoops(compiled(body, quads));

const gather = "and.b32 %y, %x, 63;\n mul.wide.u32 %o, %y, 4;\n add.s64 %o, %p, %o;\n ld.global.u32 %y, [%o];";

test.each([
  ["loads of some lanes", `  setp.lt.s32 %q, %x, 0;\n  @%q bra END;\n  ${gather}\n  st.global.u32 [%at], %y;\nEND:`],
  [
    "barrier regions",
    `  mov.u32 %z, s;\n  mad.lo.u32 %z, %t, 4, %z;\n  st.shared.u32 [%z], %x;\n  bar.sync 0;
  setp.lt.s32 %q, %x, 0;\n  @%q bra ELSE;\n  ${gather}\n  bra JOIN;
ELSE:\n  mov.u32 %y, %x;\n  sub.u32 %y, %y, %t;\nJOIN:\n  st.global.u32 [%at], %y;`,
  ],
])("no vectors are kept from chunk to chunk: %s", (_, body) => {
  const around = aroundLoops(body);
  expect(around.length).toBeGreaterThan(0);
  expect(Math.max(...around)).toBe(0);
});

/** What lies beside each lane, clamped at the ends of the block: places that are computed only where they are clamped. */
const clamped = `  mov.u32 %z, s;\n  mad.lo.u32 %z, %t, 4, %z;\n  st.shared.u32 [%z], %x;\n  add.s32 %y, %t, -1;
  max.s32 %y, %y, 0;\n  mov.u32 %z, s;\n  mad.lo.u32 %y, %y, 4, %z;\n  bar.sync 0;
  ld.shared.u32 %x, [%y];\n  st.global.u32 [%at], %x;\n  bar.sync 0;\n  ld.shared.u32 %x, [%y];\n  bar.sync 0;
  mov.u32 %z, s;\n  mad.lo.u32 %z, %t, 4, %z;\n  st.shared.u32 [%z], %x;\n  bar.sync 0;
  ld.shared.u32 %x, [%y];\n  st.global.u32 [%at], %x;`;

test("no clamped places are kept from chunk to chunk", () => {
  const around = aroundLoops(clamped, 4);
  expect(around.length).toBeGreaterThan(0);
  expect(Math.max(...around)).toBe(0);
});

/** A sum over as many rounds as each lane has loaded: the ones that four do not divide, then four at a time. */
const trips = `  mov.u32 %y, 0;\n  and.b32 %z, %x, 3;\n  setp.eq.u32 %q, %z, 0;\n  @%q bra FOURS;
ONES:\n  ld.global.u32 %t, [%at];\n  mad.lo.u32 %y, %t, 3, %y;\n  add.s64 %at, %at, 128;\n  sub.u32 %z, %z, 1;
  setp.ne.u32 %q, %z, 0;\n  @%q bra ONES;
FOURS:\n  setp.lt.u32 %q, %x, 4;\n  @%q bra DONE;\n  mul.wide.u32 %o, %x, 4;\n  add.s64 %o, %o, %p;
AGAIN:\n  ld.global.u32 %t, [%o];\n  mad.lo.u32 %y, %t, 5, %y;\n  add.s64 %o, %o, 512;\n  sub.u32 %x, %x, 4;
  setp.ge.u32 %q, %x, 4;\n  @%q bra AGAIN;
DONE:\n  shfl.sync.bfly.b32 %z, %y, 1, 31, -1;\n  add.u32 %y, %y, %z;\n  st.global.u32 [%at], %y;`;

test("no vectors are kept from chunk to chunk of a whole warp whose lanes leave loops at different times", () => {
  const around = aroundLoops(trips, 8);
  // The loops over chunks and over blocks are around all others, which are found first.
  expect(around.length).toBeGreaterThan(4);
  expect(around.slice(-2)).toEqual([0, 0]);
});

test("the code for converged lanes does not keep what that for diverged lanes only seems to read", () => {
  // The loops of the code for diverged lanes need nine vectors for each of the eight quads, and one more.
  expect(Math.max(...vectorsInLoops(compiled(trips, 8)))).toBeLessThanOrEqual(73);
});
