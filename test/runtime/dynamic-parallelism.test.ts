import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/*
 * Kernels that launch kernels. Expectations come from the CUDA Programming Guide, "CUDA Dynamic Parallelism": a grid
 * has ended when all that it has launched has ended; launches into one stream run in order; what is launched into the
 * tail stream begins when the grid and all its other work has ended. The calls are those that nvcc writes.
 */

const header = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
  (.param .b64 f, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 buffer, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync
  (.param .b64 to, .param .b64 from, .param .b64 bytes, .param .b32 kind, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2Memcpy3DAsync (.param .b64 params, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2Memset3DAsync
  (.param .align 8 .b8 to[32], .param .b32 value, .param .align 8 .b8 extent[24], .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2Malloc (.param .b64 pointer, .param .b64 bytes);
.extern .func (.param .b32 r) __cudaCDP2GetLastError ();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError ();
.extern .func (.param .b32 r) __cudaCDP2DeviceGetAttribute (.param .b64 value, .param .b32 id, .param .b32 device);
.extern .func (.param .b32 r) __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor
  (.param .b64 blocks, .param .b64 f, .param .b32 threads, .param .b64 shared);
`;

/** Launches a kernel with the arguments %out and %value, into a stream. */
const launch = (kernel: string, grid: string, block: string, stream: number): string => `{
    .reg .b64 %f, %buffer; .reg .b32 %status;
    .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r; .param .b32 q;
    mov.u64 %f, ${kernel};
    st.param.b64 [f], %f;
    st.param.b32 [g], ${grid}; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
    st.param.b32 [b], ${block}; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
    st.param.b32 [s], 0;
    call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);
    ld.param.b64 %buffer, [r];
    st.u64 [%buffer], %out;
    st.u32 [%buffer+8], %value;
    .param .b64 p; .param .b64 t;
    st.param.b64 [p], %buffer;
    st.param.b64 [t], ${stream};
    call.uni (q), __cudaCDP2LaunchDeviceV2, (p, t);
    ld.param.b32 %status, [q];
    st.u32 [%out+60], %status;
}`;

const kernel = (name: string, body: string): string => `.visible .entry ${name}(.param .u64 a, .param .u32 b)
{
    .reg .b64 %out, %p, %q; .reg .b32 %value, %t, %x, %y; .reg .pred %c;
    ld.param.u64 %out, [a];
    ld.param.u32 %value, [b];
${body}
    ret;
}
`;

/** Appends its value, a digit, to the number at word 0: so the number shows an order. */
const append = kernel(
  "append",
  `mov.u32 %t, %tid.x;
  ld.u32 %x, [%out];
  mad.lo.u32 %x, %x, 10, %value;
  st.u32 [%out], %x;`,
);

const count = kernel("count", `atom.global.add.u32 %x, [%out], %value;`);

const value = (n: number): string => `mov.u32 %value, ${n};`;

function run(source: string, name: string, n: number, block = 1, engine: "jit" | "interpreter" = "jit") {
  const device = new Device();
  const out = device.buffer("u32", 16);
  const result = device
    .load(header + source)
    .kernel(name)
    .launch({ grid: 1, block, args: [out, n], engine });
  return { ...result, words: [...out.read()] };
}

describe.each(["jit", "interpreter"] as const)("%s", (engine) => {
  test("runs the launches of a kernel in order, and those of the tail last", () => {
    const parent = kernel(
      "parent",
      `${value(1)} ${launch("append", "1", "1", 0)}
       ${value(9)} ${launch("append", "1", "1", 3)}
       ${value(2)} ${launch("append", "1", "1", 4)}
       ${value(3)} ${launch("append", "1", "1", 0)}`,
    );
    const { words, ok } = run(append + parent, "parent", 0, 1, engine);
    expect([ok, words[0], words[15]]).toEqual([true, 1239, 0]);
  });

  test("launches with sizes and arguments of each lane", () => {
    const parent = kernel("parent", `mov.u32 %value, %tid.x; add.u32 %y, %value, 1; ${launch("count", "%y", "32", 0)}`);
    // Lane t launches (t + 1) * 32 threads that each add t.
    const sum = Array.from({ length: 20 }, (_, t) => (t + 1) * 32 * t).reduce((a, b) => a + b);
    expect(run(count + parent, "parent", 0, 20, engine).words[0]).toBe(sum);
  });

  test("lets children launch children", () => {
    const tree = kernel("tree", `${counted}${launch("tree", "1", "1", 0)}${launch("tree", "1", "1", 0)}`);
    expect(run(tree, "tree", 4, 1, engine).words[0]).toBe(31);
  });

  test("can go on in the tail for long", () => {
    const again = kernel("again", `${counted}${launch("again", "1", "1", 3)}`);
    expect(run(again, "again", 300, 1, engine).words[0]).toBe(301);
  });

  test("copies between launches", () => {
    const copy = `{
      .param .b64 to; .param .b64 from; .param .b64 n; .param .b32 k; .param .b64 s; .param .b32 r;
      add.u64 %p, %out, 4;
      st.param.b64 [to], %p; st.param.b64 [from], %out; st.param.b64 [n], 4; st.param.b32 [k], 3; st.param.b64 [s], 0;
      call.uni (r), __cudaCDP2MemcpyAsync, (to, from, n, k, s);
    }`;
    const parent = kernel(
      "parent",
      `${value(5)} ${launch("count", "1", "1", 0)} ${copy} ${value(2)} ${launch("count", "1", "1", 0)}`,
    );
    expect(run(count + parent, "parent", 0, 1, engine).words.slice(0, 2)).toEqual([7, 5]);
  });

  test("fills and copies boxes", () => {
    // Pitched pointers have an address, a pitch, a width and a height; a cudaMemcpy3DParms has an array, a position and
    // a pitched pointer for each side (source at 0, destination at 64), the extent at 128 and the kind at 152.
    const fill = `{
      .param .align 8 .b8 to[32]; .param .b32 v; .param .align 8 .b8 e[24]; .param .b64 s; .param .b32 r;
      st.param.b64 [to], %out; st.param.b64 [to+8], 8; st.param.b64 [to+16], 8; st.param.b64 [to+24], 2;
      st.param.b32 [v], 0x1ff;
      st.param.b64 [e], 4; st.param.b64 [e+8], 1; st.param.b64 [e+16], 2;
      st.param.b64 [s], 0;
      call.uni (r), __cudaCDP2Memset3DAsync, (to, v, e, s);
    }`;
    const words = { 8: 4, 16: 1, 32: "%out", 40: 8, 48: 8, 56: 2, 72: 4, 96: "%p", 104: 8, 112: 8, 120: 1 };
    const extent = { 128: 4, 136: 2, 144: 1 };
    const copy = `{
      .local .align 8 .b8 params[160];
      .param .b64 a; .param .b64 s; .param .b32 r;
      ${Array.from({ length: 20 }, (_, i) => `st.local.u64 [params+${8 * i}], 0;`).join(" ")}
      add.u64 %p, %out, 32;
      ${Object.entries({ ...words, ...extent })
        .map(([at, word]) => `st.local.u64 [params+${at}], ${word};`)
        .join(" ")}
      mov.u64 %q, params; cvta.local.u64 %q, %q;
      st.param.b64 [a], %q; st.param.b64 [s], 0;
      call.uni (r), __cudaCDP2Memcpy3DAsync, (a, s);
      ld.param.b32 %x, [r]; st.u32 [%out+60], %x;
    }`;
    const write = [1, 3, 5, 7].map((i) => `st.u32 [%out+${4 * i}], ${i};`).join(" ");
    const result = run(kernel("parent", `${write} ${fill} ${copy}`), "parent", 0, 1, engine);
    // The fill writes the first word of both layers of two rows; the copy takes the second words of rows 1 and 2 (one
    // row of the first layer and one beyond it) to the second words of rows 4 and 5.
    const ones = 0xffff_ffff;
    expect(result.words).toEqual([ones, 1, 0, 3, ones, 5, 0, 7, 0, 3, 0, 5, 0, 0, 0, 0]);
  });

  test("refuses what is no launch", () => {
    const parent = kernel("parent", launch("count", "1", "2000", 0));
    const { words } = run(count + parent, "parent", 1, 1, engine);
    // cudaErrorInvalidConfiguration, at byte 60.
    expect([words[0], words[15]]).toEqual([0, 9]);
  });

  test("keeps the last error of each thread until it is asked for", () => {
    const ask = (name: string, at: number): string => `{
      .param .b32 e; call.uni (e), __cudaCDP2${name}, (); ld.param.b32 %x, [e]; st.u32 [%out+${at}], %x;
    }`;
    const asked = [ask("PeekAtLastError", 4), ask("GetLastError", 8), ask("GetLastError", 12)].join("");
    const parent = kernel("parent", launch("count", "1", "2000", 0) + asked);
    expect(run(count + parent, "parent", 1, 1, engine).words.slice(1, 4)).toEqual([9, 9, 0]);
  });

  test("asks the device for attributes and for occupancy", () => {
    const questions = `{
      .param .b64 v; .param .b32 id; .param .b32 d; .param .b32 r; .param .b64 f; .param .b64 s;
      st.param.b64 [v], %out; st.param.b32 [id], %value; st.param.b32 [d], 0;
      call.uni (r), __cudaCDP2DeviceGetAttribute, (v, id, d);
      ld.param.b32 %x, [r]; st.u32 [%out+4], %x;
      add.u64 %p, %out, 8; mov.u64 %q, parent;
      st.param.b64 [v], %p; st.param.b64 [f], %q; st.param.b32 [id], 64; st.param.b64 [s], 100;
      call.uni (r), __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor, (v, f, id, s);
      ld.param.b32 %x, [r]; st.u32 [%out+12], %x;
    }`;
    const device = new Device();
    const out = device.buffer("u32", 16);
    const parent = device.load(header + kernel("parent", questions)).kernel("parent");
    const deviceFacts = {
      attribute: (id: number) => (id === 10 ? 32 : null),
      limit: () => null,
      functionAttributes: () => null,
      residentBlocks: (name: string, threads: number, shared: number) => (name === "parent" ? threads + shared : 0),
    };
    const asked = (id: number, more: object = { deviceFacts }): number[] => {
      parent.launch({ grid: 1, block: 1, args: [out, id], engine, ...more });
      return [...out.read()].slice(0, 4);
    };
    expect(asked(10)).toEqual([32, 0, 164, 0]);
    // cudaErrorInvalidValue, and cudaErrorNotSupported where there is nobody to ask
    expect(asked(999)[1]).toBe(1);
    expect([asked(10, {})[1], asked(10, {})[3]]).toEqual([801, 801]);
  });
});

test("waits for children in workers too", async () => {
  const device = new Device({ hostThreads: 2 });
  const out = device.buffer("u32", 16);
  const parent = kernel("parent", `${value(3)} ${launch("count", "4", "32", 0)}`);
  const loaded = device.load(header + count + parent);
  await loaded.kernel("parent").launchAsync({ grid: 5, block: 2, args: [out, 0] });
  expect(out.read()[0]).toBe(5 * 2 * 4 * 32 * 3);
});

test("memory that device code asks for is initialized where the pointer is", () => {
  const parent = kernel(
    "parent",
    `.local .align 8 .b8 room[8];
     .param .b64 p; .param .b64 n; .param .b32 r;
     mov.u64 %p, room;
     cvta.local.u64 %p, %p;
     st.param.b64 [p], %p; st.param.b64 [n], 16;
     call.uni (r), __cudaCDP2Malloc, (p, n);
     ld.u64 %q, [%p];
     st.u32 [%q], 7;
     ld.u32 %x, [%q];
     st.u32 [%out], %x;`,
  );
  const device = new Device();
  const out = device.buffer("u32", 16);
  const { reports } = device
    .load(header + parent)
    .kernel("parent")
    .launch({ grid: 1, block: 1, args: [out, 0], sanitize: ["init"] });
  expect(reports.map(({ code }) => code)).toEqual([]);
  expect(out.read()[0]).toBe(7);
});

/** Counts the launch, and goes on with one less until nothing is left. */
const counted = `atom.global.add.u32 %x, [%out], 1;
  setp.eq.u32 %c, %value, 0;
  @%c ret;
  sub.u32 %value, %value, 1;
`;
