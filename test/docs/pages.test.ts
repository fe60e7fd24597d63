import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { laneChart, laneGroups } from "../../examples/lane-chart.mjs";
import { laneSvg } from "../../examples/lane-svg.mjs";
import { traceLanes } from "../../examples/lane-trace.mjs";
import { Device } from "../../src/index.ts";
import { reportCodes } from "../../src/machine/reports/codes.ts";
import { instructionSet } from "../../src/ptx/isa/index.ts";
import { deviceFunctionCodes } from "../../src/runtime/data/codes.ts";
import { BuiltCli } from "../cli/built-cli.ts";
import { fixture } from "../container/fixtures.ts";
import { readCallCases } from "./calls-cases.ts";
import { annotatedCall } from "./ifcall-bytes.ts";
import { readVisaCases } from "./visa-cases.ts";
import { obstacles, platformTable, support as visaSupport } from "./visa-support.ts";

/*
 * What pages show of programs and their output stands between `<!-- begin ... -->` and `<!-- end -->` and is what the
 * program prints now. `npx vitest run test/docs --update` writes it.
 */
const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const pages = [
  "README.md",
  "docs/calls.md",
  "docs/interpreter.md",
  "docs/ifcall.md",
  "docs/sanitizers.md",
  "docs/visa.md",
  "docs/profiler.md",
  "docs/explore.md",
  "docs/reports.md",
  "docs/debugger.md",
  "docs/cli.md",
  "docs/cuda.md",
  "docs/library.md",
  "docs/jobs.md",
  "docs/modern.md",
  "docs/images.md",
  "docs/hunt.md",
  "docs/divergence.md",
  "docs/testing.md",
  "docs/support.md",
  "docs/exec.md",
];

vi.mock("lanewise", () => import("../../src/index.ts"));
vi.mock("lanewise/debugger", () => import("../../src/debugger/index.ts"));

let cli: BuiltCli;
beforeAll(async () => {
  cli = await BuiltCli.build();
  for (const path of [
    "bugs/missing-barrier.ptx",
    "bugs/wrong-prototype.ptx",
    "bugs/wrong-prototype.debug",
    "two-functions/double-or-square.isaasm",
    "bugs/lost-update.ptx",
    "bugs/scan.ptx",
    "bugs/scan-fixed.ptx",
    "bugs/scan.json",
    "bugs/scan.debug",
    "divergence/branch.ptx",
    "divergence/branch-selected.ptx",
    "divergence/half-barrier.ptx",
    "divergence/levels.json",
    "saxpy.visaasm",
    "polynomial.ptx",
    "polynomial.json",
    "saxpy.yaml",
    "transpose.ptx",
    "modern/gemm.ptx",
    "modern/gemm.debug",
    "modern/gemm-hopper.ptx",
    "modern/gemm-hopper.debug",
    "bugs/last-tile.ptx",
    "bugs/last-tile.debug",
    "images/pictures.ptx",
    "cuda/scan.cu",
    "cuda/scan.ptx",
    "cuda/reduce.cu",
    "cuda/reduce.debug",
    "cuda/particles.cu",
    "cuda/particles.ptx",
    "cuda/particles.json",
    "cuda/particles.debug",
    "cuda/sum.cu",
    "cuda/sum.debug",
  ]) {
    cli.write(`examples/${path}`, read(`examples/${path}`));
  }
  cli.write("docs/images/README", "for pictures that commands write");
  cli.write("examples/cuda/reduce", readFileSync(new URL("examples/cuda/reduce", root)));
  cli.write("examples/cuda/sum.lanewise", readFileSync(new URL("examples/cuda/sum.lanewise", root)));
  cli.write("fill.fatbin", fixture("fill.fatbin"));
});

afterAll(() => cli.remove());

/** What the lanes do in the first kernel of a program that fills a buffer of 32 words. */
function trace(path: string) {
  const device = new Device();
  const module = device.load({ path, text: read(path) });
  const { observer, trace } = traceLanes();
  const out = device.buffer("u32", 32);
  module.kernel(module.kernels[0] ?? "").launch({ grid: 1, block: 32, args: [out], observers: [observer] });
  return trace;
}

