import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuiltCli } from "./built-cli.ts";

let cli: BuiltCli;
const run = (...args: string[]) => cli.run(...args);

const header = ".version 8.0\n.target sm_80\n.address_size 64\n";

beforeAll(async () => {
  cli = await BuiltCli.build();
});

afterAll(() => cli?.remove());

describe("why a kernel ran in the interpreter", () => {
  const deep = `${header}
.func dive(.reg .u32 %n)
{
    .reg .pred %p;
    setp.eq.u32 %p, %n, 0;
    @%p ret;
    sub.u32 %n, %n, 1;
    call dive, (%n);
    ret;
}
.visible .entry dives() { .reg .u32 %n; mov.u32 %n, 10000; call dive, (%n); ret; }
`;
  const note = "dives ran in the interpreter: not compiled: calls that nest too deeply for the stack of WebAssembly\n";

  test("is said in a line", () => {
    cli.write("deep.ptx", deep);
    const { status, stdout, stderr } = run("run", "deep.ptx", "--block", "32", "--engine", "jit");
    expect([status, stdout]).toEqual([0, ""]);
    expect(stderr).toContain(`\n  ${note}`);
  });

  test("is said once for all launches of a job", () => {
    const launch = { kernel: "dives", grid: [1], block: [32], args: [] };
    const text = { id: "deep", variants: { plain: ["deep.ptx"] }, buffers: {}, launches: [launch, launch], checks: [] };
    cli.write("deep.json", JSON.stringify(text));
    const { status, stderr } = run("run", "deep.json");
    expect(status).toBe(0);
    // On a busy machine it takes so long that progress is told first.
    expect(stderr.split(note)).toEqual([expect.stringMatching(/(^|\n) {6}$/), ""]);
  });

  test("is not said where the interpreter was asked for", () => {
    expect(run("run", "deep.ptx", "--block", "32", "--engine", "interpreter").stderr).not.toContain("ran in");
  });
});

test("why a kernel did not run as machine code is said where that was asked for", () => {
  cli.write("empty.ptx", `${header}.visible .entry empty() { ret; }`);
  const launched = (engine: string): string => run("run", "empty.ptx", "--engine", engine).stderr;
  // The command line that tests build has no native part.
  expect(launched("native")).toContain("\n  empty ran as WebAssembly: the device has no compiler to machine code");
  expect(launched("tiered")).not.toContain("WebAssembly");
});
