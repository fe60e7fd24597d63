import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuiltCli, type Outcome } from "../../cli/built-cli.ts";
import { fixture } from "./fixtures.ts";

let cli: BuiltCli;
const run = (...args: string[]): Outcome => cli.run(...args);
const bytesOf = (path: string): Uint8Array => new Uint8Array(readFileSync(join(cli.work, path)));

const kernel = `.version 3.6
.kernel "k"
.decl V v_type=G type=ud num_elts=16 align=GRF
.function "k_main"
k_main:
    faddr f V(0,0)<1>
    ifcall (M1, 16) V(0,0)<0;1,0> 0 0
    ret (M1, 1)
`;
const callee = `.version 3.6
.global_function "f"
.kernel_attr ArgSize=0
.kernel_attr RetValSize=0
.function "f_main"
f_main:
    fret (M1, 16)
`;

beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("k.visaasm", kernel);
  cli.write("f.visaasm", callee);
  cli.write("wrong.visaasm", kernel.replace("V(0,0)<1>", "W(0,0)<1>"));
  cli.write("fixture.isa", fixture("kernel-and-function"));
  cli.write("damaged.isa", fixture("kernel-and-function").subarray(0, 0x1a0));
  cli.write("texts/keep", "");
});
afterAll(() => cli.remove());

test("asm makes one file of a kernel and its functions, and disasm gives the text back", () => {
  expect(run("asm", "f.visaasm", "k.visaasm", "-o", "out.isa")).toMatchObject({ status: 0, stdout: "", stderr: "" });
  const { status, stdout, stderr } = run("disasm", "out.isa");
  expect([status, stderr]).toEqual([0, ""]);
  cli.write("again.isaasm", stdout);
  expect(run("asm", "again.isaasm", "-o", "again.isa").status).toBe(0);
  expect(Buffer.compare(bytesOf("again.isa"), bytesOf("out.isa"))).toBe(0);
  const meaning = (text: string): string => text.replace(/\s+/g, " ").trim();
  expect(meaning(stdout)).toBe(meaning(kernel + callee.replace(".version 3.6\n", "")));
});

test("errors go to stderr, and no file is written", () => {
  const { status, stdout, stderr } = run("asm", "wrong.visaasm", "-o", "wrong.isa");
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("wrong.visaasm:6:13: error:");
  expect(existsSync(join(cli.work, "wrong.isa"))).toBe(false);
});

test("asm --json", () => {
  const good = run("asm", "k.visaasm", "-o", "k.isa", "--json");
  expect(JSON.parse(good.stdout)).toEqual({
    ok: true,
    output: "k.isa",
    size: bytesOf("k.isa").length,
    files: [{ path: "k.visaasm", ok: true, diagnostics: [] }],
  });
  const bad = JSON.parse(run("asm", "wrong.visaasm", "-o", "x.isa", "--json").stdout);
  expect(bad).toMatchObject({ ok: false, files: [{ path: "wrong.visaasm", ok: false }] });
  expect(bad.files[0].diagnostics[0].range.start).toEqual({ line: 6, column: 13 });
});

test("asm checks the text for the requested platform", () => {
  cli.write(
    "new.visaasm",
    kernel.replace("    faddr f V(0,0)<1>\n", "    rol (M1, 16) V(0,0)<1> V(0,0)<1;1,0> V(0,0)<1;1,0>\n"),
  );
  expect(run("asm", "new.visaasm", "-o", "new.isa").status).toBe(0);
  const { status, stderr } = run("asm", "new.visaasm", "-o", "new.isa", "--target", "skl");
  expect([status, stderr]).toEqual([1, expect.stringContaining("new.visaasm:6:")]);
});

test("disasm into a directory writes a file per routine, named like IGC's dumps", () => {
  const { status, stdout } = run("disasm", "fixture.isa", "-o", "texts", "--json");
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    ok: true,
    routines: [
      { kind: "kernel", name: "k" },
      { kind: "function", name: "f" },
    ],
    diagnostics: [],
    outputs: ["texts/fixture.visaasm", "texts/fixture_f0.visaasm"],
  });
  expect(readdirSync(join(cli.work, "texts")).sort()).toEqual(["fixture.visaasm", "fixture_f0.visaasm", "keep"]);
  // Together they are a program: the attributes have the values of the fixture's fields.
  expect(run("asm", "texts/fixture.visaasm", "texts/fixture_f0.visaasm", "--no-check", "-o", "f.isa").status).toBe(0);
});

test("the readable part of a damaged file is printed", () => {
  const { status, stdout, stderr } = run("disasm", "damaged.isa");
  expect(status).toBe(1);
  expect(stderr).toContain("error: k ends at 0x1c1, but the file at 0x1a0 [visa-cisa-truncated]");
  expect(stdout).toContain("    gather4_scaled.RB (M3, 16) T6 0x0:ud V.0 V.0\n");
  expect(stdout).not.toContain("goto");
  expect(run("disasm", "k.visaasm").stderr).toContain("visa-cisa-not-a-file");
});

test.each([
  [["asm"], "asm: no file given"],
  [["asm", "k.visaasm"], "asm: say where the CISA file goes, with -o OUT.isa"],
  [["asm", "none.visaasm", "-o", "x.isa"], "cannot read none.visaasm"],
  [["asm", "k.visaasm", "-o", "none/x.isa"], "--output none/x.isa: there is no directory none"],
  [["asm", "fixture.isa", "-o", "x.isa"], "fixture.isa is a CISA file already"],
  [["asm", "k.visaasm", "-o", "x.isa", "--target", "moon"], 'there is no platform "moon"'],
  [["disasm"], "disasm: give one CISA file"],
  [["disasm", "a.isa", "b.isa"], "disasm: give one CISA file"],
  [["disasm", "none.isa"], "cannot read none.isa"],
])("%j is wrong usage", (args, message) => {
  const { status, stdout, stderr } = run(...args);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(message);
});