async function outputOf(path: string): Promise<string> {
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...words) => void lines.push(words.join(" ")));
  await import(new URL(path, root).pathname);
  log.mockRestore();
  return lines.join("\n");
}

const chapters: readonly (readonly [section: string, title: string])[] = [
  ["9.7.1", "integer arithmetic"],
  ["9.7.2", "extended-precision integer arithmetic"],
  ["9.7.3", "floating point"],
  ["9.7.4", "half precision"],
  ["9.7.5", "mixed precision"],
  ["9.7.6", "comparison and selection"],
  ["9.7.7", "half-precision comparison"],
  ["9.7.8", "logic and shifts"],
  ["9.7.9", "data movement and conversion"],
  ["9.7.10", "textures"],
  ["9.7.11", "surfaces"],
  ["9.7.12", "control flow"],
  ["9.7.13", "synchronization, atomics, votes"],
  ["9.7.14", "matrices in warps"],
  ["9.7.15", "matrices in warpgroups"],
  ["9.7.16", "tensor memory"],
  ["9.7.17", "stack"],
  ["9.7.18", "video"],
  ["9.7.19", "miscellaneous"],
];

/** How much of a chapter can be executed; numbers would be wrong too soon. */
function support(): string {
  const rows = chapters.map(([section, title]) => {
    const forms = instructionSet.instructions
      .filter((i) => `${i.section}.`.startsWith(`${section}.`))
      .flatMap((i) => i.forms);
    const share = forms.filter((f) => !f.unimplemented).length / forms.length;
    const runs = share === 1 ? "all" : share > 0.9 ? "nearly all" : share > 0 ? "in part" : "not yet";
    return `| ${section} | ${title} | ${runs} |`;
  });
  return ["| section | instructions | executed |", "| --- | --- | --- |", ...rows].join("\n");
}

const fence = (text: string, language = ""): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

/** What a command prints, without times, which are never the same. */
const withoutTimes = (text: string): string => text.replace(/(?: {2}|, )[\d.]+ ms$/gm, "");

/** The lines of a file of annotated bytes that mention a word. */
const linesWith = (path: string, word: string): string =>
  read(path)
    .split("\n")
    .filter((line) => line.includes(word))
    .join("\n");

async function make(what: string): Promise<string> {
  const [verb = "", ...words] = what.split(" ");
  const path = words[0] ?? "";
  switch (verb) {
    case "file":
      return fence(read(path), path.endsWith(".mjs") ? "js" : path.split(".").at(-1));
    case "lines": {
      const [first = 1, last = first] = words[1]!.split("-").map(Number);
      const lines = read(path)
        .split("\n")
        .slice(first - 1, last);
      return fence(lines.join("\n"), path.split(".").at(-1));
    }
    case "output":
      return fence(await outputOf(path));
    case "lanewise": {
      const { status, stdout, stderr } = cli.run(...words);
      // A page must not show a wrong command line, of which nothing is on standard output.
      expect(status === 2 && stdout === "", `${what}: ${stderr}`).toBe(false);
      return fence(`$ ${what}\n${withoutTimes(stdout)}`);
    }
    case "chart":
      return fence(laneChart(trace(path)));
    case "groups":
      return fence(laneGroups(trace(path)));
    case "isa":
      return support();
    case "visa":
      return visaSupport();
    case "platforms":
      return platformTable();
    case "obstacles":
      return obstacles();
    case "bytes":
      return annotatedCall(path, read(path));
    case "hex":
      return fence(linesWith(path, words[1] ?? ""));
    default:
      throw new Error(`a page asks for ${what}`);
  }
}

