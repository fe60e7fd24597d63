// How fast the language service answers on a large module of PTX: after it is opened, at each keystroke, and when
// asked. 50 megabytes need about 1.3 GB of memory.
//
//     node bench/ide.mjs [MEGABYTES] [--cpu]
//
// With --cpu, times are those of the processor, which other programs on the machine disturb less.
import { largeModule } from "./corpus.mjs";
import { cpuMilliseconds, milliseconds as wallMilliseconds } from "./time.mjs";
import { Workspace } from "../dist/ide/index.js";

const words = process.argv.slice(2);
const milliseconds = words.includes("--cpu") ? cpuMilliseconds : wallMilliseconds;
const [megabytes = "5"] = words.filter((word) => !word.startsWith("--"));
const text = largeModule(1e6 * Number(megabytes));
const uri = "file:///large.ptx";
const workspace = new Workspace();

const shown = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part) => `${sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1)} ms`;
  return `median ${at(0.5).padStart(9)}  95% ${at(0.95).padStart(9)}  most ${at(1).padStart(9)}`;
};
const report = (what, times) => console.log(`${what.padEnd(36)} ${shown(times)}`);

/** Offsets spread over the text, each in an instruction that has operands. */
const places = [];
for (let i = 0; i < 40; i++) {
  const at = text.indexOf("add.s32", Math.floor((text.length * i) / 40));
  if (at > 0) places.push(at);
}

console.log(`${(text.length / 1e6).toFixed(1)} MB of PTX, ${places.length} places`);
const opened = milliseconds(() => {
  workspace.openDocument(uri, text, "ptx");
  workspace.diagnostics(uri);
});
report("open, with diagnostics", [opened]);

const keystroke = (at, key) => {
  workspace.update(uri, [{ start: at, end: at, text: key }]);
  workspace.diagnostics(uri);
  const time = milliseconds(() => {
    workspace.update(uri, [{ start: at, end: at + key.length, text: "" }]);
    workspace.diagnostics(uri);
  });
  return time;
};
report(
  "keystroke in an opcode, diagnostics",
  places.map((at) => keystroke(at + 3, "x")),
);
report(
  "keystroke in a register",
  places.map((at) => keystroke(at + 10, "1")),
);
report(
  "keystroke '{'",
  places.map((at) => keystroke(at, "{")),
);
report("keystroke at the beginning", [keystroke(0, " "), keystroke(0, "\n")]);
report(
  "hover on an opcode",
  places.map((at) => milliseconds(() => workspace.hover(uri, at + 1))),
);
report(
  "hover on a register",
  places.map((at) => milliseconds(() => workspace.hover(uri, at + 9))),
);
/** The page around an offset, which an editor shows before one can point at anything on it. */
const around = (at) => ({ start: Math.max(0, at - 2000), end: at + 2000 });
report(
  "work ahead for a page",
  places.map((at) =>
    milliseconds(() => {
      while (workspace.prepare(uri, around(at)));
    }),
  ),
);
report(
  "hover on a register after that",
  places.map((at) => milliseconds(() => workspace.hover(uri, at + 9))),
);
report(
  "completion of a modifier",
  places.map((at) => milliseconds(() => workspace.completions(uri, at + 4))),
);
report(
  "completion of an operand",
  places.map((at) => milliseconds(() => workspace.completions(uri, at + 9))),
);
report(
  "completion after a keystroke",
  places.map((at) => {
    workspace.update(uri, [{ start: at + 10, end: at + 10, text: "1" }]);
    workspace.diagnostics(uri);
    const time = milliseconds(() => workspace.completions(uri, at + 11));
    workspace.update(uri, [{ start: at + 10, end: at + 11, text: "" }]);
    workspace.diagnostics(uri);
    return time;
  }),
);
report(
  "references of a register",
  places.map((at) => milliseconds(() => workspace.references(uri, at + 9))),
);
const page = (at) => ({ start: at, end: at + 4000 });
report(
  "colours of a page",
  places.map((at) => milliseconds(() => workspace.semanticTokens(uri, page(at)))),
);
report(
  "hints of a page",
  places.map((at) => milliseconds(() => workspace.inlayHints(uri, page(at)))),
);
report(
  "symbols",
  [1, 2, 3].map(() => milliseconds(() => workspace.symbols(uri))),
);
const name = /\.func\s*(?:\([^)]*\))?\s*([\w$]+)/.exec(text);
if (name !== null) {
  const at = name.index + name[0].length - 1;
  report(
    "references of a function",
    [1, 2, 3].map(() => milliseconds(() => workspace.references(uri, at))),
  );
}
console.log(`heap ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB`);
