import type { BufferValues, FileRange, Finding, RunOutcome } from "../engine/protocol.ts";
import { fill, h, type IconName, icon } from "../dom.ts";
import { type PictureSize, pictureOf, plotOf, waysToShow } from "./buffer-picture.ts";

/** Elements that a table shows at once. */
const perPage = 256;

/** Findings that are shown with a failure; all are under Reports. */
const maxFindings = 3;

/** What lanes against time look like, for who has not seen them yet. */
const lanesPicture = new URL("../../../docs/pictures/lanes.svg", import.meta.url).href;

/** What the view asks for: what one may do before anything has run, and a place in the program. */
interface ResultsEvents {
  readonly onPlace: (range: FileRange) => void;
  readonly onRun: () => void;
  readonly onExamples: () => void;
  readonly onOpen: () => void;
}

/** What came out of a run: the outcome of each engine, what was printed, buffers. */
export class ResultsView {
  readonly element = h("section", { class: "view results-view", "aria-label": "Results" });
  readonly #events: ResultsEvents;

  constructor(events: ResultsEvents) {
    this.#events = events;
    this.show([]);
  }

  /** Shows outcomes; buffers that are as large as one of the pictures may be shown in its size. */
  show(outcomes: readonly RunOutcome[], pictures: readonly PictureSize[] = []): void {
    const [first] = outcomes;
    if (first === undefined) {
      fill(this.element, welcome(this.#events));
      return;
    }
    const best = outcomes.find((outcome) => outcome.buffers.length > 0) ?? first;
    fill(
      this.element,
      h("div", { class: "outcomes" }, outcomes.map(outcomeCard)),
      causesOf(first, this.#events.onPlace),
      agreement(outcomes),
      checksOf(best),
      best.stdout !== "" && h("div", { class: "printed" }, h("h2", {}, "Printed"), h("pre", {}, best.stdout)),
      // What the kernel has written is what one wants to see.
      [...best.buffers.filter(hasChanged), ...best.buffers.filter((buffer) => !hasChanged(buffer))].map((buffer) =>
        bufferFigure(buffer, pictures),
      ),
    );
  }
}

/** What the page is for, where nothing has run yet. */
function welcome({ onRun, onExamples, onOpen }: ResultsEvents): HTMLElement {
  const step = (name: IconName, label: string, act: () => void, text: string): HTMLElement =>
    h("li", {}, h("button", { type: "button", onclick: act }, icon(name), label), h("span", {}, text));
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, "See what each lane does"),
    h(
      "p",
      {},
      "The editor holds a kernel in GPU assembly. It runs in your browser, without a GPU, and each step of each lane is kept: you can go through them forwards and backwards.",
    ),
    h(
      "ul",
      {},
      step("run", "Run this kernel", onRun, "or press Ctrl+Enter in the editor"),
      step("grid", "Look at examples", onExamples, "programs in a learning order, each with a tour"),
      step("open", "Open your own", onOpen, "PTX, vISA, an executable, IGC’s dumps; or drop files on the page"),
    ),
    h(
      "figure",
      {},
      h("img", { src: lanesPicture, width: 898, height: 420, alt: "" }),
      h(
        "figcaption",
        { class: "faint" },
        "The 32 lanes of a warp against time: they part at a call, run three functions in turn, and meet again. Under Lanes there is such a picture of each run.",
      ),
    ),
  );
}

const number = (n: number): string => n.toLocaleString("en", { maximumFractionDigits: n < 10 ? 2 : n < 100 ? 1 : 0 });

function outcomeCard({ engine, ok, failure, launches, milliseconds }: RunOutcome): HTMLElement {
  const run = launches.reduce((sum, launch) => sum + launch.milliseconds, 0);
  const threads = launches.reduce((sum, launch) => sum + launch.threads, 0);
  const steps = launches.reduce<number | null>(
    (sum, l) => (sum === null || l.steps === null ? null : sum + l.steps),
    0,
  );
  return h(
    "article",
    { class: `outcome ${ok ? "good" : "bad"}` },
    h("h2", {}, !ok && launches.length === 0 ? "Not run" : engine === "jit" ? "Compiled" : "Interpreter"),
    h("p", { class: "verdict" }, ok ? "ok" : (failure ?? "failed")),
    launches.length > 0 &&
      h("p", { class: "figures" }, h("strong", {}, `${number(run)} ms`), ` for ${number(threads)} threads`),
    steps !== null && steps > 0 && h("p", { class: "faint" }, `${number(steps)} instructions of threads`),
    h(
      "p",
      { class: "faint" },
      `${engine === "jit" && launches.length > 0 ? "compiling included; " : ""}${number(milliseconds)} ms with reading and checking`,
    ),
    launches.flatMap(({ interpreted }) =>
      interpreted && engine === "interpreter" && interpreted.startsWith("not")
        ? h("p", { class: "faint" }, interpreted)
        : [],
    ),
  );
}

/** The first errors of a program that has failed, each with its place. */
function causesOf({ ok, findings }: RunOutcome, onPlace: (range: FileRange) => void): HTMLElement | null {
  const errors = findings.filter(({ severity }) => severity === "error");
  if (ok || errors.length === 0) return null;
  const item = ({ at, message }: Finding): HTMLElement =>
    h(
      "li",
      {},
      at !== null && [
        h("button", { type: "button", class: "link", onclick: () => onPlace(at) }, `${at.path}:${at.line}`),
        " ",
      ],
      message,
    );
  const more = errors.length - maxFindings;
  return h(
    "ul",
    { class: "causes", "aria-label": "Errors" },
    errors.slice(0, maxFindings).map(item),
    more > 0 && h("li", { class: "faint" }, `and ${more} more, under Reports`),
  );
}

function agreement(outcomes: readonly RunOutcome[]): HTMLElement | null {
  const [a, b] = outcomes;
  if (a === undefined || b === undefined || a.buffers.length === 0 || b.buffers.length === 0) return null;
  const differs = a.buffers.find((buffer, i) => !same(buffer.after, b.buffers[i]!.after));
  return differs === undefined
    ? h("p", { class: "agree" }, "Both engines have the same results, bit by bit.")
    : h(
        "p",
        { class: "agree bad" },
        `The engines differ in ${differs.name}: the result depends on the order of the threads.`,
      );
}

function same(a: BufferValues["after"], b: BufferValues["after"]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}

function checksOf({ checks }: RunOutcome): HTMLElement | null {
  if (checks.length === 0) return null;
  return h(
    "ul",
    { class: "checks", "aria-label": "Checks" },
    checks.map(({ buf, ok, mismatches, n, first }) => {
      const where = first === null ? "" : `; element ${first.index} is ${first.got}, not ${first.want}`;
      return h(
        "li",
        { class: ok ? "good" : "bad" },
        ok
          ? `${buf}: ${n === 1 ? "1 element" : `${n} elements`} as expected`
          : `${buf}: ${mismatches} of ${n} elements differ${where}`,
      );
    }),
  );
}

const shown = (value: number | bigint | undefined): string =>
  typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(7))) : String(value ?? "");

