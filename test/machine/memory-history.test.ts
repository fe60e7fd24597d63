import { expect, test, vi } from "vitest";
import { Device } from "../../src/index.ts";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import { MemoryHistory } from "../../src/machine/memory/memory-history.ts";

const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list);

/** A memory that adds one to a byte again and again. */
function counting(isComplete = true) {
  const history = new MemoryHistory(isComplete);
  const cell = { value: 0 };
  const copy = vi.fn(() => {
    const { value } = cell;
    return () => {
      cell.value = value;
    };
  });
  const add = (): void => {
    cell.value++;
  };
  const addToHistory = (): void => {
    const past = history.leave();
    add();
    if (past !== null) history.changed(past, { repeat: add }, 0);
  };
  return { history, cell, copy, add: addToHistory };
}

test("one copy serves many launches", () => {
  const { history, cell, copy, add } = counting();
  for (let n = 0; n < 100; n++) {
    const undo = history.checkpoint(copy, true);
    add();
    if (n < 99) continue;
    cell.value = -1;
    undo();
    expect(cell.value).toBe(99);
  }
  expect(copy).toHaveBeenCalledTimes(1);
});

test("after many changes there is another copy", () => {
  const { history, cell, copy, add } = counting();
  for (let n = 0; n < 3000; n++) {
    const undo = history.checkpoint(copy, true);
    if (n < 2999) add();
    else undo();
  }
  expect(cell.value).toBe(2999);
  expect(copy.mock.calls.length).toBeGreaterThan(1);
  expect(copy.mock.calls.length).toBeLessThan(10);
});

test.each([
  ["what nobody repeats", ({ history }: ReturnType<typeof counting>) => void history.leave()],
  ["what has taken long", ({ history }) => history.changed(history.leave()!, { repeat: () => {} }, 1000)],
  ["what is written without a word", ({ history }) => history.forget()],
] satisfies [string, (memory: ReturnType<typeof counting>) => void][])("after %s there is another copy", (_, act) => {
  const memory = counting();
  memory.history.checkpoint(memory.copy, true);
  act(memory);
  memory.history.checkpoint(memory.copy, true);
  expect(memory.copy).toHaveBeenCalledTimes(2);
});

test.each([
  ["that other processes see", false, true],
  ["of which copies are large", true, false],
])("a memory %s is copied each time", (_, isComplete, keeps) => {
  const { history, copy, add } = counting(isComplete);
  for (let n = 0; n < 3; n++) {
    history.checkpoint(copy, keeps);
    add();
  }
  expect(copy).toHaveBeenCalledTimes(3);
});

test("what the host has written between is written again", () => {
  const memory = new DeviceMemory();
  const [a, b] = [memory.alloc(4), memory.alloc(2 ** 17)];
  memory.checkpoint();
  const given = bytes(1, 2, 3, 4);
  memory.write(a, given);
  given.fill(9);
  const undo = memory.checkpoint();
  memory.views.u8.fill(7, a, a + 4);
  undo();
  expect([...memory.read(a, 4)]).toEqual([1, 2, 3, 4]);

  memory.checkpoint();
  memory.write(b, new Uint8Array(2 ** 17).fill(5));
  const later = memory.checkpoint();
  memory.views.u8.fill(0, b, b + 2 ** 17);
  later();
  expect(memory.read(b, 2 ** 17).every((byte) => byte === 5)).toBe(true);
});

const module = `.version 8.6
.target sm_80
.address_size 64
.const .u32 factor = 3;
.global .u32 total = 0;
.global .u32 last = 0;
.entry step(.param .u64 p, .param .u32 n)
{
.reg .b64 %p, %a;
.reg .b32 %t, %u, %v, %n;
.reg .pred %q;
ld.param.u64 %p, [p]; ld.param.u32 %n, [n];
// the number of the thread in its block
mov.u32 %t, %tid.x; mov.u32 %u, %ntid.x; mov.u32 %v, %tid.y; mad.lo.u32 %t, %u, %v, %t;
// the last of n elements are those of nobody
setp.ge.u32 %q, %t, %n;
@%q add.u32 %t, %t, 0x100000;
mul.wide.u32 %a, %t, 4;
add.u64 %a, %p, %a;
ld.global.u32 %u, [%a];
ld.const.u32 %v, [factor];
mad.lo.u32 %u, %u, %v, 1;
st.global.u32 [%a], %u;
// one thread adds how many launches there have been since the one before
mov.u64 %p, %gridid;
cvt.u32.u64 %v, %p;
add.u32 %v, %v, 1;
setp.ne.u32 %q, %t, 0;
@%q ret;
ld.global.u32 %u, [last];
st.global.u32 [last], %v;
setp.eq.u32 %q, %u, 0;
@%q ret;
sub.u32 %v, %v, %u;
atom.global.add.u32 %u, [total], %v;
ret;
}`;

/** What the host does between launches of which the last one faults. */
const between: readonly [
  string,
  (device: Device, module: ReturnType<Device["load"]>, x: ReturnType<Device["buffer"]>) => void,
][] = [
  ["nothing", () => {}],
  ["writes a little", (_, __, x) => void x.write([1000, 2000], 3)],
  ["writes a constant", (_, module) => void module.variable("factor").write(5)],
  ["writes a variable", (_, module) => void module.variable("total").write(77)],
  ["makes a buffer, and frees it", (device) => device.buffer("u32", 100).free()],
  ["loads a module", (device) => void device.load(module)],
  [
    "launches in the interpreter",
    (_, module, x) => void module.kernel("step").launch({ grid: 1, block: 32, args: [x, 32], engine: "interpreter" }),
  ],
  ["launches whole warps", (_, module, x) => void module.kernel("step").launch({ grid: 1, block: 32, args: [x, 32] })],
  [
    "launches several threads of the host",
    (_, module, x) => void module.kernel("step").launch({ grid: 4, block: [8, 8], args: [x, 64], hostThreads: 2 }),
  ],
];

// Blocks of 8 by 8 run in chunks narrower than warps, and the interpreter decides which fault is the first.
test.each(between)("a fault after launches between which the host %s is that of the interpreter", (_, act) => {
  const outcomes = (["interpreter", "jit"] as const).map((engine) => {
    const device = new Device({ engine });
    const loaded = device.load(module);
    const x = device.buffer(
      "u32",
      Array.from({ length: 64 }, (_, i) => i),
    );
    const kernel = loaded.kernel("step");
    const launch = (n: number) => kernel.launch({ grid: 1, block: [8, 8], args: [x, n] });
    for (let i = 0; i < 3; i++) expect(launch(64).ok).toBe(true);
    act(device, loaded, x);
    for (let i = 0; i < 3; i++) expect(launch(64).ok).toBe(true);
    const { reports } = launch(40);
    return {
      // What lies near the address may lie elsewhere in the two: compiled code keeps its contexts in the memory.
      reports: reports.map(({ code, threads, count }) => ({ code, threads, count })),
      x: [...(x.read() as Uint32Array)],
      total: [...loaded.variable("total").readBytes()],
    };
  });
  expect(outcomes[0]!.reports.length).toBe(1);
  expect(outcomes[1]).toEqual(outcomes[0]);
});
