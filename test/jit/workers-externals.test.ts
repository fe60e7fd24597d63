import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const head = `.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 size);
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);
.global .align 1 .b8 text[7] = {37, 100, 58, 37, 100, 10, 0};`;

/** Each thread prints its block and its number: "3:5" and the end of the line. */
const printing = `${head}
.visible .entry printing(.param .u32 faulty, .param .u64 nowhere) {
  .local .align 8 .b8 args[8];
  .reg .pred p; .reg .u32 %a<4>; .reg .u64 %d<6>; .param .b64 x; .param .b64 y; .param .b32 r;
  mov.u32 %a1, %ctaid.x; mov.u32 %a2, %tid.x; ld.param.u32 %a3, [faulty]; ld.param.u64 %d3, [nowhere];
  st.local.u32 [args], %a1; st.local.u32 [args+4], %a2;
  mov.u64 %d1, text; cvta.global.u64 %d1, %d1; mov.u64 %d2, args; cvta.local.u64 %d2, %d2;
  st.param.b64 [x], %d1; st.param.b64 [y], %d2;
  call (r), vprintf, (x, y);
  setp.ge.u32 p, %a1, %a3; @p st.global.u32 [%d3], %a1;
  ret;
}`;

/** Thread 0 of each block takes so many bytes, and writes its number to both ends. */
const taking = `${head}
.visible .entry taking(.param .u64 list, .param .u64 bytes) {
  .reg .u32 %a<4>; .reg .u64 %d<8>; .param .b64 s; .param .b64 r;
  ld.param.u64 %d1, [list]; ld.param.u64 %d2, [bytes]; mov.u32 %a1, %ctaid.x;
  st.param.b64 [s], %d2;
  call (r), malloc, (s);
  ld.param.b64 %d3, [r];
  add.u64 %d4, %d3, %d2; st.u32 [%d3], %a1; st.u32 [%d4+-4], %a1;
  mul.wide.u32 %d5, %a1, 8; add.u64 %d6, %d1, %d5; st.global.u64 [%d6], %d3;
  ret;
}`;

/** Reads both ends of what \`taking\` has taken. */
const looking = `${head}
.visible .entry looking(.param .u64 list, .param .u64 bytes, .param .u64 out) {
  .reg .u32 %a<4>; .reg .u64 %d<10>;
  ld.param.u64 %d1, [list]; ld.param.u64 %d2, [bytes]; ld.param.u64 %d7, [out]; mov.u32 %a1, %ctaid.x;
  mul.wide.u32 %d5, %a1, 8; add.u64 %d6, %d1, %d5; ld.global.u64 %d3, [%d6]; add.u64 %d4, %d3, %d2;
  ld.u32 %a2, [%d3]; ld.u32 %a3, [%d4+-4]; add.u64 %d8, %d7, %d5; st.global.v2.u32 [%d8], {%a2, %a3};
  ret;
}`;

const lines = (blocks: number, threads: number): string[] =>
  Array.from({ length: blocks * threads }, (_, i) => `${Math.floor(i / threads)}:${i % threads}\n`);

describe.each([
  ["with the calling thread", false],
  ["apart from it", true],
])("blocks run %s", (_, apart) => {
  test("what they print comes in the order of the grid, and at last as a whole", async () => {
    const device = new Device({ engine: "jit", hostThreads: 3 });
    const kernel = device.load(printing).kernel("printing");
    const seen: string[] = [];
    const onOutput = (text: string): void => {
      seen.push(text);
    };
    const options = { grid: 100, block: 32, args: [100, 0n], onOutput };
    const result = apart ? await kernel.launchAsync(options) : kernel.launch(options);
    expect(result).toMatchObject({ engine: "jit", ok: true });
    expect(result.stdout).toBe(lines(100, 32).join(""));
    expect(seen.join("")).toBe(result.stdout);
    expect(seen.length).toBeGreaterThan(1);
  });

  test("what is printed after a fault is not there, as in the interpreter", async () => {
    const stdout = async (engine: "jit" | "interpreter"): Promise<string> => {
      const device = new Device({ engine, hostThreads: 3 });
      const kernel = device.load(printing).kernel("printing");
      const options = { grid: 60, block: 32, args: [20, 0n] };
      const result = apart ? await kernel.launchAsync(options) : kernel.launch(options);
      expect(result.engine).toBe(engine);
      expect(result.reports.map((r) => [r.code, r.threads[0]?.block])).toEqual([["null-dereference", [20, 0, 0]]]);
      return result.stdout;
    };
    expect(await stdout("jit")).toBe(await stdout("interpreter"));
  });

  test("memory that blocks take grows under all of them", async () => {
    const [blocks, bytes] = [60, 2 ** 20];
    const device = new Device({ engine: "jit", hostThreads: 3 });
    const [list, out] = [device.buffer("u64", blocks), device.buffer("u32", 2 * blocks)];
    for (const [text, name, args] of [
      [taking, "taking", [list, bytes]],
      [looking, "looking", [list, bytes, out]],
    ] as const) {
      const options = { grid: blocks, block: 1, args };
      const kernel = device.load(text).kernel(name);
      const result = apart ? await kernel.launchAsync(options) : kernel.launch(options);
      expect(result).toMatchObject({ engine: "jit", reports: [] });
    }
    const places = [...list.read()].sort((a, b) => Number(a - b));
    expect(places.slice(1).every((place, i) => place - places[i]! >= bytes)).toBe(true);
    expect([...out.read()]).toEqual(Array.from({ length: 2 * blocks }, (_, i) => i >> 1));
  });
});
