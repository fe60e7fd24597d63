import { columnsOf, eventsOf, rowsOf } from "./lane-chart.mjs";

/** In pixels; `gap` lies between rows of different histories. */
const [laneHeight, columnWidth, gap] = [9, 32, 4];
const [left, right, top] = [118, 12, 46];

/** A hue for each function, in the order in which they are entered, that carries black text. */
const hues = ["#9fb3c8", "#5aa9e6", "#5cb88a", "#e0a83e", "#c58be0", "#e07f6a", "#6cc5c9", "#b5a16b"];

const style = `
  text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1d2733; }
  .faint { fill: #5b6875; } .name { fill: #10161d; font-weight: 600; font-size: 11px; } .title { font-size: 14px; font-weight: 600; }
  .paper { fill: #ffffff; } .row { fill: #eef1f4; } .line { stroke: #c3ccd5; } .now { fill: #d0342c; }
  .between { stroke: #ffffff; stroke-opacity: 0.25; } .returned { opacity: 0.35; } .ready { stroke-dasharray: 1 5; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6ebf0; } .faint { fill: #9aa8b7; } .paper { fill: #0f151c; } .row { fill: #1a222c; } .line { stroke: #3a4652; } .now { fill: #ff6b61; }
  }
  @media (prefers-reduced-motion: no-preference) {
    .now { animation: sweep 14s linear infinite; }
  }`;

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/**
 * Draws a trace (lane-trace.mjs) as a picture: a row for each lane, time to the right, a colour for each function.
 * Lanes that do the same lie together. A marker moves with time where the viewer wants motion.
 */
export function laneSvg(trace, { title }) {
  const columns = columnsOf(trace.steps).filter(({ groups }) => groups.length > 0);
  const rows = rowsOf(trace.lanes, columns);
  const functions = [...new Set(columns.flatMap(({ groups }) => groups.map((group) => group.function)))];
  const hue = (name) => hues[functions.indexOf(name) % hues.length];
  const width = left + columns.length * columnWidth + right;
  const bands = [];
  let y = top;
  for (const row of rows) {
    bands.push(bandOf(row, y, hue));
    y += row.lanes.length * laneHeight + gap;
  }
  const height = y + 62;
  const travel = columns.length * columnWidth;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${style}
  @keyframes sweep { to { transform: translateX(${travel}px); } }
</style>
<rect class="paper" width="${width}" height="${height}" rx="8"/>
<text class="title" x="16" y="24">${escaped(title)}</text>
<text class="faint" x="${left}" y="${top - 6}">time →</text>
${bands.join("\n")}
${eventMarks(columns, y)}
<rect class="now" x="${left}" y="${top - 2}" width="2" height="${y - top}"/>
${legend(functions, hue, y + 34)}
</svg>
`;
}

/** The rows of lanes with one history: stretches of one state of one function are one shape. */
function bandOf({ name: names, lanes, cells }, y, hue) {
  const height = lanes.length * laneHeight;
  const parts = [
    `<text class="faint" x="${left - 10}" y="${y + height / 2 + 4}" text-anchor="end">lanes ${names}</text>`,
    `<rect class="row" x="${left}" y="${y}" width="${cells.length * columnWidth}" height="${height}"/>`,
  ];
  const between = lanes.slice(1).map((_, i) => `M${left} ${y + (i + 1) * laneHeight}h${cells.length * columnWidth}`);
  for (let from = 0; from < cells.length; ) {
    const { state, function: name, depth } = cells[from];
    let to = from + 1;
    while (to < cells.length && cells[to].state === state && cells[to].function === name && cells[to].depth === depth)
      to++;
    const x = left + from * columnWidth;
    const w = (to - from) * columnWidth - 1;
    const deep = depth > 1 ? ` ${depth}` : "";
    if (state === "runs" || state === "returned") {
      parts.push(`<rect class="${state}" x="${x}" y="${y}" width="${w}" height="${height}" fill="${hue(name)}"/>`);
      const label = w > 7 * (name.length + deep.length) ? `${name}${deep}` : deep.trim();
      if (state === "runs" && height >= 18 && label !== "")
        parts.push(`<text class="name" x="${x + 4}" y="${y + height / 2 + 4}">${escaped(label)}</text>`);
    } else if (state !== "exited") {
      const middle = y + height / 2;
      parts.push(`<line class="ready" x1="${x}" x2="${x + w}" y1="${middle}" y2="${middle}" stroke="${hue(name)}"/>`);
    }
    from = to;
  }
  if (between.length > 0) parts.push(`<path class="between" d="${between.join("")}"/>`);
  return parts.join("\n");
}

/** Where lanes part (▾) and meet (▴), below the rows. */
const eventMarks = (columns, y) =>
  eventsOf(columns)
    .map(({ kind, at }) => {
      const x = left + (kind === "part" ? at + 1 : at) * columnWidth;
      const text = kind === "part" ? "part" : "meet";
      return `<line class="line" x1="${x}" x2="${x}" y1="${top}" y2="${y + 2}"/><text class="faint" x="${x}" y="${y + 14}" text-anchor="middle" font-size="10">${kind === "part" ? "▾" : "▴"}<title>${text}</title></text>`;
    })
    .join("\n");

function legend(functions, hue, y) {
  let x = 16;
  const parts = functions.map((name) => {
    const at = x;
    x += 26 + 7 * name.length + 14;
    return `<rect x="${at}" y="${y - 10}" width="14" height="12" rx="2" fill="${hue(name)}"/><text x="${at + 20}" y="${y}">${escaped(name)}</text>`;
  });
  const states = `<text class="faint" x="16" y="${y + 20}">filled: runs (2, 3, …: so many activations deep) · pale: has returned, waits for the others · dotted: waits for its turn · ▾ lanes part · ▴ lanes meet</text>`;
  return [...parts, states].join("\n");
}