describe.each(pages)("%s", (page) => {
  test("shows what the programs print", async () => {
    const pieces = read(page).split(/(?<=<!-- begin .*? -->\n)|(?=<!-- end -->)/);
    for (const [i, piece] of pieces.entries()) {
      const what = /<!-- begin (.*?) -->\n$/.exec(piece)?.[1];
      if (what !== undefined)
        pieces.splice(i + 1, pieces[i + 1]?.startsWith("<!-- end") ? 0 : 1, `${await make(what)}\n`);
    }
    await expect(pieces.join("")).toMatchFileSnapshot(new URL(page, root).pathname);
    // The commands of the page, run in a clone, write its pictures.
    for (const [, picture = ""] of read(page).matchAll(/!\[[^\]]+\]\(([^)]+\.png)\)/g)) {
      const made = readFileSync(join(cli.work, dirname(page), picture));
      expect.soft(made.equals(readFileSync(new URL(picture, new URL(page, root)))), picture).toBe(true);
    }
  });

  test("links to what is there", () => {
    for (const [, text = "", target = ""] of read(page).matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const url = new URL(target, new URL(page, root));
      const found = existsSync(url);
      expect.soft(found, `${page} links to ${target}`).toBe(true);
      if (!found || !/\/test\/.*\.(txt|ts)$/.test(url.pathname)) continue;
      const cases = url.pathname.endsWith(".txt") ? `==== ${text.replace(/\s+/g, " ")}\n` : `"${text}"`;
      expect.soft(readFileSync(url, "utf8"), `${page} names "${text}" in ${target}`).toContain(cases);
    }
  });
});

test("the README's picture is what the program does", async () => {
  const title = "One indirect call: 32 lanes, three functions, one of them recursive";
  const picture = laneSvg(trace("examples/seeds/callprototype.ptx"), { title });
  await expect(picture).toMatchFileSnapshot(new URL("docs/pictures/lanes.svg", root).pathname);
});

test.each([
  ["docs/calls.md", "calls", readCallCases()],
  ["docs/ifcall.md", "ifcall", readVisaCases("ifcall")],
  ["docs/visa.md", "visa", readVisaCases("visa")],
] as const)("%s names every case", (page, folder, cases) => {
  const text = read(page);
  const missing = cases.filter((c) => !text.includes(`[${c.name}](../test/docs/${folder}/${c.file})`));
  expect(missing.map((c) => c.name)).toEqual([]);
});

test("ifcall.md numbers the sentences, and shows each", () => {
  const rows = [...read("docs/ifcall.md").matchAll(/^\| \d.*$/gm)].map(([line]) => line.split(/ *\| */));
  expect(rows.map(([, number]) => Number(number))).toEqual(rows.map((_, i) => i + 1));
  for (const cells of rows) expect(cells[4], cells[2]).toMatch(/^\[.*\]\(\.\.\/test\/docs\/ifcall\/.*\)$/);
});

/** The text of a sanitizer: a file, what it imports from beside it, and perhaps a folder of its name. */
const sourcesOf = (sanitizer: string): string => {
  const own = read(`src/sanitizers/${sanitizer}.ts`);
  const beside = [...own.matchAll(/from "\.\/([\w-]+\.ts)"/g)].map(([, file]) => file!);
  const inside = readdirSync(new URL("../../src/sanitizers/", import.meta.url), { recursive: true, encoding: "utf8" });
  const files = [...beside, ...inside.filter((file) => file.startsWith(`${sanitizer}/`) && file.endsWith(".ts"))];
  return [own, ...files.map((file) => read(`src/sanitizers/${file}`))].join("\n");
};

test("interpreter.md lists every report, with its title, where it comes from", () => {
  const sections = read("docs/interpreter.md").split(/^(?=The sanitizer )|^(?=Any sanitizer)/m);
  const rows = sections.flatMap((section) => {
    const [, sanitizer] = /^The sanitizer `(\w+)`:/.exec(section) ?? [];
    return [...section.matchAll(/^\| `([\w-]+)` \| (.*) \|$/gm)].map(([, code = "", title]) => ({
      code,
      title,
      sanitizer,
    }));
  });
  const catalogue = Object.entries({ ...reportCodes, ...deviceFunctionCodes });
  expect(rows.map(({ code, title }) => `${code}: ${title}`).sort()).toEqual(
    catalogue.map(([code, { title }]) => `${code}: ${title}`).sort(),
  );
  for (const { code, sanitizer } of rows) {
    if (sanitizer) expect(sourcesOf(sanitizer)).toContain(`"${code}"`);
  }
});
