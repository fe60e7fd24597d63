import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Console } from "../../src/debugger/console/console.ts";
import { plainStyle } from "../../src/source/index.ts";
import { openSession } from "./jobs.ts";

const example = (name: string): string => fileURLToPath(new URL(`../../examples/modern/${name}`, import.meta.url));
const [ampere, hopper] = [example("gemm.json"), example("gemm-hopper.json")];

/** Executes commands one after the other and returns what the last ones print. */
async function say(
  job: string,
  commands: readonly string[],
  asked: readonly string[],
  options: Parameters<typeof openSession>[1] = {},
): Promise<string[]> {
  const console = new Console(openSession(job, options), { style: plainStyle, width: 100 });
  for (const command of commands) await console.run(command);
  const answers: string[] = [];
  for (const command of asked) answers.push((await console.run(command)).text);
  return answers;
}

/** The numbers of a matrix as it is drawn, without those of rows and columns. */
const numbersIn = (text: string): number[][] =>
  text
    .split("\n")
    .slice(2)
    .map((line) => line.trim().split(/\s+/).slice(1).map(Number));

/** The line of an instruction of an example. */
const [mma, ldmatrix] = [67, 64];

test("fragments are shown as the matrices that they form", async () => {
  // A has 64 columns, of which 16 are loaded first, and element (r, c) is 64 r + c; all elements of B are 1.
  const [a, b, , d] = (await say(
    ampere,
    [`break ${mma}`, "c", "next"],
    ["a", "b", "c", "d"].map((name) => `info matrices ${name} ${mma}`),
  )) as [string, string, string, string];
  expect(a).toMatch(/^A: 16x16, f16, in %a0 %a1 %a2 %a3\n/);
  const rows = Array.from({ length: 16 }, (_, r) => Array.from({ length: 16 }, (_, c) => 64 * r + c));
  expect(numbersIn(a)).toEqual(rows);
  expect(b).toMatch(/^B: 16x8, f16, in %b0 %b1\n/);
  expect(numbersIn(b).flat()).toEqual(Array(128).fill(1));
  // D is a sum over a row: 16 terms.
  expect(numbersIn(d)).toEqual(rows.map((row) => Array(8).fill(row.reduce((x, y) => x + y))));
});

test("what ldmatrix has loaded is shown in a format that is asked for", async () => {
  const [all, wrong] = (await say(
    ampere,
    [`break ${mma}`, "c"],
    [`info matrices /f16 ${ldmatrix}`, "info matrices /f17"],
  )) as [string, string];
  const [first, , right] = all.split("\n\n") as [string, string, string];
  expect(first.split("\n")[0]).toBe("matrix 0: 8x8, f16, in %a0");
  expect(numbersIn(first)[3]).toEqual([192, 193, 194, 195, 196, 197, 198, 199]);
  expect(numbersIn(right)[0]).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
  expect(wrong).toContain("not f17");
});

test("an instruction without matrices says where to look", async () => {
  const [none, absent] = await say(ampere, [`break ${ldmatrix}`, "c"], ["info matrices", "info matrices b"]);
  expect(none).toContain("matrix 0: 8x8, b16");
  expect(absent).toBe("there is no matrix B in registers here");
  const [start] = await say(ampere, [], ["info matrices"]);
  expect(start).toContain("has no matrices in registers");
});

test("mbarriers, descriptors and tensor maps are decoded", async () => {
  const [mbarriers, descriptors, map, wrong, none] = (await say(
    hopper,
    ["break 71", "c"],
    ["info mbarriers", "info descriptors", "info tensormap mapA", "info tensormap c", "info tensor"],
  )) as [string, string, string, string, string];
  // Both tiles have come: the first phases are complete, and nobody has arrived in the second ones.
  expect(mbarriers.replace(/0x[0-9a-f]+/g, "ADDRESS")).toBe(
    [
      "ADDRESS, `gemm.full`      phase of parity 1: 0 of 1 arrivals",
      "ADDRESS, `gemm.full` + 8  phase of parity 1: 0 of 1 arrivals",
    ].join("\n"),
  );
  // As the kernel writes them: 1024 bytes from one group of eight rows to the next, and swizzle mode 1 (128 bytes).
  expect(descriptors).toMatch(/^A: 0x40000040[0-9a-f]{8}\n {2}start .*\(shared \+ 0\)/);
  expect(descriptors).toMatch(/stride dimension offset +1024 bytes\n/);
  expect(descriptors).toMatch(/swizzle +128 bytes\n/);
  expect(descriptors).toMatch(/\nB: 0x40000040/);
  expect(map).toMatch(/elements +f16\n/);
  expect(map).toMatch(/dimensions +192 x 64, the fastest first\n/);
  expect(map).toMatch(/strides +384 bytes\n/);
  expect(map).toMatch(/box +64 x 64\n/);
  expect(wrong).toBe("c is no tensor map");
  expect(none).toBe("the block has used no tensor memory");
});

