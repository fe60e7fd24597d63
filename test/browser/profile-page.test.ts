import { readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { profilePage } from "../../src/cli/profile/profile-page.ts";
import { Device, profileOf, Profiler } from "../../src/index.ts";
import { findChromium } from "./chromium.ts";

const executablePath = findChromium();
const title = executablePath === null ? "in a browser (skipped: there is no Chromium on this machine)" : "in Chromium";
const patience = 300_000;

/** The page of a launch in which lanes part, call two functions and meet. */
function page(): string {
  const path = "examples/two-functions/double-or-square.ptx";
  const device = new Device();
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  const module = device.load({ path: `<b>&${path}`, text });
  const profiler = new Profiler();
  const args = [device.buffer("u32", 32)];
  module.kernel(module.kernels[0]!).launch({ grid: 1, block: 32, args, observers: [profiler] });
  return profilePage(profileOf(profiler), {
    title: "Profile of <i>two functions</i>",
    failure: null,
    readOrigin: () => null,
  });
}

test("a run that has failed says so on its page", () => {
  const profile = profileOf(new Profiler());
  const text = profilePage(profile, { title: "t", failure: "null-dereference at line <5>", readOrigin: () => null });
  expect(text).toContain("The run has failed: null-dereference at line &lt;5&gt;.");
});

test("a profile's page needs nothing from elsewhere, and shows names as they are", () => {
  const text = page();
  expect(text).not.toMatch(/(?:src|href)="(?!#)|@import|url\(/);
  expect(text).toContain("Profile of &lt;i&gt;two functions&lt;/i&gt;");
  expect(text).not.toContain("<b>&");
});

describe.skipIf(executablePath === null)(title, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox"] });
  }, patience);
  afterAll(() => browser?.close());

  const open = async (width: number): Promise<{ view: Page; errors: string[] }> => {
    const view = await browser.newPage({ viewport: { width, height: 800 } });
    const errors: string[] = [];
    view.on("pageerror", (e: Error) => errors.push(e.message));
    view.on("console", (m) => m.type() === "error" && errors.push(m.text()));
    await view.setContent(page());
    return { view, errors };
  };

  test.each([1400, 390])(
    "%i pixels wide: nothing sticks out, and the keyboard goes from stretch to stretch",
    async (width) => {
      const { view, errors } = await open(width);
      expect(await view.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      await view.locator("#timeline canvas").focus();
      const said: string[] = [];
      for (let i = 0; i < 12; i++) {
        await view.keyboard.press("ArrowRight");
        said.push((await view.locator("#timeline .detail").textContent())!);
      }
      // The first stretch is of all lanes; later some lanes are called, and all of them return.
      expect(said[0]).toMatch(/32 of 32 lanes \(0-31\), warp-instructions 0 to/);
      expect(said.some((s) => s.startsWith("call: "))).toBe(true);
      expect(said.some((s) => s.startsWith("return: ") && s.includes("32 of 32 lanes"))).toBe(true);
      expect(errors).toEqual([]);
    },
    patience,
  );

  test(
    "a call is enlarged, and Escape shows all again",
    async () => {
      const { view, errors } = await open(1000);
      const calls = view.locator(".flame button");
      const [whole, small] = [await calls.first().boundingBox(), await calls.nth(1).boundingBox()];
      expect(small!.width).toBeLessThan(whole!.width / 2);
      await calls.nth(1).focus();
      await view.keyboard.press("Enter");
      expect((await calls.nth(1).boundingBox())!.width).toBeCloseTo(whole!.width, -1);
      await view.keyboard.press("Escape");
      expect((await calls.nth(1).boundingBox())!.width).toBeCloseTo(small!.width, -1);
      expect(errors).toEqual([]);
    },
    patience,
  );

  test(
    "the source is shaded by what one chooses",
    async () => {
      const { view } = await open(1000);
      const heats = (): Promise<string[]> => view.locator(".source tr.ran .heat").allTextContents();
      const before = await heats();
      expect(before.every((n) => n !== "")).toBe(true);
      await view.selectOption("#metric", { label: "divergence" });
      const after = await heats();
      expect(await view.locator(".source .count").first().textContent()).toBe("divergence");
      expect(after.filter((n) => n !== "").length).toBeLessThan(before.length);
    },
    patience,
  );
});
