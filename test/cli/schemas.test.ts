import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { commandNamed } from "../../src/cli/help.ts";
import { commonOptions, parseOptions } from "../../src/cli/options/options.ts";
import { schemaNames, schemaOf } from "../../src/cli/schemas/documents.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";
import { problemOf } from "./documents.ts";

/*
 * The documents of `--json` are as `lanewise schema COMMAND` says: each command here, with what makes its document
 * differ, and every other document that a test of the command line asks for (test/cli/built-cli.ts). Schemas allow no
 * field that they do not name, so that a new field needs its line there.
 */
const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lanewise-schemas-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const file = (name: string, contents: string): string => {
  const path = join(folder, name);
  writeFileSync(path, contents);
  return path;
};

/** What a command prints on stdout. */
async function printed(name: string, ...words: string[]): Promise<string> {
  const command = await commandNamed(commands, name)();
  const lines: string[] = [];
  const terminal: Terminal = {
    style: (_, text) => text,
    width: 80,
    interactive: false,
    readOrigin: () => null,
    out: (text) => void lines.push(text),
    err: () => {},
  };
  await command.run(parseOptions(words, [...command.options, ...commonOptions], command.passesOn), terminal);
  return lines.join("\n");
}

const saxpy = [example("saxpy.ptx"), "--kernel", "saxpy", "--block", "32", "--arg", "20", "--arg", "2.5"];
const saxpyRun = [...saxpy, "--arg", "f32[32]=iota", "--arg", "f32[32]", "--no-cache"];
const wrongPrototype = [example("bugs/wrong-prototype.ptx"), "--block", "32", "--arg", "u32[32]"];
const lostUpdate = [example("bugs/lost-update.ptx"), "--grid", "3", "--arg", "u32[1]"];
const damaged = ".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { ad.u32 %r, 1; }\n";

/** Words of a command, made once the folder is there. */
type Words = () => readonly string[];
const documents: readonly (readonly [command: string, what: string, words: Words])[] = [
  ["check", "a file with errors, and one without", () => [file("a.ptx", damaged), example("saxpy.ptx")]],
  ["check", "vISA", () => [example("saxpy.visaasm")]],
  ["list", "PTX", () => [example("saxpy.ptx")]],
  ["run", "a program", () => saxpyRun],
  ["run", "a report with a call stack", () => [...wrongPrototype, "--no-cache"]],
  ["run", "two accesses that race", () => [...lostUpdate, "--sanitize", "race", "--no-cache"]],
  ["run", "a job", () => [example("seeds/direct.json"), "--no-cache"]],
  ["run", "a job that cannot be read", () => [file("no.json", "{"), example("seeds/direct.json"), "--no-cache"]],
  ["run", "an exploration that finds something", () => [...lostUpdate, "--explore", "20", "--no-cache"]],
  ["run", "an exploration that finds nothing", () => [...saxpyRun, "--explore", "2"]],
  ["profile", "a program with calls", () => [...wrongPrototype]],
  ["profile", "a job, with timelines", () => [example("seeds/direct.json"), "--warps", "2"]],
  ["debug", "commands", () => [...saxpyRun, "--command", "step", "--command", "info threads"]],
  ["fmt", "canonical or not", () => ["--check", example("saxpy.ptx"), file("b.ptx", damaged)]],
  ["link", "to stdout", () => [example("saxpy.ptx"), example("seeds/direct.ptx")]],
  ["link", "errors", () => [file("c.ptx", damaged)]],
  ["asm", "to a file", () => [example("saxpy.visaasm"), "-o", join(folder, "saxpy.isa")]],
  ["disasm", "to stdout", () => [join(folder, "saxpy.isa")]],
  ["disasm", "to files", () => [join(folder, "saxpy.isa"), "-o", join(folder, "out")]],
  ["build", "a module", () => [example("saxpy.ptx"), "-o", join(folder, "saxpy.wasm")]],
  ["build", "errors", () => [file("d.ptx", damaged), "-o", join(folder, "d.wasm")]],
  ["explain", "all codes", () => []],
  ["explain", "one", () => ["indirect-call-prototype-mismatch"]],
  ["isa", "PTX", () => []],
  ["isa", "vISA", () => ["--isa", "visa"]],
];

describe.each(documents)("%s --json: %s", (command, _, words) => {
  test("is as the schema says", async () => {
    const document: unknown = JSON.parse(await printed(command, ...words(), "--json"));
    expect(problemOf(command, document)).toBe(null);
  });
});

test("a document that is not as it should be is found", async () => {
  const document = JSON.parse(await printed("check", example("saxpy.ptx"), "--json")) as { files: { ok: unknown }[] };
  expect(problemOf("check", { ...document, more: 1 })).toMatch(/additional properties/);
  document.files[0]!.ok = "yes";
  expect(problemOf("check", document)).toMatch(/boolean/);
});

test("what cannot do anything says so in one way", () => {
  const failure = { ok: false, error: "cannot read a.ptx: there is no such file" };
  const wrong = schemaNames.filter((name) => name !== "job" && problemOf(name, failure) !== null);
  expect(wrong).toEqual([]);
});

test("each document that docs/cli.md lists has a schema, and the other way round", () => {
  const page = readFileSync(fileURLToPath(new URL("../../docs/cli.md", import.meta.url)), "utf8");
  const rows = [...page.slice(page.indexOf("| command | document |")).matchAll(/^\| `(\w+)` \| (?!the schema)/gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual(schemaNames.filter((name) => name !== "job").sort());
});

describe("lanewise schema", () => {
  test("prints each", async () => {
    for (const name of schemaNames) expect(JSON.parse(await printed("schema", name))).toEqual(schemaOf(name));
    expect(JSON.parse(await printed("schema"))).toEqual(schemaOf("job"));
  });

  test("has a hint for another name", async () => {
    await expect(printed("schema", "rum")).rejects.toThrow("there is no schema of rum; did you mean run?");
    await expect(printed("schema", "dap")).rejects.toThrow("there are job, check");
  });
});
