import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/*
 * All threads fault after a barrier, at which every schedule begins again with the first. With much memory in use the
 * compiler reports what it has found itself.
 */
const kernel = (body: string): string => `.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 s);
.visible .entry k(.param .u64 out)
{
    .reg .b64 %p;
    .reg .b32 %t;
    ${body}
    bar.sync 0;
    mov.u32 %t, %tid.x;
    st.u32 [%p+128], %t;
    ret;
}
`;
const bodies = {
  malloc: "{ .param .b64 s, r; st.param.b64 [s], 16; call (r), malloc, (s); ld.param.b64 %p, [r]; }",
  "a buffer": "ld.param.u64 %p, [out];",
  "a shuffle": "ld.param.u64 %p, [out]; mov.u32 %t, %tid.x; shfl.sync.idx.b32 %t, %t, 3, 31, -1;",
};

const cases = Object.entries(bodies).flatMap(([name, body]) => [
  [name, body, 0] as const,
  [`${name}, with 3 MiB in use`, body, 3 << 20] as const,
]);

test.each(cases)("both engines name the same threads: %s", (_, body, bytes) => {
  const reported = (["interpreter", "jit"] as const).map((engine) => {
    const device = new Device({ engine });
    if (bytes > 0) device.buffer("u8", bytes);
    const args = [device.buffer("u32", 1)];
    const { reports } = device.load(kernel(body)).kernel("k").launch({ grid: 1, block: 64, args });
    return reports.map(({ code, threads, count }) => ({ code, threads, count }));
  });
  expect(reported[0]).toHaveLength(1);
  expect(reported[1]).toEqual(reported[0]);
});
