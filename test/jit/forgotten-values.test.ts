import { expect, test } from "vitest";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import { loadProgram } from "../../src/program/program.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { noFeatures } from "../../src/wasm/index.ts";
import { vectorsAroundLoops } from "./live-locals.ts";

// Values of one chunk are not kept while others run: a chunk that begins needs none of them, so that by the rules of
// liveness no vector is to be brought around the loops over blocks and chunks. Kernels here have no loops of their own.
// Where a kernel has no barrier, its one loop over chunks may keep registers that lanes write one after the other.

function aroundLoops(body: string): readonly number[] {
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
  const compiled = new JitProgram(loadProgram(new PtxDevice().memory, module), 2).compiled("k", [64, 1, 1], noFeatures);
  if (typeof compiled === "string") throw new Error(compiled);
  return vectorsAroundLoops(compiled.bytes);
}

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
