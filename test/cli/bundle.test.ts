import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { fixture } from "../container/fixtures.ts";
import { BuiltCli, type Outcome } from "./built-cli.ts";

/* The files of which the command line consists. A circle between them once ended every command before it began. */

type CircleIn = (imports: ReadonlyMap<string, readonly string[]>) => string[] | null;
const script: string = new URL("../../scripts/circle-check.mjs", import.meta.url).href;

test.each<[string, Record<string, string[]>, string | null]>([
  ["none", { main: ["base", "engine"], engine: ["base", "numbers"], base: [], numbers: ["base"] }, null],
  ["two files", { main: ["base"], base: ["engine"], engine: ["base"] }, "base -> engine -> base"],
  ["three files", { main: ["a"], a: ["b", "node:fs"], b: ["c"], c: ["a"] }, "a -> b -> c -> a"],
  ["one that is found later", { main: [], a: ["main"], b: ["main", "c"], c: ["a", "b"] }, "b -> c -> b"],
  ["a file itself", { a: ["a"] }, "a -> a"],
])("circles are found: %s", async (_, imports, expected) => {
  const { circleIn } = (await import(script)) as { circleIn: CircleIn };
  expect(circleIn(new Map(Object.entries(imports)))?.join(" -> ") ?? null).toBe(expected);
});

test("what is not ASCII is written so that it means the same", async () => {
  const { asciiOf } = (await import(new URL("../../scripts/in-ascii.mjs", import.meta.url).href)) as {
    asciiOf: (code: string) => string;
  };
  const code = [
    `const größe = "é😀", t = \`→\${größe}\\\\é\\é\`;`,
    "[größe, t, /^[😀-🙏]…?$/u.test(größe.slice(1)), /\\\\…/.test('\\\\…'), /\\…/.test('…')].join()",
  ].join("\n");
  const written = asciiOf(code);
  expect(written).toMatch(/^[\n -~]*$/);
  expect(runInNewContext(written)).toBe("é😀,→é😀\\éé,true,true,true");
  expect(runInNewContext(code)).toBe(runInNewContext(written));
  expect(() => asciiOf("String.raw`→`")).toThrow("raw");
});

/** An outcome without the times that are printed. */
const plain = ({ status, stdout }: Pick<Outcome, "status" | "stdout">): object =>
  JSON.parse(JSON.stringify({ status, stdout }).replace(/\b\d[\d.,]* m?s\b/g, "…")) as object;

test("the built command line starts, and loads what each command needs, compiled anew or before", async () => {
  const cli = await BuiltCli.build();
  try {
    cli.write("sum.fatbin", fixture("sum-zstd.fatbin"));
    cli.write("sum.ptx", fixture("sum.ptx"));
    cli.write("scale.bin", fixture("scale.bin"));
    const sum = ["--kernel", "_Z3sumPKfPfi", "--block", "256", "--arg", "f32[1000]=iota", "--arg", "f32[1]"];
    const commands: readonly (readonly string[])[] = [
      ["--version"],
      ["--help"],
      ["check", "sum.ptx"],
      ["check", "scale.bin"],
      ["list", "sum.fatbin"],
      ["list", "scale.bin"],
      ["run", "sum.fatbin", ...sum, "--arg", "1000"],
      ["run", "sum.ptx", "--engine", "interpreter", ...sum, "--arg", "1000"],
      ["run", "scale.bin", "--global", "4", "--local", "4", "--arg", "f32[4]=iota", "--arg", "2"],
      ["isa", "fma.rn.f32"],
      ["explain", "visa-falls-off"],
      ["fmt", "--check", "sum.ptx"],
    ];
    for (const command of commands) {
      const { status, stderr, stdout } = cli.run(...command);
      expect({ command, stderr: /\b(Error|ReferenceError|node:)/.test(stderr) ? stderr : "" }).toEqual({
        command,
        stderr: "",
      });
      if (command[0] !== "fmt") expect({ command, status }).toEqual({ command, status: 0 });
      if (command[0] !== "check" && command[0] !== "fmt") expect(stdout).not.toBe("");
      const cache = join(cli.folder, "cache");
      for (const time of ["first", "second"]) {
        const again = cli.runWith(cache, ...command);
        expect({ command, time, ...plain(again) }).toEqual({ command, time, ...plain({ status, stdout }) });
      }
    }
  } finally {
    cli.remove();
  }
});
