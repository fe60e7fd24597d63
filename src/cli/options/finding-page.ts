import { displayName, readable } from "../../names/index.ts";
import type { Finding, Judged } from "../../reports/index.ts";
import {
  type CodePage,
  headOf,
  inliningText,
  type Origin,
  originPlaceText,
  printable,
  type ReadOrigin,
  renderPlace,
  spanAt,
  type SourceText,
  type Span,
} from "../../source/index.ts";
import { type Html, html, renderPage } from "../terminal/html.ts";
import { plural } from "../terminal/numbers.ts";
import { describeThreads } from "../terminal/threads.ts";

/** The number of source lines shown before and after a place. */
const around = 4;

/** The number of columns after which a line is cut off. */
const maxWidth = 400;

/** The most findings on a page; browsers could hardly open a larger one. */
const maxFindings = 500;

const style = `
.finding { border: 1px solid var(--line); border-left: 4px solid var(--error); border-radius: 6px; padding: 0.6rem 0.9rem; margin: 1rem 0; }
.finding.is-warning { border-left-color: var(--warning); } .finding.is-suppressed { border-left-color: var(--line); }
.finding h3 { margin: 0 0 0.3rem; font-size: 1rem; overflow-wrap: anywhere; } .finding p { margin: 0.35rem 0; overflow-wrap: anywhere; }
.finding pre .n { color: var(--faint); user-select: none; } .finding pre .here { font-weight: 600; }
summary { cursor: pointer; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 0.9rem; margin: 0.4rem 0; } dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } }
`;

const cut = (text: string): string => (text.length > maxWidth ? `${text.slice(0, maxWidth)}…` : text);

/** Renders some lines of source with the span highlighted. */
function frame(source: SourceText, span: Span, lines = around): Html {
  const start = source.position(span.start);
  const end = source.position(Math.max(span.end, span.start + 1));
  const first = Math.max(1, start.line - lines);
  const last = Math.min(source.lineStarts.length, start.line + lines);
  const width = String(last).length;
  const rows: Html[] = [];
  for (let n = first; n <= last; n++) {
    const text = cut(source.line(n));
    const number = html`<span class="n">${String(n).padStart(width)} | </span>`;
    if (n !== start.line) {
      rows.push(html`${number}${printable(text)}\n`);
      continue;
    }
    const to = end.line === start.line ? end.column - 1 : text.length;
    const [before, marked, after] = [text.slice(0, start.column - 1), text.slice(start.column - 1, to), text.slice(to)];
    rows.push(
      html`<span class="here">${number}${printable(before)}<mark>${printable(marked)}</mark>${printable(after)}</span>\n`,
    );
  }
  return html`<pre>${rows}</pre>`;
}

/** A name, with the mangled one where people point at it. */
const nameOf = (name: string): Html => html`<code title="${name}">${displayName(name)}</code>`;

/** A place on the page: how it is named, and its text if that is at hand. */
interface Shown {
  readonly name: string;
  readonly text: { readonly source: SourceText; readonly span: Span } | null;
}

type Placed = { readonly source: SourceText; readonly span: Span; readonly origin?: Origin | null };

/** The place in the source that the program was compiled from; if that is not known, the place in the program. */
function shownPlace({ source, span, origin }: Placed, readOrigin: ReadOrigin | undefined): Shown {
  const head = origin?.[headOf(origin)];
  if (head === undefined) return { name: renderPlace(source, span), text: { source, span } };
  const found = readOrigin?.(head.path, source.path) ?? null;
  const isThere = found !== null && head.line <= found.lineStarts.length;
  const name = printable(originPlaceText({ ...head, path: found?.path ?? head.path }));
  return { name, text: isThere ? { source: found, span: spanAt(found, head) } : null };
}

const hasOrigin = ({ origin }: Placed): boolean => origin != null && headOf(origin) >= 0;

function stackOf({ run }: Finding, readOrigin: ReadOrigin | undefined): Html | null {
  if (run === null || run.stack.length < 2) return null;
  const entries = run.stack.map((entry) => {
    const { name, text } = shownPlace(entry, readOrigin);
    const own = hasOrigin(entry) ? html` <span class="faint">(${renderPlace(entry.source, entry.span)})</span>` : null;
    const lines = text === null ? null : frame(text.source, text.span, 0);
    return html`<li><code>${displayName(entry.function)}</code> <span class="faint">${name}</span>${own}${lines}</li>`;
  });
  return html`<details><summary>Call stack: ${plural(run.stack.length, "activation")}</summary><ol>${entries}</ol></details>`;
}

