import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalogues } from "../../src/cli/options/catalogues.ts";
import { instructionSet } from "../../src/ptx/isa/index.ts";
import { parseJob, runJob, SourceText } from "../../src/index.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const built = existsSync(join(root, "dist/cli/main.js"));
if (!built) console.warn("skipped: dist/ has not been built, which the site's pages are made with");

let out = "";
let pages: readonly { readonly path: string; readonly text: string }[] = [];
beforeAll(() => {
  if (!built) return;
  out = mkdtempSync(join(tmpdir(), "lanewise-site-"));
  execFileSync(process.execPath, [join(root, "docs/site/generate.mjs"), out], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  pages = readdirSync(out, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ path, text: readFileSync(join(out, path), "utf8") }));
});
afterAll(() => {
  if (out !== "") rmSync(out, { recursive: true });
});

const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```|`[^`]*`/g, "");

test.runIf(built)("links lead to pages and files of the site", () => {
  expect(pages.length).toBeGreaterThan(40);
  for (const { path, text } of pages) {
    for (const [, target = ""] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?:|#|\/playground\/)/.test(target)) continue;
      const [file = ""] = target.split("#");
      const folder = file.startsWith("/") ? out : join(out, dirname(path));
      const found = [join(folder, file), join(out, "public", file)].some((place) => existsSync(place));
      expect.soft(found, `${path} links to ${target}`).toBe(true);
    }
  }
});

test.runIf(built)("programs of the pages open in the playground, and run", () => {
  const links = pages.flatMap(({ text }) => [...text.matchAll(/\(\/playground\/#p=([\w-]+)\)/g)].map(([, p]) => p!));
  expect(links.length).toBeGreaterThan(8);
  for (const link of new Set(links)) {
    const { v, j, f } = JSON.parse(inflateRawSync(Buffer.from(link, "base64url")).toString()) as {
      readonly v: number;
      readonly j: string;
      readonly f: readonly (readonly [path: string, text: string])[];
    };
    expect(v).toBe(1);
    const { job, diagnostics } = parseJob(new SourceText("job.json", j));
    if (job === null) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
    const read = (path: string): Uint8Array => new TextEncoder().encode(f.find(([name]) => name === path)![1]);
    const { skipped, problem } = runJob(job, [...job.variants.keys()][0]!, { read });
    expect({ skipped, problem }).toEqual({ skipped: null, problem: null });
  }
});

test.runIf(built)("the reference has every diagnostic and every instruction", () => {
  const reference = pages.filter(({ path }) => path.startsWith("reference/")).map(({ text }) => text);
  const headings = new Set(
    reference.flatMap((text) => [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)),
  );
  for (const { codes } of catalogues) for (const code of Object.keys(codes)) expect.soft(headings).toContain(code);
  for (const { name, section } of instructionSet.instructions) expect.soft(headings).toContain(`${name} (${section})`);
});
