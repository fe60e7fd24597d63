import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const main = join(root, "dist/cli/main.js");
const hasNative = existsSync(join(root, "dist/native/lanewise.node"));
const folder = mkdtempSync(join(tmpdir(), "lanewise-end-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every thread prints a line of 40 characters. */
const printing = join(folder, "printing.ptx");
writeFileSync(
  printing,
  `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[] = {${[...Buffer.from("thread %4d prints forty characters so...\n\0")].join(", ")}};
.visible .entry k() {
  .local .align 8 .b8 values[8];
  .reg .b32 %i; .reg .b64 %a, %v;
  mov.u32 %i, %tid.x; mov.u64 %v, values; st.local.u32 [values], %i; cvta.local.u64 %v, %v;
  mov.u64 %a, text; cvta.global.u64 %a, %a;
  { .param .b64 f, v; .param .b32 r; st.param.b64 [f], %a; st.param.b64 [v], %v; call (r), vprintf, (f, v); }
  ret;
}
`,
);

test.skipIf(!hasNative)("a reader that is slow gets all output of a run that ends at once", async () => {
  const run = spawn(process.execPath, [main, "run", printing, "--kernel", "k", "--grid", "16", "--block", "1024"], {
    env: { ...process.env, LANEWISE_CACHE: "off" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  const ended = new Promise((resolve) => {
    run.on("close", (status) => resolve(status));
  });
  // Nothing is read at first, so that the pipe is full when the kernel has ended.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  run.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  expect(await ended).toBe(0);
  expect(text.match(/^thread +\d+ prints forty characters so\.\.\.$/gm)).toHaveLength(16 * 1024);
});

test.each([
  [
    "success",
    ["examples/saxpy.ptx", "--block", "4", "--arg", "4", "--arg", "2", "--arg", "f32[4]", "--arg", "f32[4]"],
    0,
  ],
  ["a fault", ["examples/bugs/wrong-prototype.ptx", "--kernel", "apply", "--block", "32", "--arg", "u32[32]"], 3],
  ["a program with errors", ["examples/none.ptx"], 2],
] as const)("the exit status after %s is that of the command", (_, words, status) => {
  const env = { ...process.env, LANEWISE_CACHE: "off" };
  expect(spawnSync(process.execPath, [main, "run", ...words], { cwd: root, env }).status).toBe(status);
});
