import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../browser/chromium.ts";
import { buildSite, canBuild, serveSite, type Site } from "./site.ts";

const executablePath = findChromium();
const missing = executablePath === null ? "there is no Chromium" : canBuild ? null : "its packages are not installed";
const title = missing === null ? "the playground" : `the playground (skipped: ${missing} on this machine)`;
const patience = 120_000;

describe.skipIf(missing !== null)(title, () => {
  let browser: Browser;
  let site: Site;
  let server: Awaited<ReturnType<typeof serveSite>>;
  let page: Page;
  const errors: string[] = [];
  beforeAll(async () => {
    site = buildSite();
    server = await serveSite(site);
    browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox"] });
    page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(server.url);
    await page.locator(".cm-line").first().waitFor();
  }, patience);
  afterAll(async () => {
    await browser?.close();
    server?.close();
    site?.remove();
    expect(errors).toEqual([]);
  });

  const run = async (): Promise<void> => {
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator("button.stop").waitFor({ state: "hidden", timeout: patience });
  };
  const show = (view: string): Promise<void> => page.getByRole("tab", { name: view }).click();

  test(
    "runs a kernel in both engines, and shows what it has left in its buffer",
    async () => {
      await run();
      expect(await page.locator(".output .status").textContent()).toMatch(
        /^Done: [\d.]+ ms compiled, [\d.]+ ms interpreted\.$/,
      );
      // Even lanes double their number, odd ones square it, and each adds its number.
      const values = await page.locator(".values td").allTextContents();
      const wanted = Array.from({ length: 32 }, (_, i) => (i % 2 === 0 ? 2 * i : i * i) + i);
      expect(values.map(Number)).toEqual(wanted);
      expect(await page.locator(".agree").textContent()).toMatch(/same results/);
    },
    patience,
  );

  test("lanes against time: the keyboard goes through the steps, and who runs is said", async () => {
    await show("Lanes");
    const scrub = page.getByRole("slider", { name: "Step of the warp" });
    await scrub.focus();
    for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowRight");
    expect(await scrub.getAttribute("aria-valuetext")).toMatch(/^time 9, line 12: st\.param\.u32 .*, 16 lanes run$/);
    const groups = await page.locator(".groups li").allTextContents();
    expect(groups).toHaveLength(2);
    expect(groups[0]).toMatch(/lanes 0 2 4 \.\. 30runsapply:\d+ › double/);
    expect(groups[1]).toMatch(/lanes 1 3 5 \.\. 31waits for its turnapply:\d+ › square/);
    // Lane 2 has doubled its number: the instruction before has done it.
    const x = page.locator(".registers tr", { hasText: "%x" }).locator("td.changed").first();
    await expect.poll(() => x.textContent()).toBe("4");
  });

  test("a register leads back to where it was written, and memory to who wrote it", async () => {
    await page.getByRole("button", { name: "To the end" }).click();
    await page.getByRole("button", { name: /^%f, b64/ }).click();
    const now = page.locator(".time-bar .instruction");
    await expect.poll(() => now.textContent()).toMatch(/line 35ld\.global\.u64 %f/);
    await show("Memory");
    await page.getByRole("button", { name: "To the end" }).click();
    const cell = page.getByRole("gridcell", { name: /^element 3: 12; written at time \d+, line 46, by lane 3 / });
    await cell.click();
    await expect.poll(() => now.textContent()).toMatch(/line 46st\.global\.u32/);
  });

  test(
    "the console has the debugger's commands, and takes the page along in time",
    async () => {
      await show("Console");
      const command = page.getByRole("textbox", { name: "Command of the debugger" });
      await command.fill("goto 6");
      await command.press("Enter");
      await expect.poll(() => page.locator(".time-bar .instruction").textContent()).toMatch(/^time 6line 40/);
      await command.fill("print %f == square");
      await command.press("Enter");
      await expect.poll(() => page.getByRole("log").textContent()).toMatch(/\(lanewise\) print %f == square\ntrue/);
    },
    patience,
  );

  test(
    "the profile shades lines, and other schedules of it make no difference",
    async () => {
      await show("Profile");
      await page.locator(".view-bar").getByRole("button", { name: "Profile" }).click();
      await page.locator("button.stop").waitFor({ state: "hidden" });
      expect(await page.locator(".totals").textContent()).toMatch(/divergent calls1/);
      expect(await page.locator(".cm-heat").count()).toBeGreaterThan(5);
      await show("Schedules");
      await page.getByRole("button", { name: "Try other schedules" }).click();
      await page.locator("button.stop").waitFor({ state: "hidden", timeout: patience });
      expect(await page.locator(".schedules-content .verdict").textContent()).toMatch(/the results are the same/);
    },
    patience,
  );

  test("a link holds the program, and another page opens it", async () => {
    await page.getByRole("button", { name: "double-or-square.ptx" }).click();
    await page.locator(".cm-content").press("Control+Home");
    await page.keyboard.type("// mine\n");
    await page.getByRole("button", { name: "Share" }).click();
    await expect.poll(() => page.locator(".output .status").textContent()).toMatch(/The link is in/);
    expect(page.url()).toMatch(/#p=[\w-]+$/);
    const other = await browser.newPage();
    await other.goto(page.url());
    await expect.poll(() => other.locator(".cm-line").first().textContent()).toBe("// mine");
    await other.goto("about:blank");
    await other.goto(`${page.url().slice(0, -40)}`);
    await expect.poll(() => other.locator(".output .status").textContent()).toMatch(/damaged/);
    await other.close();
  });

  test(
    "a kernel that never ends is stopped at once, and the next one runs",
    async () => {
      const source = `.version 8.0
.target sm_75
.address_size 64
.visible .entry spin(.param .u64 out) { again: bra again; }`;
      await page.goto(`${server.url}#e=squares`);
      await expect.poll(() => page.getByRole("button", { name: "squares.ptx" }).count()).toBe(1);
      await page.locator(".cm-content").fill(source);
      await page.getByRole("button", { name: "job.json" }).click();
      const job = {
        variants: { ptx: ["squares.ptx"] },
        launches: [{ kernel: "spin", grid: [1], block: [32], args: [{ u64: 0 }] }],
      };
      await page.locator(".cm-content").fill(JSON.stringify(job));
      await page.getByRole("button", { name: "Run" }).click();
      // The page goes on meanwhile.
      await show("Results");
      await page.getByRole("button", { name: "Stop" }).click();
      await expect.poll(() => page.locator(".output .status").textContent()).toBe("Stopped.");
      const works = { ...job, launches: [] };
      await page.locator(".cm-content").fill(JSON.stringify(works));
      await run();
      expect(await page.locator(".output .status").textContent()).toMatch(/^Done/);
    },
    patience,
  );

  test("what is wrong with a program is listed, and one click leads to its line", async () => {
    await page.locator(".cm-content").fill('{"variants": {"ptx": ["squares.ptx"]}, "launches": 7}');
    await run();
    await show("Reports");
    expect(await page.locator(".report.error").first().textContent()).toMatch(/job\.json:1/);
  });

  test.each([390, 1280, 2560])("%i pixels wide: nothing sticks out", async (width) => {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  });
});
