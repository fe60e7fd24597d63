import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { originReader } from "../../src/cli/terminal/origin-files.ts";
import { Console } from "../../src/debugger/console/console.ts";
import { Session } from "../../src/debugger/session.ts";
import { Device } from "../../src/index.ts";
import { plainStyle } from "../../src/source/index.ts";

const folder = fileURLToPath(new URL("../../examples/cuda/", import.meta.url));
const read = (name: string): string => readFileSync(`${folder}${name}`, "utf8");
const move = "_Z4movePN7physics8ParticleEPfid";

/** The number of the first line of a source that contains a text. */
const lineWith = (file: string, text: string): number =>
  read(file)
    .split("\n")
    .findIndex((line) => line.includes(text)) + 1;

/** One particle for each of `count` threads: at (i + 1, 2, 3), mass 1.5, history {7, 8, 9}, `next` null. */
function particlesOf(count: number): Uint8Array {
  const bytes = new Uint8Array(48 * count);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < count; i++) {
    [i + 1, 2, 3].forEach((value, axis) => void view.setFloat32(48 * i + 4 * axis, value, true));
    view.setFloat64(48 * i + 16, 1.5, true);
    [7, 8, 9].forEach((value, n) => void view.setInt16(48 * i + 32 + 2 * n, value, true));
  }
  return bytes;
}

function consoleOf(session: Session): (command: string) => Promise<string> {
  const console = new Console(session, { style: plainStyle, width: 100, readSource: originReader([folder]) });
  return async (command) => (await console.run(command)).text;
}

/** A debugger of `move` with 8 threads, which stands where a line is reached. */
async function atLine(text: string) {
  const device = new Device();
  const all = device.buffer(particlesOf(8));
  const out = device.buffer("f32", 9);
  const kernel = device.load({ path: "particles.ptx", text: read("particles.ptx") }).kernel(move);
  const launch = () => kernel.begin({ grid: 1, block: 8, args: [all, out, 8, 0.5] });
  const session = new Session(device.memory, [launch], { readOrigin: originReader([folder]) });
  const say = consoleOf(session);
  await say(`tbreak particles.cu:${lineWith("particles.cu", text)}`);
  await say("continue");
  await say("lane 2");
  return { say, session };
}

test("variables have the values and the form that the source gives them", async () => {
  const { say } = await atLine("p.at.x += scale[0]");
  const values: Record<string, string> = {
    p: "{at = {x = 3, y = 2, z = 3}, mass = 1.5, kind = physics::Moving, flag = physics::Flag::On, alive = true, tag = 99 'c', history = {7, 8, 9}, next = 0x0}",
    "p.at.x": "3",
    "p.history[2]": "9",
    "all[1].at.x": "2",
    "(all + 1)->at.x": "2",
    "*(out + 1)": "0",
    "*all[3].history": "7",
    i: "2",
    dt: "0.5",
    count: "8",
    grid: "{{2, 1, 2}, {3, 4, 5}}",
    "grid[1][2]": "5",
    "word.value": "3",
    "/x word.bits": "0x40400000",
    "/x big": "0xfedcba9876543212",
    small: "-5 '\\373'",
    scale: "{2, 0.5}",
    steps: "7",
    "shared[3]": "{0, 0}",
    "i * 10 + steps": "27",
    "p.at.x / 8": "0.375",
    "threadIdx.x": "2",
    blockDim: "{x = 8, y = 1, z = 1}",
    "threadIdx.x == i": "true",
    "&all[1] == all + 1": "true",
    "p.kind": "physics::Moving",
  };
  for (const [expression, value] of Object.entries(values)) {
    expect([expression, await say(`print ${expression}`)]).toEqual([expression, value]);
  }
  expect(await say("print target")).toMatch(/^\(float \*\) 0x7f[0-9a-f]+$/);
  expect(await say("print place")).toMatch(/^\(const Vec &\) @0x[0-9a-f]+: \{x = 3, y = 2, z = 3\}$/);
  expect(await say("print &p.at")).toMatch(/^\(Vec \*\) 0x[0-9a-f]+$/);
  expect(await say("whatis grid")).toBe("int [2][3]");
});

test("mistakes in expressions of the source are explained", async () => {
  const { say } = await atLine("int i = total(grid[1])");
  expect(await say("print p.mas")).toMatch(/^there is no member mas: at, mass, kind/);
  expect(await say("print dt.x")).toMatch(/^this has no members/);
  expect(await say("print *dt")).toMatch(/^this is neither an array nor a pointer/);
  expect(await say("print p + 1")).toMatch(/^this has several values/);
  expect(await say("print *p.next")).toMatch(/no readable memory at 0x0/);
  expect(await say("print sum")).toMatch(/^there is no sum here/);
});

test("a block's variable hides that of the block around it", async () => {
  const { say } = await atLine("steps += i;");
  expect(await say("print i")).toBe("12");
  const locals = (await say("info locals")).split("\n").filter((text) => text.startsWith("i ="));
  expect(locals).toEqual(["i = 12", `i = 2  (hidden: line ${lineWith("particles.cu", "int i = blockIdx")})`]);
});

