import { describe, expect, test } from "vitest";
import { gallery, lineWith } from "./gallery-files.ts";
import { chromiumPath, eventually, fileOf, missingFor, patience, type PlaygroundPage, whileOpen } from "./page.ts";
import { serveSite } from "./site.ts";

const missing = missingFor(chromiumPath, "Chromium");
const title = missing === null ? "the playground" : `the playground (skipped: ${missing} on this machine)`;

describe.skipIf(missing !== null)(title, () => {
  let playground: PlaygroundPage;
  let page: PlaygroundPage["page"];
  whileOpen((opened) => {
    playground = opened;
    ({ page } = opened);
  });

  const run = (): Promise<void> => playground.run();
  const show = (view: string): Promise<void> => playground.show(view);

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
    // They are shown with the next frame.
    await eventually(() => page.locator(".groups li").allTextContents()).toEqual([
      expect.stringMatching(/lanes 0 2 4 \.\. 30runsapply:\d+ › double/),
      expect.stringMatching(/lanes 1 3 5 \.\. 31waits for its turnapply:\d+ › square/),
    ]);
    // Lane 2 has doubled its number: the instruction before has done it.
    const x = page.locator(".registers tr", { hasText: "%x" }).locator("td.changed").first();
    await eventually(() => x.textContent()).toBe("4");
  });

  test("a register leads back to where it was written, and memory to who wrote it", async () => {
    await page.getByRole("button", { name: "To the end" }).click();
    await page.getByRole("button", { name: /^%f, b64/ }).click();
    const now = page.locator(".time-bar .instruction");
    await eventually(() => now.textContent()).toMatch(/line 35ld\.global\.u64 %f/);
    await show("Memory");
    await page.getByRole("button", { name: "To the end" }).click();
    const cell = page.getByRole("gridcell", { name: /^element 3: 12; written at time \d+, line 46, by lane 3 / });
    await cell.click();
    await eventually(() => now.textContent()).toMatch(/line 46st\.global\.u32/);
  });

  test(
    "the console has the debugger's commands, and takes the page along in time",
    async () => {
      await show("Console");
      const command = page.getByRole("textbox", { name: "Command of the debugger" });
      await command.fill("goto 6");
      await command.press("Enter");
      await eventually(() => page.locator(".time-bar .instruction").textContent()).toMatch(/^time 6line 40/);
      await command.fill("print %f == square");
      await command.press("Enter");
      await eventually(() => page.getByRole("log").textContent()).toMatch(/\(lanewise\) print %f == square\ntrue/);
    },
    patience,
  );

  test(
    "the profile shades lines, and other schedules of it make no difference",
    async () => {
      await show("Profile");
      await page.locator(".view-bar").getByRole("button", { name: "Profile", exact: true }).click();
      await page.locator("button.stop").waitFor({ state: "hidden" });
      expect(await page.locator(".totals").textContent()).toMatch(/divergent calls1/);
      expect(await page.locator(".cm-heat").count()).toBeGreaterThan(5);
      await show("Schedules");
      await page.getByRole("button", { name: "Try other schedules" }).click();
      await page.locator("button.stop").waitFor({ state: "hidden", timeout: patience });
      expect(await page.locator(".schedules-content .verdict").textContent()).toMatch(/^There is no other schedule/);
    },
    patience,
  );

  test("the link of an example leads to the example, and says no more than that", async () => {
    await page.getByRole("button", { name: "Share" }).click();
    await eventually(() => page.locator(".output .status").textContent()).toMatch(/ It opens this example\.$/);
    expect(page.url()).toMatch(/#e=divergent-call$/);
  });

  test("a link holds the program, and another page opens it", async () => {
    await page.getByRole("button", { name: "double-or-square.ptx" }).click();
    await page.locator(".cm-content").press("Control+Home");
    await page.keyboard.type("// mine\n");
    await page.getByRole("button", { name: "Share" }).click();
    await eventually(() => page.url()).toMatch(/#p=[\w-]+$/);
    expect(await page.locator(".output .status").textContent()).toMatch(/The link is in/);
    const other = await playground.browser.newPage();
    await other.goto(page.url());
    await eventually(() => other.locator(".cm-line").first().textContent()).toBe("// mine");
    await other.goto("about:blank");
    await other.goto(`${page.url().slice(0, -40)}`);
    await eventually(() => other.locator(".output .status").textContent()).toMatch(/damaged/);
    await other.close();
  });

  test(
    "a report is in the margin at both of its accesses, and leads to its time",
    async () => {
      await page.goto(`${playground.url}#e=missing-barrier`);
      await eventually(() => page.locator(".bar .title").textContent()).toBe("The missing barrier");
      await page.getByRole("checkbox", { name: "sanitize" }).check();
      await run();
      await page.getByRole("checkbox", { name: "sanitize" }).uncheck();
      await show("Reports");
      const report = page.locator(".report.error").first();
      expect(await report.textContent()).toMatch(/data-race, missing-barrier\.ptx:16, .*missing-barrier\.ptx:15/);
      await eventually(() => page.locator(".cm-lint-marker-error").count()).toBe(1);
      await eventually(() => page.locator(".cm-lint-marker-info").count()).toBe(1);
      await report.getByRole("button", { name: /^time / }).click();
      await eventually(() => page.locator(".time-bar .instruction").textContent()).toMatch(/line 16ld\.shared/);
    },
    patience,
  );

  test("while one types, mistakes are marked with what would be right, and names are explained", async () => {
    await page.goto(`${playground.url}#e=squares`);
    await eventually(() => page.locator(".bar .title").textContent()).toBe("Squares");
    await page.locator(".cm-line", { hasText: "mul.lo.u32" }).click();
    await page.keyboard.press("End");
    await page.keyboard.type("\n    ad.u32 %t, %t, 1;");
    await eventually(() => page.locator(".cm-lint-marker-error").count()).toBe(1);
    await page.getByText("mad", { exact: true }).hover();
    await eventually(() => page.locator(".cm-hover").textContent()).toMatch(/multiplies two values and adds a third/);
  });

  test(
    "an executable that is dropped in is opened with its kernel and arguments for it, and runs",
    async () => {
      await playground.drop([fileOf("examples/cuda/reduce", "reduce")]);
      const status = page.locator(".output .status");
      await eventually(() => status.textContent()).toMatch(/^Opened .*\.ptx\./);
      await run();
      expect(await status.textContent()).toMatch(/^Done/);
    },
    patience,
  );

  test.each([
    { what: "random bytes", name: "noise.bin", bytes: [1, 0, 3, 255], says: /Added noise\.bin/ },
    { what: "an ELF file that is cut off", name: "a.out", bytes: [127, 69, 76, 70, 2, 1, 1, 0], says: /a\.out/ },
    { what: "text that is no program", name: "letter.txt", bytes: [72, 105, 10], says: /Added letter\.txt/ },
  ])("$what: it is said what is wrong, and the page goes on", async ({ name, bytes, says }) => {
    await playground.drop([{ name, bytes }]);
    await eventually(() => page.locator(".output .status").textContent()).toMatch(says);
  });

  test(
    "a page that has been visited works without a network",
    async () => {
      const context = await playground.browser.newContext();
      const visitor = await context.newPage();
      await visitor.goto(playground.url);
      const run = visitor.getByRole("button", { name: "Run", exact: true });
      await run.click();
      await visitor.evaluate("navigator.serviceWorker.ready.then(() => true)");
      await context.setOffline(true);
      await visitor.goto(`${playground.url}#e=visa-branch`);
      await visitor.reload();
      await run.click();
      const status = visitor.locator(".output .status");
      await eventually(() => status.textContent()).toMatch(/^Done/);
      await context.close();
    },
    patience,
  );

  test(
    "where the server isolates the page, compiled kernels use several threads",
    async () => {
      const isolated = await serveSite(playground.site, { isolated: true, path: "" });
      const other = await playground.browser.newPage();
      await other.goto(`${isolated.url}#e=tiles`);
      expect(await other.evaluate("crossOriginIsolated")).toBe(true);
      await other.getByRole("button", { name: "Run", exact: true }).click();
      const status = other.locator(".output .status");
      await eventually(() => status.textContent()).toMatch(/^Done/);
      await other.close();
      isolated.close();
    },
    patience,
  );

  test.each(gallery)(
    "the example $id opens, and its tour can be walked",
    async ({ id, title: name, files, tour }) => {
      await page.goto(`${playground.url}#e=${id}`);
      await eventually(() => page.locator(".bar .title").textContent()).toBe(name);
      const next = page.locator(".tour .primary");
      for (const { at } of tour.slice(1)) {
        await next.click();
        await page.locator("button.stop").waitFor({ state: "hidden", timeout: patience });
        if (at === undefined) continue;
        const wanted = `line ${lineWith(files[0]!.text, at.line)}`;
        await eventually(() => page.locator(".time-bar .instruction").textContent()).toContain(wanted);
      }
      expect(await next.textContent()).toMatch(id === gallery.at(-1)!.id ? /^The end/ : /^Next example: /);
      expect(await page.locator(".output .status").textContent()).not.toMatch(/engine has failed/);
    },
    patience,
  );

  test(
    "a kernel that never ends is stopped at once, and the next one runs",
    async () => {
      const source = `.version 8.0
.target sm_75
.address_size 64
.visible .entry spin(.param .u64 out) { again: bra again; }`;
      await playground.example("squares", "Squares");
      await playground.write(source);
      await playground.file("job.json");
      const job = {
        variants: { ptx: ["squares.ptx"] },
        launches: [{ kernel: "spin", grid: [1], block: [32], args: [{ u64: 0 }] }],
      };
      await playground.write(JSON.stringify(job));
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await eventually(() => playground.status).toBe("Running…");
      // The page goes on meanwhile.
      await show("Results");
      await page.getByRole("button", { name: "Stop" }).click();
      await eventually(() => page.locator(".output .status").textContent()).toBe("Stopped.");
      const works = { ...job, launches: [] };
      await playground.write(JSON.stringify(works));
      await run();
      expect(await page.locator(".output .status").textContent()).toMatch(/^Done/);
    },
    patience,
  );

  test("what is wrong with a program is listed, and one click leads to its line", async () => {
    await playground.write('{"variants": {"ptx": ["squares.ptx"]}, "launches": 7}');
    await run();
    await show("Results");
    expect(await page.locator(".outcome h2").textContent()).toBe("Not run");
    const cause = page.getByRole("list", { name: "Errors" }).getByRole("listitem").first();
    expect(await cause.textContent()).toMatch(/^job\.json:1 /);
    await page.getByRole("button", { name: "squares.ptx" }).click();
    await cause.getByRole("button").click();
    await eventually(() => page.locator(".cm-line").first().textContent()).toContain('"launches": 7');
    await show("Reports");
    expect(await page.locator(".report.error").first().textContent()).toMatch(/job\.json:1/);
  });

  test.each([390, 768, 1280, 2560])("%i pixels wide: nothing sticks out", async (width) => {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  });
});
