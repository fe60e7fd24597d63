import { expect, test } from "vitest";
import { Console } from "../../src/debugger/console/console.ts";
import { plainStyle, SourceText } from "../../src/source/index.ts";
import { openSession } from "./jobs.ts";

/** Executes commands one after the other and returns what each one prints. */
async function say(job: string, ...commands: string[]): Promise<string[]> {
  const console = new Console(openSession(job), { style: plainStyle, width: 100 });
  const answers: string[] = [];
  for (const command of commands) answers.push((await console.run(command)).text);
  return answers;
}

test("a stop says when, in which lane and where", async () => {
  const [, stop, back] = await say("calls.json", "b square", "c", "bt");
  expect(stop).toBe(
    [
      "breakpoint 1, square",
      "time 15  block (0,0,0), warp 0, lane 1: thread (1,0,0)",
      "square at calls.cu:7 (calls.ptx:23)",
      "●→   23 |     ld.param.u32 %x, [x];",
    ].join("\n"),
  );
  expect(back).toBe("→ #0  square at calls.cu:7 (calls.ptx:23)\n  #1  calls at calls.cu:14 (calls.ptx:54)");
});

test("an empty line repeats a step, and nothing else", async () => {
  const answers = await say("calls.json", "s", "", "", "p %t", "");
  expect(answers.map((text) => /time (\d+)/.exec(text)?.[1])).toEqual(["1", "2", "3", undefined, undefined]);
  expect(answers.slice(3)).toEqual(["0", ""]);
});

test("tables of lanes, warps, barriers and registers", async () => {
  const at = ["tbreak 62 if warp == 1", "c"];
  const [, , barriers, warps, lanes, registers] = await say(
    "calls.json",
    ...at,
    "info barriers",
    "info warps",
    "warp 0",
    "info registers %y",
  );
  expect(barriers).toBe("barrier 0  32 of 64 have arrived  warps 0 wait  passed 0 times");
  expect(warps).toBe(
    [
      "warp  lanes   state    at",
      "0     all 32  barrier  calls at calls.cu:16 (calls.ptx:62)",
      "1     all 32  next     calls at calls.cu:16 (calls.ptx:62)",
    ].join("\n"),
  );
  expect(lanes).toContain("barrier (waits for barrier 0: 32 of 64 have arrived)");
  expect(registers).toBe("%y  u32  0");
});

test("memory by bytes and by type, and assignments to it", async () => {
  const [, , words, bytes, set, again, wrong] = await say(
    "calls.json",
    "b 63 if tid.x == 5",
    "c",
    "x/6u32 exchange",
    "x/8 exchange",
    "set [exchange + 4]:u32 = 0x41424344",
    "x/8 exchange",
    "x 5",
  );
  expect(words).toBe("0x7f1003080000:  0  1  4  9  8  25");
  expect(bytes).toMatch(/^0x7f1003080000: {2}00 00 00 00 01 00 00 00 +\.{8}$/);
  expect(set).toBe("[exchange + 4]:u32 = 1094861636");
  expect(again).toContain("44 43 42 41");
  expect(wrong).toBe("there is no readable memory at 0x5");
});

test("source lines are shown above the assembly if they can be read", async () => {
  const text = Array.from({ length: 20 }, (_, i) => `line ${i + 1} of calls.cu`).join("\n");
  const readSource = (path: string): SourceText | null => (path === "calls.cu" ? new SourceText(path, text) : null);
  const console = new Console(openSession("calls.json"), { style: plainStyle, width: 100, readSource });
  expect((await console.run("b calls.cu:14")).text).toBe("breakpoint 1: calls at calls.cu:14 (calls.ptx:53)");
  expect((await console.run("c")).text.split("\n").slice(-3)).toEqual([
    "calls at calls.cu:14 (calls.ptx:53)",
    "●→   14 | line 14 of calls.cu",
    "●    53 |         st.param.u32 [a], %t;",
  ]);
  const lines = (await console.run("list cu:12")).text;
  expect(lines).toContain("there is no");
  const listed = (await console.run("list calls.cu:13")).text.split("\n");
  expect(listed).toHaveLength(11);
  expect(listed[6]).toBe("●→   14 | line 14 of calls.cu");
  // Steps by lines of the source.
  await console.run("stepping source-line");
  expect((await console.run("next")).text).toContain(" →   16 | line 16 of calls.cu");
});

