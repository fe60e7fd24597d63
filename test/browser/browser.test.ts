import { readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve } from "../../examples/browser/serve.mjs";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { buildKernel } from "../../src/runtime/standalone/standalone.ts";
import { findChromium } from "./chromium.ts";

// What is built in dist/, in a real browser. `npm test` has built it before.

const executablePath = findChromium();
const title = executablePath === null ? "in a browser (skipped: there is no Chromium on this machine)" : "in Chromium";

/** A browser starts slowly on a busy machine. */
const patience = 300_000;

const jobs = ["direct", "jump-table", "calltargets"];
const kernelText = (file: string): string =>
  readFileSync(new URL(`../../bench/kernels/${file}.ptx`, import.meta.url), "utf8");

/** A kernel with many blocks. */
const side = 256;
const mandelbrot = {
  text: kernelText("mandelbrot"),
  kernel: "mandelbrot",
  launch: { grid: [side / 16, side / 8], block: [16, 8] },
  args: [side, -2.25, -1.5, 3 / side, 64],
  words: side * side,
} as const;

/** What the interpreter makes of it. */
function picture(): number[] {
  const { text, kernel, launch, args, words } = mandelbrot;
  const device = new PtxDevice();
  const out = device.buffer("s32", words);
  device
    .load(text)
    .kernel(kernel)
    .launch({ ...launch, args: [...args, out] });
  return [...(out.read() as Int32Array)];
}

describe.skipIf(executablePath === null)(title, () => {
  let browser: Browser;
  const wanted = picture();
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox"] });
  }, patience);
  afterAll(() => browser?.close());

  describe.each([
    { isolated: true, who: "a page that is isolated from others" },
    { isolated: false, who: "a page that is not" },
  ])("$who", ({ isolated }) => {
    let page: Page;
    let server: Awaited<ReturnType<typeof serve>>;
    const errors: string[] = [];
    beforeAll(async () => {
      server = await serve({ isolated });
      page = await browser.newPage();
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(`${server.url}/test/browser/page.html`);
      expect(await page.evaluate("crossOriginIsolated")).toBe(isolated);
    }, patience);
    afterAll(async () => {
      await page?.close();
      server?.close();
      expect(errors).toEqual([]);
    });

    /** Calls one of the functions of `page.mjs`. */
    const call = async <T>(name: string, argument: unknown): Promise<T> =>
      page.evaluate(`tests.${name}(${JSON.stringify(argument)})`);

    test.each(jobs)("the job %s has the results that it expects, out of compiled code", async (name) => {
      const job = JSON.parse(readFileSync(new URL(`../../examples/seeds/${name}.json`, import.meta.url), "utf8"));
      const checks = job.checks.map(({ n }: { n: number }) => ({ ok: true, n }));
      expect(checks.length).toBeGreaterThan(0);
      expect(await call("job", name)).toEqual({ ok: true, engine: "jit", failure: null, checks });
    });

    test("a launch that does not keep the page waiting, in workers where there can be some", async () => {
      const found = await call<{ values: number[]; hostThreads: number }>("launch", mandelbrot);
      expect(found).toMatchObject({ engine: "jit", values: wanted, isShared: isolated });
      if (!isolated) expect(found.hostThreads).toBe(1);
    });

    test("a stand-alone module is launched by the loader", async () => {
      const { wasm, description } = buildKernel(mandelbrot.text);
      expect(await call("standalone", { ...mandelbrot, bytes: [...wasm], description })).toEqual(wanted);
    });

    test("the page of the example shows a picture, and what is wrong with a kernel", async () => {
      const example = await browser.newPage({ viewport: { width: 390, height: 844 } });
      example.on("pageerror", (error) => errors.push(error.message));
      await example.goto(`${server.url}/examples/browser/`);
      const status = example.locator("#status");
      await expect
        .poll(() => status.textContent(), { timeout: patience })
        .toMatch(/^262,144 GPU threads in \d+ ms \(compiled/);
      // Texts, since the types of a page are not those of Node.
      const pixels = 'document.querySelector("canvas").getContext("2d").getImageData(0, 0, 512, 512).data.buffer';
      const colors = await example.evaluate(`new Set(new Uint32Array(${pixels})).size`);
      expect(colors).toBeGreaterThan(20);
      // Nothing is wider than a phone.
      expect(await example.evaluate("document.documentElement.scrollWidth")).toBe(390);
      await example.locator("#ptx").fill((await example.locator("#ptx").inputValue()).replace("add.s32", "ad.s32"));
      await example.locator("button").click();
      await expect
        .poll(() => example.locator("#problem").textContent(), { timeout: patience })
        .toMatch(/mandelbrot\.ptx:\d+:\d+: error: /);
      await example.close();
    });
  });
});
