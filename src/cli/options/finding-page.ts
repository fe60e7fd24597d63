import type { Finding, Judged } from "../../reports/index.ts";
import { type CodePage, printable, renderPlace, type SourceText, type Span } from "../../source/index.ts";
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

function stackOf({ run }: Finding): Html | null {
  if (run === null || run.stack.length < 2) return null;
  const entries = run.stack.map(
    ({ function: name, source, span }) =>
      html`<li><code>${name}</code> <span class="faint">${renderPlace(source, span)}</span>${frame(source, span, 0)}</li>`,
  );
  return html`<details><summary>Call stack: ${plural(run.stack.length, "activation")}</summary><ol>${entries}</ol></details>`;
}

function factsOf({ run, help, notes, function: name, source }: Finding): Html {
  const facts: Html[] = [];
  const add = (term: string, value: string | Html): void => void facts.push(html`<dt>${term}</dt><dd>${value}</dd>`);
  if (run !== null) {
    add("kernel", html`<code>${run.kernel}</code>`);
    add(plural(run.count, "thread"), describeThreads(run.threads, run.count));
    if (run.location !== null) add("from", `${run.location.path}:${run.location.line}:${run.location.column}`);
  }
  if (name !== null && name !== run?.kernel) add("function", html`<code>${name}</code>`);
  for (const note of notes) {
    const from = note.source ?? source;
    const place = note.span === undefined ? null : html`: ${renderPlace(from, note.span)}${frame(from, note.span, 0)}`;
    add("note", html`${printable(note.message)}${place}`);
  }
  if (help !== null) add("help", printable(help));
  return html`<dl>${facts}</dl>`;
}

function section({ finding, suppression }: Judged, index: number, page: CodePage | undefined): Html {
  const { severity, message, code, source, span } = finding;
  const kind = suppression !== null ? "suppressed" : severity;
  return html`<section class="finding is-${kind}" id="f${index}">
<h3><span class="${severity}">${severity}</span>: ${printable(message)}</h3>
<p class="faint"><code>${renderPlace(source, span)}</code> · <code>${code}</code>${page ? html`: ${page.title}` : null}${
    suppression === null ? null : html` · suppressed by ${suppression.origin}`
  }</p>
${frame(source, span)}
${factsOf(finding)}
${stackOf(finding)}
${page ? html`<details><summary>What <code>${code}</code> means</summary><p>${page.page}</p></details>` : null}
</section>`;
}

/**
 * Renders a page with everything that was found: each place in its source, with threads, values, call stacks and the
 * meaning of the code.
 */
export function findingPage(
  found: readonly Judged[],
  { title, page }: { readonly title: string; readonly page: (code: string) => CodePage | undefined },
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
      html`<tr><td class="${suppression === null ? f.severity : "faint"}">${suppression === null ? f.severity : "suppressed"}</td><td><a href="#f${i}"><code>${f.code}</code></a></td><td><code>${renderPlace(f.source, f.span)}</code></td><td class="number">${f.run?.count ?? ""}</td></tr>`,
  );
  const list = html`<div class="scroll"><table><thead><tr><th>severity</th><th>code</th><th>place</th><th class="number">threads</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  const body = html`<main>
<h1>${title}</h1>
<p>${counts.join(", ")}${shown.length < found.length ? `; the first ${maxFindings} are shown` : ""}</p>
${found.length === 0 ? html`<p class="good">Nothing was found.</p>` : list}
${shown.map((j, i) => section(j, i, page(j.finding.code)))}
</main>`;
  return renderPage({ title, style, body });
}
