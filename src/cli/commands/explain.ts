import { UsageError } from "../../runtime/data/errors.ts";
import { type CodePage, nearest } from "../../source/index.ts";
import { catalogues } from "../options/catalogues.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { printJson, type Terminal } from "../terminal/terminal.ts";
import { maxColumns, wrap } from "../terminal/wrap.ts";

const indented = (text: string): string =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");

interface Page extends CodePage {
  readonly code: string;
  readonly manual: string;
}

function printPage({ code, title, page, section, example, manual }: Page, terminal: Terminal): void {
  const { style, width } = terminal;
  const columns = Math.min(width, maxColumns);
  const heading = wrap(`${code}: ${title}`, columns).replace(code, style("strong", code));
  terminal.out(`${heading}\n\n${wrap(page, columns)}`);
  if (example) {
    terminal.out(`\n${style("error", "wrong:")}\n\n${indented(example.bad)}`);
    terminal.out(`\n${style("help", "right:")}\n\n${indented(example.good)}`);
  }
  if (section !== undefined) terminal.out(`\n${manual}${section}`);
}

const maxAlternatives = 8;

/** A suggestion for a word that is not a code: a code spelt like it, or those that contain it. */
function alternatives(word: string, codes: readonly string[]): string {
  const meant = nearest(word, codes);
  if (meant !== null) return `did you mean "${meant}"?`;
  const having = codes.filter((code) => `-${code}-`.includes(`-${word}-`));
  return having.length > 0 && having.length <= maxAlternatives
    ? `there is ${having.join(", ")}`
    : "`lanewise explain` lists all";
}

export const explain: Command = {
  name: "explain",
  summary: "explain the code of a diagnostic or report",
  usage: ["explain", "explain CODE…"],
  options: [],
  common: [],
  run(options, terminal) {
    const pages = new Map(
      catalogues.flatMap(({ codes, manual }) =>
        Object.entries(codes).map(([code, page]): [string, Page] => [code, { ...page, code, manual }]),
      ),
    );
    if (options.positionals.length === 0) {
      if (options.has("json")) {
        printJson({ codes: [...pages].map(([code, { title }]) => ({ code, title })) }, terminal);
        return exitStatus.ok;
      }
      const width = Math.max(...[...pages.keys()].map((code) => code.length));
      for (const { title, codes } of catalogues) {
        terminal.out(terminal.style("strong", title));
        for (const [code, page] of Object.entries(codes)) terminal.out(`  ${code.padEnd(width)}  ${page.title}`);
      }
      return exitStatus.ok;
    }
    const found = options.positionals.map((code) => {
      const page = pages.get(code);
      if (page) return page;
      throw new UsageError(`there is no code "${code}"; ${alternatives(code, [...pages.keys()])}`);
    });
    if (options.has("json")) printJson({ codes: found.map(({ manual: _, ...page }) => page) }, terminal);
    else {
      found.forEach((page, i) => {
        if (i > 0) terminal.out("");
        printPage(page, terminal);
      });
    }
    return exitStatus.ok;
  },
};
