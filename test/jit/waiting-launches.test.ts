import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/*
 * CUDA Programming Guide, "Concurrent Kernel Execution": kernels in different streams may run at the same time. One
 * that waits for what another writes ends when both run.
 */

/** `await` waits until its word is 1, `tell` writes it. */
const kernels = `
.visible .entry await(.param .u64 word)
{
  .reg .b64 %d; .reg .b32 %r; .reg .pred %p;
  ld.param.u64 %d, [word];
again:
  ld.volatile.global.u32 %r, [%d];
  setp.ne.u32 %p, %r, 1;
  @%p bra again;
  st.global.u32 [%d+4], 2;
  ret;
}
.visible .entry tell(.param .u64 word)
{
  .reg .b64 %d;
  ld.param.u64 %d, [word];
  st.volatile.global.u32 [%d], 1;
  ret;
}`;

/** What else their module has, of which they make no use. */
const neighbours: Readonly<Record<string, string>> = {
  "nothing else": "",
  "a kernel of clusters": ".visible .entry k() { barrier.cluster.arrive; barrier.cluster.wait; ret; }",
  "a function of the device's runtime":
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 buffer, .param .b64 stream);",
  "recursion without an end that is known": `.func (.reg .b32 %s) sum(.reg .b32 %n)
{
  .reg .pred %p; .reg .b32 %m;
  mov.u32 %s, 0; setp.eq.u32 %p, %n, 0; @%p ret;
  sub.u32 %m, %n, 1; call (%s), sum, (%m); add.u32 %s, %s, %n;
  ret;
}
.visible .entry k(.param .u32 n) { .reg .b32 %r, %s; ld.param.u32 %r, [n]; call (%s), sum, (%r); ret; }`,
};

test.each(Object.entries(neighbours))(
  "a launch waits for one in another stream, in a module with %s",
  async (_, more) => {
    const device = new Device({ engine: "jit" });
    const word = device.buffer("u32", 2);
    const module = device.load(`.version 8.6\n.target sm_90\n.address_size 64\n${more}${kernels}`);
    const one = { grid: 1, block: 1, args: [word] };
    const [waits, tells] = await Promise.all(
      ["await", "tell"].map((name) => module.kernel(name).launchAsync({ ...one, stream: device.stream() })),
    );
    expect([waits!.reports, tells!.reports]).toEqual([[], []]);
    expect(waits!.engine).toBe("jit");
    expect([...word.read()]).toEqual([1, 2]);
  },
);
