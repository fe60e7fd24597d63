import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Browser, firefox } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gallery, lineWith } from "./gallery-files.ts";
import { eventually, missingFor, patience, PlaygroundPage } from "./page.ts";

/* The playground in Firefox as Debian has it, which Playwright reaches through WebDriver BiDi. */

const executablePath = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find((path) => existsSync(path)) ?? null;
/** The first version that has all the commands with which Playwright begins. */
const firstVersion = 143;
const versionOf = (path: string): number =>
  Number(/\d+/.exec(execFileSync(path, ["--version"], { encoding: "utf8" }))?.[0]);
const isOld = executablePath !== null && versionOf(executablePath) < firstVersion;
const missing = isOld ? `there is no Firefox from version ${firstVersion} on` : missingFor(executablePath, "Firefox");
const title = missing === null ? "the playground in Firefox" : `in Firefox (skipped: ${missing} on this machine)`;

interface Session {
  send(method: string, params?: unknown): Promise<unknown>;
}

/** Playwright overrides media features on each page, a command that this Firefox may not know yet. */
function forgiveUnknownCommands(browser: Browser): void {
  const { _connection: connection } = browser as unknown as {
    _connection: { toImpl?: (of: Browser) => { _browserSession: Session } };
  };
  const session = connection.toImpl?.(browser)._browserSession;
  if (session === undefined) return;
  const known = Object.getPrototypeOf(session) as Session;
  const { send } = known;
  known.send = async function (method, params) {
    try {
      return await send.call(this, method, params);
    } catch (error) {
      if (/unknown command/.test(String(error))) return {};
      throw error;
    }
  };
}

describe.skipIf(missing !== null)(title, () => {
  let playground: PlaygroundPage;
  let page: PlaygroundPage["page"];
  beforeAll(async () => {
    const options = { channel: "moz-firefox", executablePath: executablePath! };
    playground = await PlaygroundPage.open(firefox, options, forgiveUnknownCommands);
    ({ page } = playground);
  }, patience);
  afterAll(() => playground?.close());

  test(
    "runs a kernel in both engines, and goes through its time",
    async () => {
      await playground.run();
      expect(await playground.status).toMatch(/^Done: [\d.]+ ms compiled, [\d.]+ ms interpreted\.$/);
      expect(await page.locator(".agree").textContent()).toMatch(/same results/);
      await playground.show("Lanes");
      const scrub = page.getByRole("slider", { name: "Step of the warp" });
      await scrub.focus();
      for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowRight");
      expect(await scrub.getAttribute("aria-valuetext")).toMatch(/^time 9, line 12: st\.param\.u32 .*, 16 lanes run$/);
      await playground.show("Memory");
      await page.getByRole("button", { name: "To the end" }).click();
      const cell = page.getByRole("gridcell", { name: /^element 3: 12; written at time \d+, line 46, by lane 3 / });
      await eventually(() => cell.count()).toBe(1);
    },
    patience,
  );

  test("names are explained, and mistakes marked", async () => {
    await page.getByText("mul", { exact: true }).first().hover();
    await eventually(() => page.locator(".cm-hover").first().textContent()).toMatch(/multiplies/);
    await page.locator(".cm-line", { hasText: "mul.lo.u32" }).click();
    await page.keyboard.press("End");
    await page.keyboard.type("\n    ad.u32 %x, %x, 1;");
    await eventually(() => page.locator(".cm-lint-marker-error").count()).toBe(1);
  });

  test.each(gallery)(
    "the example $id opens, and its tour can be walked",
    async ({ id, title: name, files, tour }) => {
      await playground.example(id, name);
      const next = page.locator(".tour .primary");
      for (const { at } of tour.slice(1)) {
        await next.click();
        await playground.finished();
        if (at === undefined) continue;
        await eventually(() => playground.now).toContain(`line ${lineWith(files[0]!.text, at.line)}`);
      }
      expect(await next.isDisabled()).toBe(true);
      expect(await playground.status).not.toMatch(/engine has failed/);
    },
    patience,
  );

  test(
    "a kernel that never ends is stopped at once",
    async () => {
      await playground.example("squares", "Squares");
      await playground.write(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry spin(.param .u64 out) { again: bra again; }",
      );
      await page.getByRole("button", { name: "Run spin" }).click();
      await page.getByRole("button", { name: "Stop" }).click();
      await eventually(() => playground.status).toBe("Stopped.");
    },
    patience,
  );
});