function factsOf(finding: Finding, readOrigin: ReadOrigin | undefined): Html {
  const { run, help, notes, function: name, source, origin } = finding;
  const facts: Html[] = [];
  const add = (term: string, value: string | Html): void => void facts.push(html`<dt>${term}</dt><dd>${value}</dd>`);
  if (run !== null) {
    add("kernel", nameOf(run.kernel));
    add(plural(run.count, "thread"), describeThreads(run.threads, run.count));
    if (run.location !== null && !hasOrigin(finding))
      add("from", `${run.location.path}:${run.location.line}:${run.location.column}`);
  }
  for (const line of origin === null ? [] : inliningText(origin)) add("inlined", printable(line));
  if (name !== null && name !== run?.kernel) add("function", nameOf(name));
  for (const note of notes) {
    const from = note.source ?? source;
    const at = note.span && shownPlace({ source: from, span: note.span, origin: note.origin ?? null }, readOrigin);
    const place = at && html`: ${at.name}${at.text === null ? null : frame(at.text.source, at.text.span, 0)}`;
    add("note", html`${printable(readable(note.message))}${place ?? null}`);
  }
  if (help !== null) add("help", printable(readable(help)));
  return html`<dl>${facts}</dl>`;
}

/** The instruction in the program, where the page shows the source that it was compiled from first. */
const instruction = (finding: Finding): Html | null =>
  hasOrigin(finding)
    ? html`<p class="faint">compiled to this instruction: <code>${renderPlace(finding.source, finding.span)}</code></p>
${frame(finding.source, finding.span, 1)}`
    : null;

interface PageContext {
  readonly page: (code: string) => CodePage | undefined;
  readonly readOrigin?: ReadOrigin | undefined;
}

function section({ finding, suppression }: Judged, index: number, context: PageContext): Html {
  const page = context.page(finding.code);
  const place = shownPlace(finding, context.readOrigin);
  const { severity, message, code } = finding;
  const kind = suppression !== null ? "suppressed" : severity;
  return html`<section class="finding is-${kind}" id="f${index}">
<h3><span class="${severity}">${severity}</span>: ${printable(readable(message))}</h3>
<p class="faint"><code>${place.name}</code> · <code>${code}</code>${page ? html`: ${page.title}` : null}${
    suppression === null ? null : html` · suppressed by ${suppression.origin}`
  }</p>
${place.text === null ? null : frame(place.text.source, place.text.span)}
${instruction(finding)}
${factsOf(finding, context.readOrigin)}
${stackOf(finding, context.readOrigin)}
${page ? html`<details><summary>What <code>${code}</code> means</summary><p>${page.page}</p></details>` : null}
</section>`;
}

/**
 * Renders a page with everything that was found: each place in its source, with threads, values, call stacks and the
 * meaning of the code.
 */
export function findingPage(
  found: readonly Judged[],
  { title, ...context }: PageContext & { readonly title: string },
): string {
  const heard = found.filter((j) => j.suppression === null);
  const errors = heard.filter((j) => j.finding.severity === "error").length;
  const shown = found.slice(0, maxFindings);
  const counts = [
    plural(errors, "error"),
    plural(heard.length - errors, "warning"),
    ...(found.length > heard.length ? [`${found.length - heard.length} suppressed`] : []),
  ];
  const rows = shown.map(
    ({ finding: f, suppression }, i) =>
      html`<tr><td class="${suppression === null ? f.severity : "faint"}">${suppression === null ? f.severity : "suppressed"}</td><td><a href="#f${i}"><code>${f.code}</code></a></td><td><code>${shownPlace(f, context.readOrigin).name}</code></td><td class="number">${f.run?.count ?? ""}</td></tr>`,
  );
  const list = html`<div class="scroll"><table><thead><tr><th>severity</th><th>code</th><th>place</th><th class="number">threads</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  const body = html`<main>
<h1>${title}</h1>
<p>${counts.join(", ")}${shown.length < found.length ? `; the first ${maxFindings} are shown` : ""}</p>
${found.length === 0 ? html`<p class="good">Nothing was found.</p>` : list}
${shown.map((j, i) => section(j, i, context))}
</main>`;
  return renderPage({ title, style, body });
}
