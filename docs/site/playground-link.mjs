import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { deflateRawSync } from "node:zlib";

/** The fragment that opens a program in the playground (`playground/src/share/fragment.ts` reads it). */
function fragment(title, job, files, view) {
  const packed = { v: 1, t: title, j: job, f: files.map(([path, text]) => [path, text, null]), w: view };
  return `#p=${deflateRawSync(JSON.stringify(packed)).toString("base64url")}`;
}

/** The launch of a kernel whose only parameter is a buffer of a word for each lane. */
const oneWarp = (name, kernel) =>
  `${JSON.stringify(
    {
      id: name,
      variants: { ptx: [`${name}.ptx`] },
      buffers: { out: { type: "u32", n: 32, init: { gen: "zero" } } },
      launches: [{ kernel, grid: [1], block: [32], args: [{ buf: "out" }] }],
    },
    null,
    2,
  )}\n`;

/**
 * A link that opens what a page shows: a chart of a kernel, or the run of a job. Null where the playground has nothing
 * to run.
 */
export function playgroundLink(root, what) {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const chart = /^chart (\S+\.ptx)$/.exec(what)?.[1];
  if (chart !== undefined) {
    const text = read(chart);
    const name = basename(chart, ".ptx");
    const kernel = /\.entry\s+(\w+)/.exec(text)?.[1];
    return kernel === undefined
      ? null
      : `/playground/${fragment(name, oneWarp(name, kernel), [[`${name}.ptx`, text]], "lanes")}`;
  }
  const [, path, rest = ""] = /^lanewise (?:run|debug|profile) (\S+\.json)(.*)$/.exec(what) ?? [];
  if (path === undefined) return null;
  const job = JSON.parse(read(path));
  const variants = Object.entries(job.variants);
  const wanted = /--variant (\S+)/.exec(rest)?.[1];
  const [, names] = variants.find(([name]) => name === wanted) ?? variants[0];
  if (names.some((name) => !/\.(ptx|visaasm|isaasm)$/.test(name))) return null;
  const files = names.map((name) => [name, read(join(dirname(path), name))]);
  const text = `${JSON.stringify({ ...job, variants: { [wanted ?? variants[0][0]]: names } }, null, 2)}\n`;
  return `/playground/${fragment(job.id, text, files, "lanes")}`;
}
