import { existsSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gallery, lineWith } from "./gallery-files.ts";
import { Firefox, keys } from "./marionette.ts";
import { eventually, missingFor, patience } from "./page.ts";
import { buildSite, serveSite, type Site } from "./site.ts";

/* The playground in Firefox as Debian has it. */

const executable = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find((path) => existsSync(path)) ?? null;
const missing = missingFor(executable, "Firefox");
const title = missing === null ? "the playground in Firefox" : `in Firefox (skipped: ${missing} on this machine)`;

describe.skipIf(missing !== null)(title, () => {
  let firefox: Firefox;
  let site: Site;
  let server: Awaited<ReturnType<typeof serveSite>>;
  beforeAll(async () => {
    site = buildSite();
    server = await serveSite(site);
    firefox = await Firefox.open(executable!);
    await firefox.go(server.url);
  }, patience);
  afterAll(async () => {
    await firefox?.close();
    server?.close();
    site?.remove();
  });

  const status = (): Promise<string> => firefox.text(".output .status");
  const now = (): Promise<string> => firefox.text(".time-bar .instruction");
  const finished = () => eventually(() => firefox.evaluate("document.querySelector('button.stop').hidden")).toBe(true);
  const open = async (id: string, name: string): Promise<void> => {
    await firefox.go(`${server.url}#e=${id}`);
    await eventually(() => firefox.text(".bar .title")).toBe(name);
  };

  test(
    "runs a kernel in both engines, and the keyboard goes through its time",
    async () => {
      await eventually(() => firefox.text(".cm-line")).not.toBe("");
      await firefox.click(".bar .primary");
      await eventually(status).toMatch(/^Done: [\d.]+ ms compiled, [\d.]+ ms interpreted\.$/);
      expect(await firefox.text(".agree")).toMatch(/same results/);
      await finished();
      await firefox.click("#tab-lanes");
      await firefox.type(".scrub", keys.right.repeat(9));
      const at = "document.querySelector('.scrub').getAttribute('aria-valuetext')";
      await eventually(() => firefox.evaluate(at)).toMatch(/^time 9, line 12: st\.param\.u32 .*, 16 lanes run$/);
    },
    patience,
  );

  test("mistakes are marked while one types", async () => {
    await open("squares", "Squares");
    await firefox.type(".cm-content", "ad.u32 %x, %x, 1;\n");
    const marks = "document.querySelectorAll('.cm-lint-marker-error').length";
    await eventually(() => firefox.evaluate(marks)).toBeGreaterThan(0);
  });

  test.each(gallery)(
    "the example $id opens, and its tour can be walked",
    async ({ id, title: name, files, tour }) => {
      await open(id, name);
      for (const { at } of tour.slice(1)) {
        await firefox.click(".tour .primary");
        await finished();
        if (at !== undefined) await eventually(now).toContain(`line ${lineWith(files[0]!.text, at.line)}`);
      }
      expect(await firefox.text(".tour .primary")).toMatch(id === gallery.at(-1)!.id ? /^The end/ : /^Next example: /);
      expect(await status()).not.toMatch(/engine has failed/);
    },
    patience,
  );

  test(
    "a kernel that never ends is stopped at once",
    async () => {
      const ptx = `.version 8.0
.target sm_75
.address_size 64
.visible .entry spin() { again: bra again; }`;
      const job = { variants: { ptx: ["spin.ptx"] }, launches: [{ kernel: "spin", grid: [1], block: [32], args: [] }] };
      // What a link holds: playground/src/share/fragment.ts.
      const packed = { v: 1, t: "Spin", j: JSON.stringify(job), f: [["spin.ptx", ptx, null]], w: "results" };
      await firefox.go(`${server.url}#p=${deflateRawSync(JSON.stringify(packed)).toString("base64url")}`);
      await eventually(() => firefox.text(".bar .title")).toBe("Spin");
      await firefox.click(".bar .primary");
      await firefox.click("button.stop");
      await eventually(status).toBe("Stopped.");
    },
    patience,
  );
});
