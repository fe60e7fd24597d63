/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Content = Html | string | number | null | readonly Content[];

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const textOf = (content: Content): string => {
  if (content === null) return "";
  if (content instanceof Html) return content.text;
  if (Array.isArray(content)) return content.map(textOf).join("");
  return String(content).replace(/[&<>"']/g, (c) => escapes[c]!);
};

/** A template for HTML. Values in it are escaped unless they are `Html`. */
export const html = (strings: TemplateStringsArray, ...values: readonly Content[]): Html =>
  new Html(strings.reduce((all, s, i) => all + textOf(values[i - 1]!) + s));

/** The style of every page. Colours are named by their role, with values for light and dark. */
const baseStyle = `
:root {
  color-scheme: light dark;
  --back: light-dark(#fff, #14171c); --panel: light-dark(#f5f6f8, #1c2027); --line: light-dark(#d9dde3, #333a45);
  --text: light-dark(#1b1f24, #dde2ea); --faint: light-dark(#616b78, #929cab); --link: light-dark(#0b57c2, #7db4ff);
  --error: light-dark(#b3202c, #ff8088); --warning: light-dark(#8a5a00, #e8b04b); --good: light-dark(#1d7a3a, #6fce8b);
  --mark: light-dark(#ffe3a3, #5c4a17);
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1rem 1.25rem 4rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: 0.4rem 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; } h3 { overflow-wrap: anywhere; }
code, pre, .code { font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; font-size: 13px; }
a { color: var(--link); } :focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
.faint { color: var(--faint); } .error { color: var(--error); } .warning { color: var(--warning); } .good { color: var(--good); }
table { border-collapse: collapse; } th { text-align: left; font-weight: 600; color: var(--faint); }
th, td { padding: 0.2rem 0.7rem 0.2rem 0; vertical-align: top; } .number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
pre { margin: 0; padding: 0.5rem 0.75rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
@media (max-width: 40rem) { body { padding: 0.75rem 0.75rem 3rem; } }
`;

export interface Page {
  readonly title: string;
  readonly style?: string;
  readonly body: Html;
  /** Data that the script finds, as JSON, in the element "data"; and the script. */
  readonly data?: unknown;
  readonly script?: string;
}

/** Renders a page as one self-contained file. */
export function renderPage({ title, style = "", body, data, script }: Page): string {
  // Without "<", the data cannot end its element early.
  const json = data === undefined ? "" : JSON.stringify(data).replaceAll("<", "\\u003c");
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${title}</title>
<style>${new Html(baseStyle + style)}</style>
</head>
<body>
${body}
${data === undefined ? null : new Html(`<script id="data" type="application/json">${json}</script>`)}
${script === undefined ? null : new Html(`<script>${script}</script>`)}
</body>
</html>
`.text;
}
