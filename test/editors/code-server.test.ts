import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../browser/chromium.ts";

/*
 * Visual Studio Code itself, as code-server serves it to Chromium, with the packaged extension. The kernel is that of
 * the README: line 40 calls `square`, which does not fit its prototype.
 *
 * It needs code-server, in the path or at LANEWISE_CODE_SERVER (its command, or out/node/entry.js of the package), and
 * what `npm run package:vscode` has made.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const named = process.env["LANEWISE_CODE_SERVER"] ?? "code-server";
const command = named.endsWith(".js") ? [process.execPath, named] : [named];
const packaged = join(root, "editors/vscode/lanewise.vsix");
const executablePath = findChromium();
const missing =
  executablePath === null
    ? "there is no Chromium"
    : !existsSync(packaged)
      ? "the extension is not packaged"
      : spawnSync(command[0]!, [...command.slice(1), "--version"]).status !== 0
        ? "there is no code-server"
        : null;
const title = missing === null ? "Visual Studio Code" : `Visual Studio Code (skipped: ${missing} on this machine)`;
const patience = 90_000;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

describe.skipIf(missing !== null)(title, () => {
  const home = mkdtempSync(join(tmpdir(), "lanewise-code-server-"));
  const project = join(home, "project");
  let server: ChildProcess;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    mkdirSync(project);
    mkdirSync(join(home, "User"));
    const settings = {
      "security.workspace.trust.enabled": false,
      "workbench.startupEditor": "none",
      // So that the terminal is text.
      "terminal.integrated.gpuAcceleration": "off",
    };
    writeFileSync(join(home, "User/settings.json"), JSON.stringify(settings));
    copyFileSync(join(root, "examples/bugs/wrong-prototype.ptx"), join(project, "wrong.ptx"));
    const folders = ["--user-data-dir", home, "--extensions-dir", join(home, "extensions")];
    const quiet = [...command.slice(1), ...folders, "--disable-telemetry", "--disable-update-check"];
    const installed = spawnSync(command[0]!, [...quiet, "--install-extension", packaged], { encoding: "utf8" });
    expect(installed.stdout).toMatch(/successfully installed/);
    const port = await freePort();
    server = spawn(command[0]!, [...quiet, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, project]);
    await new Promise<void>((resolve) => {
      server.stdout!.on("data", (text) => String(text).includes("HTTP server listening") && resolve());
    });
    browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox"] });
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(patience / 2);
    await page.goto(`http://127.0.0.1:${port}/?folder=${project}`);
    await page.getByRole("treeitem", { name: /^wrong\.ptx/ }).dblclick();
    await page.locator(".view-line").first().waitFor();
  }, patience);
  afterAll(async () => {
    await browser?.close();
    server?.kill();
    rmSync(home, { recursive: true, force: true });
  });

  const line = (text: string) => page.locator(".view-line", { hasText: text }).first();
  const lens = (name: string) => page.locator(".codelens-decoration a", { hasText: name }).first();
  /** Answers the question how the kernel is launched. */
  const launch = async (name: string): Promise<void> => {
    await lens(name).click();
    const input = page.locator(".quick-input-widget input[type=text]").first();
    await input.waitFor();
    await input.fill("--block 32 --arg u32[32]");
    await input.press("Enter");
  };

  test(
    "an opcode is explained",
    async () => {
      await lens("Run").waitFor();
      await page.locator(".view-line span span", { hasText: /^mul/ }).first().hover();
      await page.locator(".monaco-hover-content", { hasText: "multiplies two values" }).first().waitFor();
    },
    patience,
  );

  test(
    "a mistake is underlined while one types, and the quick fix repairs it",
    async () => {
      await page.keyboard.press("Escape");
      await line("mul").click();
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.keyboard.type("ad.u32 %x, %x, 1;");
      await page.locator(".squiggly-error").first().waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Home");
      await page.keyboard.press("Control+.");
      await page.locator(".action-widget").first().waitFor();
      await page.keyboard.press("Enter");
      await line("add.u32").waitFor();
      await expect.poll(() => page.locator(".squiggly-error").count(), { timeout: patience / 4 }).toBe(0);
      await page.keyboard.press("Control+Shift+k");
      await page.keyboard.press("Control+s");
    },
    patience,
  );

  test(
    "the lens above the kernel runs it, and the terminal shows the bug at its line",
    async () => {
      await launch("Run");
      // Lines that are too long for the terminal are broken anywhere.
      const shown = async () => (await page.locator(".xterm-rows").allTextContents()).join("").replace(/\s+/g, "");
      await expect.poll(shown, { timeout: patience / 2 }).toMatch(/wrong\.ptx:40:9:error:`square`is/);
    },
    patience,
  );

  test(
    "the kernel is debugged: forwards, and backwards",
    async () => {
      // The panel with the terminal would cover the lens.
      await page.keyboard.press("Control+j");
      await launch("Debug");
      await page.locator(".debug-toolbar").waitFor();
      const now = page.locator(".debug-top-stack-frame-line");
      await now.first().waitFor();
      // Where the present line is on the screen: each step moves it.
      const place = async () => (await now.first().boundingBox())!.y;
      const first = await place();
      await page.keyboard.press("F10");
      await expect.poll(place, { timeout: patience / 4 }).toBeGreaterThan(first);
      await page.locator(".debug-toolbar .action-label[aria-label^='Step Back']").click();
      await expect.poll(place, { timeout: patience / 4 }).toBe(first);
    },
    patience,
  );
});
