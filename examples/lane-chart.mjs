/**
 * Draws a trace (lane-trace.mjs) as a chart: a row for the lanes that do the same all the time, time to the right. A
 * column ends where a lane changes its function or its state. Below, letters mark where lanes that ran together part,
 * and where they run together again; the list under the chart says at which instruction.
 */
export function laneChart(trace, { width = 80, color = false, unicode = true } = {}) {
  const columns = columnsOf(trace.steps);
  const rows = rowsOf(trace.lanes, columns);
  const pens = pensOf(columns, { color, glyphs: unicode ? unicodeGlyphs : asciiGlyphs });
  const events = eventsOf(columns);

  const margin = Math.max(10, ...rows.map((row) => row.name.length)) + 2;
  const space = Math.max(2, width - margin);
  const cell = Math.max(2, Math.min(widestCell, Math.floor(space / Math.max(1, columns.length))));
  const perBand = Math.max(1, Math.floor(space / cell));
  const bands = [];
  for (let from = 0; from < columns.length; from += perBand) {
    const to = Math.min(columns.length, from + perBand);
    const line = (name, cells) => `${name.padEnd(margin)}${cells.slice(from, to).join("")}`.trimEnd();
    const marks = (kind) =>
      columns.map((_, i) => (events.find((e) => e.kind === kind && e.at === i)?.mark ?? "").padEnd(cell));
    bands.push([
      pens.faint(`${"lanes".padEnd(margin)}${from === 0 ? "time" : "time, continued"} ${pens.glyphs.arrow}`),
      ...rows.map((row) => line(row.name, drawRow(row.cells, cell, pens, from))),
      ...["part", "meet"]
        .filter((kind) => events.some((e) => e.kind === kind))
        .map((kind) => pens.faint(line(kind, marks(kind)))),
    ]);
  }
  return [...bands, legend(columns, pens, width), eventList(events, pens, width)]
    .filter((block) => block.length > 0)
    .map((block) => block.join("\n"))
    .join("\n\n");
}

const unicodeGlyphs = { runs: "━", ready: "·", returned: "╌", waits: "░", exited: "×", arrow: "→" };
const asciiGlyphs = { runs: "=", ready: ".", returned: "-", waits: ":", exited: "x", arrow: "->" };
const states = [
  ["runs", "runs"],
  ["ready", "waits for its turn"],
  ["returned", "has returned, waits for the others"],
  ["waits", "waits at a barrier, or for lanes to exchange values with"],
  ["exited", "has ended"],
];
const widestCell = 8;

/** A 256-colour background for each function, in the order in which they are entered. */
const palette = [247, 39, 35, 178, 170, 37, 209, 105, 142, 204];

const lanesIn = (mask) => Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (mask >>> lane) & 1);

/** Steps in which nobody moves to another function or state are one column. */
export function columnsOf(steps) {
  const columns = [];
  let last = null;
  for (const step of steps) {
    const key = JSON.stringify(step.groups);
    if (key !== last) columns.push({ lanes: step.lanes, groups: step.groups, first: step, final: step });
    else columns.at(-1).final = step;
    last = key;
  }
  return columns;
}

const stateOf = (lane, { groups }) =>
  groups.find((group) => (group.lanes >>> lane) & 1) ?? { state: "exited", function: "", depth: 0 };

/** Lanes with the same history share a row. */
export function rowsOf(lanes, columns) {
  const rows = new Map();
  for (const lane of lanesIn(lanes)) {
    const cells = columns.map((column) => stateOf(lane, column));
    const key = JSON.stringify(cells.map((c) => [c.state, c.function, c.depth]));
    const row = rows.get(key);
    if (row) row.lanes.push(lane);
    else rows.set(key, { lanes: [lane], cells });
  }
  return [...rows.values()].map((row) => ({ ...row, name: listLanes(row.lanes) }));
}

/** `0-3 8-11`; long lists lose their middle. */
export function listLanes(lanes) {
  const ranges = [];
  for (const lane of lanes) {
    const range = ranges.at(-1);
    if (range && range[1] === lane - 1) range[1] = lane;
    else ranges.push([lane, lane]);
  }
  const names = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return names.length <= 5 ? names.join(" ") : `${names.slice(0, 3).join(" ")} .. ${names.at(-1)}`;
}

/** A letter and a colour for each function, and the ways to draw with them. */
function pensOf(columns, { color, glyphs }) {
  const letters = new Map();
  for (const { groups } of columns) {
    for (const { function: name } of groups) if (!letters.has(name)) letters.set(name, chooseLetter(name, letters));
  }
  const names = [...letters.keys()];
  const paint = (codes, text) => (color && text !== "" ? `\x1b[${codes}m${text}\x1b[0m` : text);
  const hue = (name) => palette[names.indexOf(name) % palette.length];
  return {
    glyphs,
    letters,
    sample: (state) => (color && state === "runs" ? paint("7", "  ") : glyphs[state].repeat(2)),
    faint: (text) => paint("2", text),
    strong: (text) => paint("1", text),
    filled: (name, text, cell) =>
      color ? paint(`30;48;5;${hue(name)}`, text.padEnd(cell)) : text.padEnd(cell, glyphs.runs),
    thin: (name, text) => paint(name === "" ? "2" : `38;5;${hue(name)}`, text),
  };
}

/**
 * The initial of the name's last word if nobody has it yet, else another letter of the word, of the name, of the
 * alphabet.
 */
function chooseLetter(name, letters) {
  const taken = new Set(letters.values());
  const word = name.slice(name.lastIndexOf("_") + 1);
  const candidates = `${word}${name}abcdefghijklmnopqrstuvwxyz`.toUpperCase().match(/[A-Z]/g);
  return candidates.find((letter) => !taken.has(letter)) ?? "?";
}

