import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frame, Unframer } from "../../src/debugger/dap/framing.ts";
import { BuiltCli } from "../cli/built-cli.ts";
import { pathOf } from "./jobs.ts";

let cli: BuiltCli;
beforeAll(async () => {
  cli = await BuiltCli.build();
  for (const name of ["calls", "factorial"]) {
    for (const ending of ["json", "ptx"]) cli.write(`${name}.${ending}`, readFileSync(pathOf(`${name}.${ending}`)));
  }
  cli.write("script", "# where it goes wrong\ncontinue\n\nbacktrace\n");
  cli.write("broken.ptx", ".version 8.0\n.target sm_80\n.entry k() { bogus; }\n");
});
afterAll(() => cli.remove());

test("scripts, and the exit status of how they end", () => {
  const fault = cli.run("debug", "factorial.json", "-x", "script", "--command", "print %third");
  expect(fault.status).toBe(3);
  expect(fault.stdout).toContain("[global-out-of-bounds]");
  expect(fault.stdout).toMatch(/\(lanewise\) print %third\ntrue\n$/);
  expect(cli.run("debug", "calls.json", "--command", "continue").status).toBe(0);
  const wrong = cli.run("debug", "calls.json", "--command", "brake 5", "--command", "continue");
  expect(wrong.status).toBe(2);
  expect(wrong.stdout).not.toContain("continue");
  expect(cli.run("debug", "nothing.json").stderr).toContain("there is no such file");
  const broken = cli.run("debug", "broken.ptx", "--kernel", "k");
  expect(broken.status).toBe(1);
  expect(broken.stderr).toContain("bogus");
});

test("one document with --json", () => {
  const { stdout } = cli.run("debug", "calls.json", "--json", "--command", "break twice", "--command", "c");
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, commands: [{ command: "break twice", failed: false }, {}] });
});

test("commands from a pipe", async () => {
  const child = spawn(process.execPath, [join(cli.folder, "dist/cli/main.js"), "debug", "calls.json"], {
    cwd: cli.work,
  });
  child.stdin.end("next 3\nprint %odd\nreverse-step\n");
  let text = "";
  for await (const chunk of child.stdout) text += String(chunk);
  expect(text).toMatch(/time 3 [\s\S]*\nfalse\ntime 2 /);
});

test("an adapter on stdin and stdout", async () => {
  const child = spawn(process.execPath, [join(cli.folder, "dist/cli/main.js"), "dap"], { cwd: cli.work });
  const unframer = new Unframer();
  const seen: { event?: string; command?: string; success?: boolean; body?: { threadId?: number } }[] = [];
  let seq = 0;
  const send = (command: string, args: object = {}): void => {
    child.stdin.write(frame({ seq: ++seq, type: "request", command, arguments: args }));
  };
  send("initialize", { adapterID: "lanewise" });
  send("launch", { program: "calls.ptx", kernel: "calls", block: 64, args: ["u32[64]"], cwd: cli.work });
  for await (const chunk of child.stdout) {
    for (const message of unframer.push(chunk as Uint8Array)) {
      const parsed = JSON.parse(message) as (typeof seen)[number];
      seen.push(parsed);
      if (parsed.event === "initialized") {
        send("setBreakpoints", { source: { path: join(cli.work, "calls.ptx") }, breakpoints: [{ line: 68 }] });
        send("configurationDone");
      }
      if (parsed.event === "stopped") send("stackTrace", { threadId: parsed.body!.threadId });
      if (parsed.command === "stackTrace") send("disconnect");
    }
  }
  expect(seen.filter((m) => m.success === false)).toEqual([]);
  expect(seen.find((m) => m.command === "stackTrace")?.body).toMatchObject({
    stackFrames: [{ name: "calls", line: 68, source: { path: join(cli.work, "calls.ptx") } }],
  });
});

test("an adapter sets variables before the launch", async () => {
  cli.write(
    "symbol.ptx",
    `.version 8.0\n.target sm_80\n.const .u32 n[2];\n.entry k() {\n.reg .u32 %r;\nld.const.u32 %r, [n+4];\nret;\n}\n`,
  );
  const child = spawn(process.execPath, [join(cli.folder, "dist/cli/main.js"), "dap"], { cwd: cli.work });
  const unframer = new Unframer();
  const answers: { command?: string; body?: { result?: string } }[] = [];
  let seq = 0;
  const send = (command: string, args: object = {}): void => {
    child.stdin.write(frame({ seq: ++seq, type: "request", command, arguments: args }));
  };
  send("initialize", { adapterID: "lanewise" });
  send("launch", { program: "symbol.ptx", block: 32, symbol: ["n=5,7"], cwd: cli.work });
  for await (const chunk of child.stdout) {
    for (const message of unframer.push(chunk as Uint8Array)) {
      const parsed = JSON.parse(message) as { event?: string; command?: string };
      answers.push(parsed);
      if (parsed.event === "initialized") {
        send("setBreakpoints", { source: { path: join(cli.work, "symbol.ptx") }, breakpoints: [{ line: 7 }] });
        send("configurationDone");
      }
      if (parsed.event === "stopped") send("evaluate", { expression: "%r" });
      if (parsed.command === "evaluate") send("disconnect");
    }
  }
  expect(answers.find(({ command }) => command === "evaluate")?.body?.result).toMatch(/^7\b/);
});

test.each(["ends", "is closed"])("an adapter ends with its editor while a program runs: stdin %s", async (how) => {
  cli.write("forever.ptx", ".version 8.0\n.target sm_80\n.entry k() {\nl: bra l;\n}\n");
  const child = spawn(process.execPath, [join(cli.folder, "dist/cli/main.js"), "dap"], { cwd: cli.work });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  let seq = 0;
  const send = (command: string, args: object = {}): void => {
    child.stdin.write(frame({ seq: ++seq, type: "request", command, arguments: args }));
  };
  send("initialize", { adapterID: "lanewise" });
  send("launch", { program: "forever.ptx", kernel: "k", block: 32, cwd: cli.work });
  send("configurationDone");
  const unframer = new Unframer();
  for await (const chunk of child.stdout) {
    const events = unframer.push(chunk as Buffer).map((text) => JSON.parse(text) as { command?: string });
    if (events.some(({ command }) => command === "configurationDone")) break;
  }
  if (how === "ends") child.stdin.end();
  else child.stdin.destroy();
  expect(await ended).toBe(0);
});

test("an adapter with malformed input says so", async () => {
  const child = spawn(process.execPath, [join(cli.folder, "dist/cli/main.js"), "dap"], { cwd: cli.work });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  child.stdin.write("Content-Length: 5\r\n\r\n{not ");
  child.stdin.write(frame({ seq: 1, type: "request", command: "initialize", arguments: {} }));
  const [answer] = await new Promise<string[]>((resolve) => {
    const unframer = new Unframer();
    child.stdout.on("data", (chunk: Buffer) => resolve([...unframer.push(chunk)]));
  });
  expect(JSON.parse(answer!)).toMatchObject({ command: "initialize", success: true });
  child.stdin.write("GET / HTTP/1.1\r\n\r\n");
  expect(await ended).toBe(2);
  expect(said).toMatch(
    /^dap: a message is not JSON: .*\ndap: the input is not a stream of messages: .*Content-Length\n$/,
  );
});
