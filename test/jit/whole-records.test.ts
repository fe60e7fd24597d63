import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/*
 * Records of 8 and 16 bytes that blocks of several host threads write and read at the same time. GPUs move them whole,
 * as CUB expects of them: its scans keep the state of a tile beside its sum.
 */

const rounds = 2000;
const blocks = 256;

const kernel = (vector: string, register: string, elements: readonly string[]): string => {
  const list = elements.join(", ");
  return `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 records, .param .u64 torn)
{
    .reg .${register} ${list}, %value;
    .reg .b32 %i, %t, %c, %n;
    .reg .b64 %r, %out, %o;
    .reg .pred %p, %differ;
    ld.param.u64 %r, [records];
    ld.param.u64 %out, [torn];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 16;
    add.u64 %r, %r, %o;
    mov.u32 %c, %ctaid.x;
    mul.lo.u32 %i, %c, ${rounds};
    cvt.u${register.slice(1)}.u32 %value, %i;
    mov.u32 %i, 0;
    mov.u32 %n, 0;
again:
    add.u${register.slice(1)} %value, %value, 1;
    st.relaxed.gpu.global.${vector} [%r], {${elements.map(() => "%value").join(", ")}};
    ld.relaxed.gpu.global.${vector} {${list}}, [%r];
${elements
  .slice(1)
  .map((element) => `    setp.ne.${register} %differ, ${elements[0]}, ${element};\n    @%differ add.u32 %n, %n, 1;`)
  .join("\n")}
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, ${rounds};
    @%p bra again;
    red.global.add.u32 [%out], %n;
    ret;
}
`;
};

test.each([
  ["v2.u32", "b32", ["%a", "%b"]],
  ["v4.u32", "b32", ["%a", "%b", "%c0", "%d"]],
  ["v2.u64", "b64", ["%a", "%b"]],
] as const)("none is torn: %s", (vector, register, elements) => {
  const device = new Device({ hostThreads: 2 });
  const records = device.buffer("u8", 32 * 16);
  const torn = device.buffer("u32", 1);
  const module = device.load({ path: "records.ptx", text: kernel(vector, register, elements) });
  const result = module.kernel("k").launch({ grid: blocks, block: 32, args: [records, torn] });
  expect(result).toMatchObject({ ok: true, engine: "jit" });
  expect([...torn.read()]).toEqual([0]);
});