test("parameters, frames and steps in functions that are called", async () => {
  const { say, session } = await atLine("*target = shared");
  await say("break depth");
  expect(await say("continue")).toContain(`particles.cu:${lineWith("particles.cu", "if (n <= 0) return 0")}`);
  expect(await say("info args")).toBe("n = 3");
  await say("delete");
  await say("next");
  expect(session.view.frame!.place!.line).toBe(lineWith("particles.cu", "int below = depth"));
  await say("step");
  expect(session.view.frames).toHaveLength(3);
  await say("next");
  expect(await say("print n")).toBe("2");
  await say("finish");
  expect(await say("info args")).toBe("n = 3");
  expect(await say("next")).toContain("return below + 1;");
  expect(await say("print below")).toBe("2");
  const [first, second] = (await say("backtrace")).split("\n");
  expect(first).toContain(`particles.cu:${lineWith("particles.cu", "return below + 1")}`);
  expect(second).toContain(`particles.cu:${lineWith("particles.cu", "*target = shared")}`);
});

test("before a function's first instructions have run, its parameters are not shown", async () => {
  const { say, session } = await atLine("*target = shared");
  await say("break _Z5depthi+0");
  await say("continue");
  expect(session.view.frame!.site.index).toBe(0);
  expect(await say("info args")).toBe("n = <it is not there yet: the function's first instructions load it>");
});

test("variables can be set and watched, and conditions can name them", async () => {
  const { say } = await atLine("int i = total(grid[1])");
  expect(await say("set p.mass = 2.5")).toBe("p.mass = 2.5");
  expect(await say("set p.tag = 122")).toBe("p.tag = 122 'z'");
  expect(await say("set count = 9")).toBe("count = 9");
  expect(await say("print p")).toContain(
    "mass = 2.5, kind = physics::Moving, flag = physics::Flag::On, alive = true, tag = 122",
  );
  expect(await say("watch shared[2][1]")).toMatch(/^watchpoint \d+ \(change\): 4 bytes at/);
  expect(await say("continue")).toMatch(/watchpoint \d+ \(change\) shared\[2\]\[1\]/);
  await say("delete");
  await say(`break particles.cu:${lineWith("particles.cu", "all[i] = p;")} if i == 5 && p.at.x > 6`);
  expect(await say("continue")).toContain("thread (5,0,0)");
});

test("info cuda and info line", async () => {
  const { say } = await atLine("int i = total(grid[1])");
  const line = lineWith("particles.cu", "int i = total(grid[1])");
  expect(await say("info cuda threads")).toMatch(/\* +\(0,0,0\) +\(0,0,0\) +\(7,0,0\) +8 +next/);
  expect(await say("info cuda kernels")).toContain(
    `1 of 1  (1,1,1)  (8,1,1)   move(physics::Particle*, float*, int, double)`,
  );
  expect(await say("info cuda blocks")).toContain("1 of 1 warps");
  expect(await say("info cuda warps")).toContain("0x000000ff");
  expect((await say("info cuda lanes")).split("\n")).toHaveLength(9);
  expect(await say("info cuda stars")).toBe("info cuda: expected kernels, blocks, warps, lanes, threads");
  expect(await say("info line")).toMatch(
    new RegExp(`^line ${line} of .*particles\\.cu: move\\(physics::Particle\\*, float\\*, int, double\\)\\+\\d+`),
  );
  expect(await say("list")).toContain(`→${String(line).padStart(5)} |     int i = total(grid[1]);`);
});

function scan(): { readonly say: (command: string) => Promise<string>; readonly session: Session } {
  const device = new Device();
  const args = [device.buffer("f32", 64), device.buffer("f32", 1)];
  const kernel = device.load({ path: "scan.ptx", text: read("scan.ptx") }).kernel("sum");
  const launch = () => kernel.begin({ grid: 1, block: 64, args });
  const session = new Session(device.memory, [launch], { readOrigin: originReader([folder]) });
  return { say: consoleOf(session), session };
}

test("in optimized code, inlined functions are frames: next passes over them, step enters them", async () => {
  const { say, session } = scan();
  const line = lineWith("scan.cu", "T sum = warpSum(element");
  await say(`break scan.cu:${line}`);
  // At the breakpoint's own line, although the instruction is of a function that is inlined there.
  expect(await say("continue")).toContain(`scan.cu:${line} (`);
  expect(session.focus.frame).toBe(1);
  await say("delete");
  expect(await say("backtrace")).toMatch(/#0 .*scan\.cu:2 .*inlined\n→ #1 .*inlined\n +#2 +sum at/);
  const before = session.now;
  expect(await say("step")).toContain("scan.cu:2 (");
  expect(session.now).toBe(before);
  await say("up");
  await say("next");
  expect(session.view.frame!.place!.line).toBe(lineWith("scan.cu", "if (threadIdx.x % 32 == 0) part"));
  const { now } = session;
  await say("nexti");
  expect(session.now).toBe(now + 1);
});

test("code without variables says why there are none", async () => {
  const { say } = scan();
  expect(await say("info locals")).toMatch(/^no variables of the source for sum: .*nvcc -G/);
  expect(await say("info args")).toMatch(/^no variables of the source for sum: .*nvcc -G/);
  expect(await say("print threadIdx.x")).toBe("0");
});

test("debug information that is damaged leaves the program as it is", async () => {
  const device = new Device();
  const text = read("particles.ptx").replace(/(\.section\s+\.debug_abbrev\s*\{\s*)\.b8 1/, "$1.b8 77");
  const args = [device.buffer(particlesOf(8)), device.buffer("f32", 9), 8, 0.5];
  const kernel = device.load({ path: "particles.ptx", text }).kernel(move);
  const session = new Session(device.memory, [() => kernel.begin({ grid: 1, block: 8, args })]);
  const say = consoleOf(session);
  expect(await say("info locals")).toMatch(
    /^no variables of the source for .*: it cannot be read: .*no abbreviation 1/,
  );
  expect(await say("continue")).toContain("the program has ended");
});