test("tensor memory, an mbarrier that waits, and ranks of a cluster", async () => {
  const [blocks] = await say("units.json", ["break 35", "c", "block 1,0,0"], ["info cuda blocks"]);
  expect(blocks).toBe(
    [
      "   BlockIdx  ClusterIdx  Rank    State",
      "   (0,0,0)   (0,0,0)     0 of 2  1 of 1 warps",
      "*  (1,0,0)   (0,0,0)     1 of 2  1 of 1 warps",
    ].join("\n"),
  );
  const [bar, at, columns, words, nothing] = (await say(
    "units.json",
    ["break 35", "c", "c"],
    ["info mbarriers", "info mbarriers bar", "info tensor", "info tensor /u32 %taddr", "info mbarriers columns"],
  )) as [string, string, string, string, string];
  // 32 arrivals and 3 x 16 bytes expected, of which 3 and 16 have come.
  expect(bar).toMatch(/bar` +phase of parity 0: 3 of 32 arrivals, 32 bytes to come$/);
  expect(at).toMatch(/bar`: phase of parity 0: 3 of 32 arrivals, 32 bytes to come$/);
  expect(columns).toBe("columns 0 to 63  allocated by warp 0");
  const rows = words.split("\n").slice(1);
  expect(rows.map((row) => Number(row.trim().split(/\s+/)[6]))).toEqual(Array.from({ length: 32 }, (_, l) => 100 + l));
  expect(nothing).toContain("there is no mbarrier at");
});

test("with a seed, operations are in flight until they are waited for", async () => {
  // One group may be pending after the wait: the second tile, of which 32 lanes copy rows of A and 16 columns of B.
  const [copies] = (await say(ampere, ["break 63", "c"], ["info copies"], { seed: 1 })) as [string];
  expect(copies.replace(/0x[0-9a-f]+/g, "ADDRESS").split("\n")).toEqual([
    expect.stringMatching(
      /^line 57 +cp\.async\.cg +all lanes of warp 0 +16 bytes from .* to .*; complete by cp\.async\.wait_group 0$/,
    ),
    expect.stringMatching(
      /^line 58 +cp\.async\.cg +lanes 0-15 of warp 0 +16 bytes from .* to .*; complete by cp\.async\.wait_group 0$/,
    ),
  ]);
  // Boxes of 64 by 64 and of 64 by 8 halves, counted by the mbarriers of two stages.
  const [boxes, mbarriers] = (await say(hopper, ["break 59", "c"], ["info copies", "info mbarriers"], { seed: 1 })) as [
    string,
    string,
  ];
  const [full, next] = [...mbarriers.matchAll(/^0x[0-9a-f]+/gm)].map(String);
  const rows = boxes
    .split("\n")
    .map((row) => [/^line (\d+)/.exec(row)![1], /(\d+) bytes/.exec(row)![1], row.split(" ").at(-1)]);
  expect(rows).toEqual([
    ["39", "8192", full],
    ["40", "1024", full],
    ["42", "8192", next],
    ["43", "1024", next],
  ]);
  // The boxes of the second stage begin with the column 64: 128 bytes further on.
  const sources = [...boxes.matchAll(/from (0x[0-9a-f]+)/g)].map(([, address]) => Number(address));
  expect([sources[2]! - sources[0]!, sources[3]! - sources[1]!]).toEqual([128, 128]);
  const [none] = (await say(ampere, ["break 63", "c"], ["info copies"])) as [string];
  expect(none).toMatch(/^nothing is in flight/);
});