test("a watchpoint says whose memory it watches, and ignores other memory", async () => {
  const [, , shared, local, register, , first, second, third, list] = await say(
    "tile.json",
    "b tile if block == 1",
    "c",
    "watch [numbers + 4]:u32",
    "wwatch mine",
    "watch %other",
    "delete 1",
    "c",
    "c",
    "c",
    "info breakpoints",
  );
  expect(shared).toBe(
    "watchpoint 2 (change): 4 bytes at 0x7f1003080004, `tile.numbers` + 4, of block (1,0,0) in launch 1",
  );
  expect(local).toBe(
    "watchpoint 3 (write): 8 bytes at 0x20000000, local + 0, of lane 0 of warp 0 of block (1,0,0) in launch 1",
  );
  expect(register).toBe("watchpoint 4 (change): %other of tile, lane 0 of warp 0 of block (1,0,0) in launch 1");
  expect(first).toContain("watchpoint 2 (change) [numbers + 4]:u32: 0 → 1, by lane 1");
  expect(second).toContain("watchpoint 3 (write) mine");
  // %other of lane 0 is 2 * 0 at first, and then its neighbour's number.
  expect(third).toContain("watchpoint 4 (change) %other: 0 → 1, by lane 0");
  expect(list).toMatch(
    /^2 {2}watch \(change\) {2}\[numbers \+ 4\]:u32: 4 bytes at .* of block \(1,0,0\) in launch 1 +1 hit\n/,
  );
  const all = await say("tile.json", "b tile if block == 1", "c", "delete", "watch [numbers + 4]:u32", "c", "c");
  expect(all.at(-2)).toContain("by lane 1");
  expect(all.at(-1)).toMatch(/^the program has ended/);
});

test("a mistake uses up no number", async () => {
  const [, second] = await say("tile.json", "watch nothing", "watch %t");
  expect(second).toMatch(/^watchpoint 1 /);
});

test("what cannot be done is explained in one line", async () => {
  const answers = await say(
    "calls.json",
    "brek 5",
    "b nowhere",
    "print %t +",
    "goto x",
    "warp 7",
    "set %t",
    "info",
    "re",
    "lane 40",
    "block 2",
    "block 0,1",
    "block x,0",
  );
  expect(answers.slice(8)).toEqual([
    "the warp has no lane 40",
    ...["2", "0,1", "x,0"].map((block) => `there is no block ${block}: the grid has 1x1x1`),
  ]);
  expect(answers[0]).toBe("there is no command brek; did you mean break? (help lists them)");
  expect(answers[1]).toBe("there is no function nowhere");
  expect(answers[2]).toBe("expected a value, but the expression ends\n  %t +\n      ^");
  expect(answers[3]).toBe("goto x: expected a time, start, end, +N or -N");
  expect(answers[4]).toBe("there is no warp 7 of block (0,0,0) running; blocks that run: (0,0,0)");
  expect(answers[5]).toBe("set: expected TARGET = EXPRESSION");
  expect(answers[6]).toContain("info lanes");
  expect(answers[7]).toMatch(/^re may be reverse-/);
});

test("the help lists every command with its purpose", async () => {
  const [help, one] = await say("calls.json", "help", "help lw");
  for (const name of ["continue", "reverse-next", "last-write", "logpoint", "info TOPIC"]) expect(help).toContain(name);
  expect(one).toMatch(/^last-write EXPRESSION\n/);
});