function drawRow(cells, width, pens, from) {
  return cells.map((cell, i) => {
    const { state, function: name, depth } = cell;
    const before = i === from ? undefined : cells[i - 1];
    if (state === "exited") return pens.thin("", (before?.state === state ? "" : pens.glyphs.exited).padEnd(width));
    if (state !== "runs") return pens.thin(name, pens.glyphs[state].repeat(width));
    const goesOn = before?.state === state && before.function === name && before.depth === depth;
    const label = goesOn ? "" : `${pens.letters.get(name)}${depth > 1 ? depth : ""}`;
    return pens.filled(name, label.length <= width ? label : label.slice(0, 1), width);
  });
}

/**
 * Where lanes part and meet: lanes that ran together stand in several groups one column later; lanes that run together
 * did so one column before. A column has the running `lanes`, the `groups`, and its `first` and `final` step.
 */
export function eventsOf(columns) {
  const partsOf = (lanes, { groups }) => {
    const parts = groups.filter((g) => (g.lanes & lanes) !== 0).map((g) => ({ ...g, lanes: g.lanes & lanes }));
    const ended = parts.reduce((rest, part) => rest & ~part.lanes, lanes);
    return ended === 0 || ended === lanes ? parts : [...parts, { lanes: ended, state: "exited" }];
  };
  const events = columns.flatMap((column, at) => {
    const [before, after] = [columns[at - 1], columns[at + 1]];
    const met = before ? partsOf(column.lanes, before) : [];
    const parted = after ? partsOf(column.lanes, after) : [];
    return [
      ...(met.length > 1 ? [{ kind: "meet", at, step: column.first, parts: met }] : []),
      ...(parted.length > 1 ? [{ kind: "part", at, step: column.final, parts: parted }] : []),
    ];
  });
  return events.map((event, i) => ({ ...event, mark: String.fromCharCode(97 + (i % 26)) }));
}

function legend(columns, pens, width) {
  const names = [...pens.letters].map(([name, letter]) => [`${pens.filled(name, letter, 2)} ${name}`, 3 + name.length]);
  const groups = columns.flatMap((column) => column.groups);
  const deepest = groups.reduce((a, b) => (b.depth > a.depth ? b : a), { depth: 1 });
  if (deepest.depth > 1) {
    const text = `${pens.letters.get(deepest.function)}${deepest.depth}: ${deepest.depth} activations deep`;
    names.push([pens.faint(text), text.length]);
  }
  const seen = new Set(groups.map((group) => group.state));
  if (columns.some((column) => column.groups.length === 0)) seen.add("exited");
  const meanings = states
    .filter(([state]) => seen.has(state))
    .map(([state, text]) => [`${pens.sample(state)} ${text}`, 3 + text.length]);
  return [...flow(names, width), ...flow(meanings, width)];
}

/** Pieces of a known width, as many on a line as there is room for. */
function flow(pieces, width) {
  const lines = [];
  let room = 0;
  for (const [text, length] of pieces) {
    if (lines.length > 0 && room >= length + 3) lines.push(`${lines.pop()}   ${text}`);
    else {
      lines.push(text);
      room = width + 3;
    }
    room -= length + 3;
  }
  return lines;
}

function eventList(events, pens, width) {
  const text = Math.min(32, Math.max(0, ...events.map(({ step }) => step.text.length)));
  return events.map(({ kind, mark, step, parts }) => {
    const place = `line ${String(step.line).padEnd(4)} ${cut(step.text, text).padEnd(text)}`;
    const fates = new Map();
    for (const part of parts) {
      const fate = kind === "meet" ? "lanes" : fateOf(part, step, pens);
      fates.set(fate, [...(fates.get(fate) ?? []), lanesIn(part.lanes).length]);
    }
    const who = [...fates].map(([fate, counts]) => `${counts.join(" + ")} ${fate}`).join(", ");
    return `${pens.strong(mark)}  ${kind}  ${cut(`${place}  ${who}`, width - 9)}`;
  });
}

const cut = (text, length) => (text.length <= length ? text : `${text.slice(0, length - 2)}..`);

/** What becomes of lanes that part from others at a step. */
function fateOf({ lanes, state, function: name, depth }, { groups }, pens) {
  if (state === "returned") return "return";
  if (state === "exited") return "end";
  const before = groups.find((group) => (group.lanes & lanes) !== 0);
  return before.function === name && before.depth === depth ? "go on" : `to ${pens.letters.get(name)}`;
}

/**
 * The same in words: for each column of the chart the lines that run, and who is where, with the lanes as a mask. What
 * is as it was in the column before is not said again.
 */
export function laneGroups(trace) {
  const lines = ({ first, final }) => (first.line === final.line ? `${first.line}` : `${first.line}-${final.line}`);
  const columns = columnsOf(trace.steps).filter(({ groups }) => groups.length > 0);
  const widest = Math.max(...columns.map((column) => lines(column).length));
  let known = [];
  return columns
    .map((column, i) => {
      const groups = column.groups.map(describeGroup);
      const news = groups.filter((text) => !known.includes(text));
      known = groups;
      return `${String(i + 1).padStart(3)}  ${lines(column).padStart(widest)}  ${news.join(", ")}`;
    })
    .join("\n");
}

function describeGroup({ lanes, state, function: name, depth }) {
  const mask = (lanes >>> 0).toString(16).padStart(8, "0");
  return `${mask} ${state} in ${name}${depth > 1 ? ` (${depth} deep)` : ""}`;
}
