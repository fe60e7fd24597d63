import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { HostObject } from "../../src/container/index.ts";
import { LineTable } from "../../src/dwarf/index.ts";

/*
 * Names and lines in a program of the host: a C compiler writes them, and `nm` says where functions are. What they have
 * to be is in the source itself.
 */

const source = `static int twice(int x) {
  int y = x * 2;
  return y;
}

int main(int count, char **arguments) {
  (void)arguments;
  return twice(count);
}
`;

const folder = mkdtempSync(join(tmpdir(), "lanewise-host-"));
afterAll(() => rmSync(folder, { recursive: true }));
const hasCompiler = process.platform === "linux" && spawnSync("cc", ["--version"]).status === 0;

function compiled(...options: string[]) {
  const path = join(folder, "program");
  writeFileSync(join(folder, "program.c"), source);
  execFileSync("cc", [...options, "-O0", "-o", path, "program.c"], { cwd: folder });
  const object = HostObject.read(readFileSync(path), path)!;
  const section = (name: string) => {
    const bytes = object.section(`.${name}`);
    return bytes === null ? null : { bytes, references: new Map() };
  };
  return { path, object, lines: new LineTable({ section }) };
}

const addressOf = (path: string, name: string): number =>
  Number.parseInt(
    new RegExp(`^([0-9a-f]+) . ${name}$`, "m").exec(execFileSync("nm", [path], { encoding: "utf8" }))![1]!,
    16,
  );

describe.skipIf(!hasCompiler)("a program that cc has made", () => {
  test.each(["-gdwarf-3", "-gdwarf-4", "-gdwarf-5"])("functions and lines, %s", (version) => {
    const { path, object, lines } = compiled(version);
    for (const [name, line] of [
      ["twice", 1],
      ["main", 6],
    ] as const) {
      const address = addressOf(path, name);
      expect(object.functionAt(address + 1)).toBe(name);
      expect(lines.find(address)).toEqual({ file: "program.c", line });
    }
    const inTwice = new Set<number>();
    const [start, end] = [addressOf(path, "twice"), addressOf(path, "main")];
    for (let at = start; at < end; at++) inTwice.add(lines.find(at)!.line);
    expect([...inTwice]).toEqual([1, 2, 3, 4]);
    expect(lines.find(1)).toBeNull();
  });

  test("a program without debug information has names, and a stripped one has none", () => {
    const { path, object, lines } = compiled();
    const address = addressOf(path, "twice");
    expect([object.functionAt(address), lines.find(address)]).toEqual(["twice", null]);
    expect(compiled("-s").object.functionAt(address)).toBeNull();
  });

  test("the libraries that it needs", () => {
    expect(compiled("-Wl,--no-as-needed", "-lm").object.needed).toEqual(["libm.so.6", "libc.so.6"]);
  });
});

test("what is no ELF file is none", () => {
  expect(HostObject.read(new TextEncoder().encode("#!/bin/sh\n"), "a script")).toBeNull();
});
