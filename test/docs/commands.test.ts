import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bench } from "../../bench/suite/command.ts";
import { commands } from "../../src/cli/commands.ts";
import { commonOptions, parseOptions } from "../../src/cli/options/options.ts";
import { BuiltCli } from "../cli/built-cli.ts";

/* What the pages tell people to type does exist, and what stands in the README does what it says. */
const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const pages = [".", "docs", "bench", "editors/vscode"].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file)),
);

/** Lines of code blocks, and what stands between backticks. */
function typed(page: string): readonly string[] {
  const blocks = page.match(/^ {4}(?:lanewise|npx|npm|node) .*$|^\$ .*$/gm) ?? [];
  const spans = [...page.matchAll(/`((?:npx lanewise|lanewise|npm|node) [^`]+)`/g)].map(([, span = ""]) => span);
  return [...blocks, ...spans].map((line) => line.replace(/^\s*\$?\s*/, "").replace(/(?:\s{2,}| # ).*$/, ""));
}

const placeholder = /^(?:FILE|JOB|CODE|OPCODE|NAME|COMMAND|\.\.\.|…)/;

describe.each(pages)("%s", (path) => {
  const page = read(path);

  test("types commands that there are", async () => {
    for (const line of typed(page)) {
      const [program = "", ...rest] = line.split(/\s+/);
      const words = program === "npx" ? rest.slice(1) : rest;
      if (program === "node") {
        const script = words.find((word) => /\.m?[jt]s$/.test(word));
        if (words[0] !== "-e") expect.soft(script !== undefined && existsSync(join(root, script)), line).toBe(true);
      } else if (program === "npm") {
        const name = words[0] === "run" ? words[1] : words[0];
        const known = { ...JSON.parse(read("package.json")).scripts, ci: "", install: "" };
        expect.soft(Object.keys(known), line).toContain(name);
      } else {
        const [name = "", ...given] = words;
        if (name === "help" || placeholder.test(name)) continue;
        expect.soft(Object.keys(commands), line).toContain(name);
        // The sources know of `bench` only where the built command line finds it.
        const command = name === "bench" ? bench : await commands[name]!();
        // An option that is named alone needs no value there.
        const last = given.at(-1);
        const complete = last?.startsWith("--") && given.length === 1 ? [] : given;
        expect
          .soft(() => parseOptions(complete, [...command.options, ...commonOptions]), `${path}: ${line}`)
          .not.toThrow();
      }
    }
  });

  test("links to what is there", () => {
    for (const [, target = ""] of page.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const there = file === "" ? path : join(dirname(path), file);
      expect.soft(existsSync(join(root, there)), `${path} links to ${target}`).toBe(true);
      if (anchor === undefined || !there.endsWith(".md")) continue;
      const headings = [...read(there).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
        heading
          .toLowerCase()
          .replace(/[^\w\- ]/g, "")
          .replaceAll(" ", "-"),
      );
      expect.soft(headings, `${path} links to ${target}`).toContain(anchor);
    }
  });
});

describe("the commands of the README", () => {
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await BuiltCli.build();
    cpSync(join(root, "examples"), join(cli.work, "examples"), { recursive: true });
  });
  afterAll(() => cli?.remove());

  const lines = read("README.md").match(/^ {4}lanewise .*$/gm) ?? [];

  test("are there", () => expect(lines.length).toBeGreaterThan(10));

  // In their order: some read what others have written.
  test.each(lines)("%s", (line) => {
    const words = line
      .replace(/ # .*$/, "")
      .trim()
      .split(/\s+/)
      .slice(1);
    const { status, stdout, stderr } = cli.run(...words);
    // The example of a race has one.
    expect(status, stdout + stderr).toBe(words.includes("--explore") ? 1 : 0);
    if (!/^(?:asm|build|dap|fmt)$/.test(words[0]!)) expect(stdout).not.toBe("");
  });
});
