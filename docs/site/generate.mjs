// Writes the site's pages into a folder (pages/ if none is given): the pages of docs/, whose links to files lead to
// copies and whose programs open in the playground, and the reference pages, which are made of what `lanewise explain`
// and `lanewise isa` print. dist/ must have been built.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { playgroundLink } from "./playground-link.mjs";
import { diagnosticPages } from "./reference/diagnostics.mjs";
import { ptxPages, visaPage } from "./reference/instructions.mjs";

const site = dirname(fileURLToPath(import.meta.url));
const root = join(site, "../..");
const out = process.argv[2] ?? join(site, "pages");
const files = join(out, "public/files");

const read = (path) => readFileSync(join(root, path), "utf8");
const lanewise = (...args) => {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 };
  return JSON.parse(execFileSync(process.execPath, ["dist/cli/main.js", ...args, "--json"], options));
};
const write = (path, text) => {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), text);
};

/** Pages of the clone that are pages of the site, by where they lie. */
const pageOf = new Map([
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => [`docs/${name}`, name]),
  ["ARCHITECTURE.md", "architecture.md"],
  ["RATIONALE.md", "rationale.md"],
  ["CONTRIBUTING.md", "contributing.md"],
  ["README.md", "index.md"],
]);

/** The address of a file that a page links to, which is copied: as text, so that browsers show it. */
function copied(path) {
  const isPicture = /\.(png|svg)$/.test(path);
  const isFolder = statSync(join(root, path)).isDirectory();
  const name = isPicture ? path : isFolder ? `${path.replace(/\/$/, "")}.txt` : `${path}.txt`;
  const target = join(files, name);
  mkdirSync(dirname(target), { recursive: true });
  if (isFolder) writeFileSync(target, `${readdirSync(join(root, path)).join("\n")}\n`);
  else cpSync(join(root, path), target);
  return `/files/${name}`;
}

function linkFrom(page, target) {
  if (/^(https?:|#|mailto:)/.test(target)) return target;
  const [path, anchor] = target.split("#");
  const resolved = posix.join(posix.dirname(page), path);
  const to = pageOf.get(resolved);
  if (to !== undefined) return `/${to}${anchor === undefined ? "" : `#${anchor}`}`;
  return existsSync(join(root, resolved)) ? copied(resolved) : target;
}

/** Marks of what programs print become links to the playground, where it can run them. */
function withPlayground(text) {
  let last = null;
  return text.replaceAll(/<!-- (begin (.*?)|end) -->\n?/g, (_, mark, what) => {
    if (mark !== "end") last = what;
    const link = mark === "end" && last !== null ? playgroundLink(root, last) : null;
    return link === null ? "" : `\n[Open in the playground ▸](${link})\n`;
  });
}

function pageFrom(path) {
  const text = withPlayground(read(path));
  return text.replaceAll(/(?<!`)\]\(([^)\s]+)\)/g, (all, target) =>
    target.startsWith("/playground/") ? all : `](${linkFrom(path, target)})`,
  );
}

rmSync(out, { recursive: true, force: true });
for (const [from, to] of pageOf) if (to !== "index.md") write(to, pageFrom(from));
write("index.md", readFileSync(join(site, "home.md"), "utf8"));
write("public/lanes.svg", read("docs/pictures/lanes.svg"));
write("public/icon.svg", read("playground/public/icon.svg"));
write("public/job.schema.json", JSON.stringify(lanewise("schema"), null, 2));
for (const [path, text] of diagnosticPages(lanewise)) write(`reference/${path}`, text);
for (const [path, text] of ptxPages(lanewise("isa").instructions, read("docs/support.md")))
  write(`reference/${path}`, text);
write("reference/visa.md", visaPage(lanewise("isa", "--isa", "visa").instructions));
const playground = join(root, "playground/dist");
if (existsSync(playground)) cpSync(playground, join(out, "public/playground"), { recursive: true });
else console.error("site: playground/dist is not there: `npm run playground:build` makes it");
console.error(`site: ${readdirSync(out, { recursive: true }).filter((f) => f.endsWith(".md")).length} pages`);
