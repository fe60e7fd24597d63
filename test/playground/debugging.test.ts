import { describe, expect, test } from "vitest";
import { chromiumPath, eventually, missingFor, patience, type PlaygroundPage, whileOpen } from "./page.ts";

/*
 * Time in the page: lenses, breakpoints with conditions, running to a line, and scrubbing. The program is the first
 * example: even lanes call `double`, then odd ones `square` (line 20 multiplies), through a table.
 */

const missing = missingFor(chromiumPath, "Chromium");
const title =
  missing === null ? "debugging in the page" : `debugging in the page (skipped: ${missing} on this machine)`;

/** A loop of which more and more lanes go the other way, into a function: more than 10 000 steps of one warp. */
const long = `.version 8.0
.target sm_75
.address_size 64
.func (.param .u32 r) step(.param .u32 x)
{
    .reg .b32 %a;
    ld.param.u32 %a, [x];
    add.u32 %a, %a, 3;
    st.param.u32 [r], %a;
    ret;
}
.visible .entry spin(.param .u64 out)
{
    .reg .b32 %i, %t, %s, %m;
    .reg .pred %more, %other;
    .reg .b64 %o;
    mov.u32 %t, %tid.x;
    mov.u32 %i, 0;
    mov.u32 %s, 0;
again:
    and.b32 %m, %i, 31;
    setp.gt.u32 %other, %t, %m;
    @%other bra big;
    add.u32 %s, %s, 1;
    bra join;
big:
    {
        .param .u32 x, r;
        st.param.u32 [x], %s;
        call (r), step, (x);
        ld.param.u32 %s, [r];
    }
join:
    add.u32 %i, %i, 1;
    setp.lt.u32 %more, %i, 900;
    @%more bra again;
    ld.param.u64 %o, [out];
    mad.wide.u32 %o, %t, 4, %o;
    st.global.u32 [%o], %s;
    ret;
}
`;

/** Scrubs from the first step to the last in as many frames; returns how long each took, in milliseconds. */
const scrub = (frames: number) => `new Promise((done) => {
  const slider = document.querySelector(".scrub");
  const times = [];
  let before = performance.now();
  const frame = (now) => {
    times.push(now - before);
    before = now;
    slider.value = String(Math.round((Number(slider.max) * times.length) / ${frames}));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    if (times.length < ${frames}) requestAnimationFrame(frame);
    else done(times.slice(1));
  };
  requestAnimationFrame(frame);
})`;

describe.skipIf(missing !== null)(title, () => {
  let playground: PlaygroundPage;
  let page: PlaygroundPage["page"];
  whileOpen((opened) => {
    playground = opened;
    ({ page } = opened);
  });

  const line = (n: number) => page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: new RegExp(`^${n}$`) });
  const choose = async (n: number, what: string): Promise<void> => {
    await line(n).click();
    await page.getByRole("menuitem", { name: what }).click();
  };

  test(
    "a lens above the kernel runs it, and shows its lanes",
    async () => {
      await page.getByRole("button", { name: "Debug apply" }).click();
      await eventually(() => page.locator("[role=tab][aria-selected=true]").textContent()).toBe("Lanes");
      await eventually(() => playground.now).toMatch(/^time 0line 31/);
    },
    patience,
  );

  test("time runs to a line and back to it, for the lanes of the warp", async () => {
    await choose(20, "Run to this line");
    await eventually(() => playground.now).toMatch(/^time 12line 20mul\.lo\.u32.*16 lanes$/);
    await choose(31, "Back to this line");
    await eventually(() => playground.now).toMatch(/^time 0line 31/);
    // Nobody comes to it again: time stays.
    await choose(31, "Run to this line");
    await eventually(() => playground.status).toBe("The warp does not come to line 31 after this.");
    expect(await playground.now).toMatch(/^time 0line 31/);
  });

  test("a breakpoint stops only where its condition holds, forwards and backwards", async () => {
    await choose(20, "Stop here if");
    await page.keyboard.type("%x == 7");
    await page.getByRole("button", { name: "On to the next breakpoint" }).click();
    await eventually(() => playground.now).toMatch(/^time 12line 20/);
    // Lane 7 has the number 7, and is looked at now.
    await eventually(() => page.locator(".registers .caption").textContent()).toMatch(/lane 7: square:20 ‹ apply:40/);
    const condition = page.getByRole("textbox", { name: /^Condition at line 20 of double-or-square\.ptx/ });
    await condition.fill("%x == 8");
    await page.getByRole("button", { name: "To the beginning" }).click();
    await page.getByRole("button", { name: "On to the next breakpoint" }).click();
    await eventually(() => playground.status).toBe("the end of the program");
    await condition.fill("%x == ");
    await page.getByRole("button", { name: "Back to the last breakpoint" }).click();
    await eventually(() => playground.status).toMatch(/expected|missing|ends/i);
    await condition.fill("");
    await page.getByRole("button", { name: "Back to the last breakpoint" }).click();
    await eventually(() => playground.now).toMatch(/^time 12line 20/);
    await page.getByRole("button", { name: "Remove the breakpoint at line 20" }).click();
    expect(await page.locator(".breakpoints").isVisible()).toBe(false);
  });

  test("a file that is shown again has its breakpoints", async () => {
    await page.locator(".cm-line", { hasText: "mov.u32 %id" }).click();
    await page.keyboard.press("F9");
    await playground.file("job.json");
    await playground.file("double-or-square.ptx");
    expect(await page.locator(".cm-breakpoints .cm-breakpoint").count()).toBeGreaterThanOrEqual(1);
    await page.getByRole("button", { name: "Remove the breakpoint at line 31" }).click();
  });

  test(
    "10 000 steps are scrubbed through to the last",
    async () => {
      await playground.write(long);
      await page.getByRole("button", { name: "Debug spin" }).click();
      await eventually(() => page.locator(".scrub").getAttribute("max")).toBe("9999");
      await playground.finished();
      await playground.show("Lanes");
      const client = await page.context().newCDPSession(page);
      await client.send("Performance.enable", { timeDomain: "threadTicks" });
      const busy = async (): Promise<number> => {
        const { metrics } = await client.send("Performance.getMetrics");
        return metrics.find(({ name }) => name === "TaskDuration")!.value;
      };
      const frames = 120;
      const before = await busy();
      const times = (await page.evaluate(scrub(frames))) as number[];
      const each = (1000 * ((await busy()) - before)) / frames;
      expect(times).toHaveLength(frames - 1);
      await eventually(() => playground.now).toMatch(/^time 9999/);
      // How fast the machine is, is not tested: a frame of 1/60 s has 16.7 ms.
      console.info(`scrubbing through 10 000 steps: the page's thread works ${each.toFixed(1)} ms for a frame`);
    },
    patience,
  );

  test(
    "of vISA the program's own variables come before the predefined ones",
    async () => {
      await playground.example("visa-ifcall", "IFCALL by mask");
      await playground.run();
      await playground.show("Lanes");
      const names = () => page.locator(".registers tbody th").allTextContents();
      await eventually(async () => (await names()).length).toBeGreaterThan(10);
      const isPredefined = (await names()).map((name) => name.startsWith("%"));
      expect(isPredefined).toEqual([...isPredefined].sort());
      expect(isPredefined[0]).toBe(false);
    },
    patience,
  );
});