const hasChanged = ({ before, after }: BufferValues): boolean => {
  for (let i = 0; i < after.length; i++) if (!Object.is(before[i], after[i])) return true;
  return false;
};

function bufferFigure(buffer: BufferValues, pictures: readonly PictureSize[]): HTMLElement {
  const { name, type, length, before, after } = buffer;
  let changed = 0;
  for (let i = 0; i < after.length; i++) if (!Object.is(before[i], after[i])) changed++;
  const { choice, shown: content } = waysToShow(name, {
    table: () => bufferTable(buffer),
    picture: () => pictureOf(buffer, pictures),
    plot: () => plotOf(buffer),
  });
  return h(
    "figure",
    { class: "buffer" },
    h(
      "figcaption",
      {},
      h("strong", {}, name),
      h("span", { class: "faint" }, `${type}[${length}], ${changed === 0 ? "unchanged" : `${changed} changed`}`),
      length > 1 && choice,
    ),
    content,
  );
}

function bufferTable({ name, length, before, after }: BufferValues): HTMLElement {
  const columns = Math.min(length > 64 ? 16 : 8, Math.max(1, length));
  const rows = Math.ceil(Math.min(perPage, length) / columns);
  const cell = (i: number): HTMLElement => {
    if (i >= length) return h("td");
    const isChanged = !Object.is(before[i], after[i]);
    const title = isChanged ? `was ${shown(before[i] as number)}` : null;
    return h("td", { class: isChanged ? "changed" : null, title }, shown(after[i] as number));
  };
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "+"),
    indices(columns).map((i) => h("th", { scope: "col" }, i)),
  );
  const body = indices(rows).map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, row * columns),
      indices(columns).map((column) => cell(row * columns + column)),
    ),
  );
  return h(
    "div",
    {},
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `Values of ${name}` },
      h("table", { class: "values" }, h("thead", {}, head), h("tbody", {}, body)),
    ),
    length > perPage && h("p", { class: "faint" }, `the first ${perPage} of ${length.toLocaleString("en")}`),
  );
}

const indices = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** What came out of a run, in one line. */
export function summaryOf(outcomes: readonly RunOutcome[]): string {
  const failed = outcomes.find(({ ok }) => !ok);
  if (failed !== undefined) return failed.failure ?? "failed";
  const times = outcomes.map(({ engine, launches }) => {
    const ms = launches.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    return `${ms.toFixed(1)} ms ${engine === "jit" ? "compiled" : "interpreted"}`;
  });
  return `Done: ${times.join(", ")}.`;
}
