import { fill, h } from "../dom.ts";
import type { BufferValues, ExploreView, Turn } from "../engine/protocol.ts";
import { Hues } from "./hues.ts";

/** Other orders of the threads: whether one makes a difference, and the two that differ side by side. */
export class SchedulesView {
  readonly element: HTMLElement;
  readonly #content = h("div", { class: "schedules-content" });
  readonly #budget = h("input", { type: "number", min: 1, max: 100_000, value: 200, "aria-label": "Schedules to try" });
  readonly #onLine: (path: string, line: number) => void;

  constructor(events: { onExplore: (budget: number) => void; onLine: (path: string, line: number) => void }) {
    this.#onLine = events.onLine;
    this.element = h(
      "section",
      { class: "view", "aria-label": "Schedules" },
      h(
        "div",
        { class: "view-bar" },
        h(
          "button",
          { type: "button", onclick: () => events.onExplore(Math.max(1, Number(this.#budget.value) || 1)) },
          "Try other schedules",
        ),
        h("label", { class: "check" }, "at most", this.#budget),
      ),
      this.#content,
    );
    this.show(null);
  }

  show(explored: ExploreView | null): void {
    if (explored === null || explored.runs.length === 0) {
      const text =
        explored?.failure ??
        "A race shows only in some orders. Here the kernel runs in many, until one gives other results.";
      fill(this.#content, h("p", { class: "empty" }, text));
      return;
    }
    const { found, schedules, covered, runs } = explored;
    fill(
      this.#content,
      h(
        "p",
        { class: found === null ? "verdict" : "verdict bad" },
        found === null ? sameResults(schedules, covered) : `Schedule ${schedules} differs: ${found.difference}.`,
      ),
      found !== null && [
        found.interruptions.length > 0 &&
          h(
            "ul",
            { class: "checks" },
            found.interruptions.map(({ path, line, block, warp }) =>
              h(
                "li",
                {},
                `warp ${warp} of block (${block.join()}) is interrupted at `,
                h(
                  "button",
                  { type: "button", class: "link", onclick: () => this.#onLine(path, line) },
                  `${path}:${line}`,
                ),
              ),
            ),
          ),
        h(
          "p",
          { class: "faint" },
          "The same in the terminal: ",
          h("code", {}, found.schedule === null ? `--seed ${found.seed}` : `--schedule ${found.schedule}`),
        ),
      ],
      h(
        "div",
        { class: "side-by-side" },
        runs.map((run) => runColumn(run, runs)),
      ),
    );
    for (const canvas of this.#content.querySelectorAll("canvas")) {
      const run = runs[Number(canvas.dataset["run"])];
      if (run !== undefined) drawTurns(canvas, run.turns);
    }
  }
}

/** `covered`: null: all schedules were tried; otherwise those with so many interruptions, and some more; -1: none. */
function sameResults(schedules: number, covered: number | null): string {
  if (covered === null && schedules === 1) return "There is no other schedule: nothing here runs side by side.";
  const tried = countOf(schedules, "schedule");
  if (covered === null) return `${tried}, all there are: the results are the same.`;
  if (covered < 0) return `${tried} tried: the results are the same.`;
  return `${tried} tried, all with at most ${countOf(covered, "interruption")}: the results are the same.`;
}

export const countOf = (n: number, what: string): string => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

function runColumn(run: ExploreView["runs"][number], runs: ExploreView["runs"]): HTMLElement {
  const other = runs.find((r) => r !== run);
  return h(
    "article",
    { class: "schedule" },
    h("h2", {}, run.title),
    h("canvas", { class: "turns", "data-run": runs.indexOf(run), role: "img", "aria-label": turnsText(run.turns) }),
    !run.outcome.ok && h("p", { class: "bad" }, run.outcome.failure),
    run.outcome.buffers.map((buffer, i) => differences(buffer, other?.outcome.buffers[i])),
  );
}

function differences({ name, type, length, after }: BufferValues, other: BufferValues | undefined): HTMLElement | null {
  if (other === undefined) return null;
  const differ = Array.from({ length: after.length }, (_, i) => i).filter((i) => !Object.is(after[i], other.after[i]));
  if (differ.length === 0) return null;
  return h(
    "figure",
    { class: "buffer" },
    h(
      "figcaption",
      {},
      h("strong", {}, name),
      h("span", { class: "faint" }, `${type}[${length}], ${differ.length} differ`),
    ),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        differ
          .slice(0, 16)
          .map((i) => h("tr", {}, h("th", { scope: "row" }, i), h("td", { class: "changed" }, String(after[i])))),
      ),
    ),
  );
}

const rowsOf = (turns: readonly Turn[]): string[] =>
  [...new Set(turns.map(({ block, warp }) => `${block}.${warp}`))]
    .sort(
      (a, b) => Number(a.split(".")[0]) - Number(b.split(".")[0]) || Number(a.split(".")[1]) - Number(b.split(".")[1]),
    )
    .slice(0, 32);

const turnsText = (turns: readonly Turn[]): string =>
  `Turns of ${rowsOf(turns).length} warps: ${turns
    .slice(0, 12)
    .map(({ block, warp, from, to }) => `block ${block} warp ${warp} at ${from} to ${to - 1}`)
    .join(", ")}`;

function drawTurns(canvas: HTMLCanvasElement, turns: readonly Turn[]): void {
  const rows = rowsOf(turns);
  const hues = new Hues();
  for (const row of rows) hues.of(row);
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = rows.length * 18 + 4;
  canvas.style.height = `${height}px`;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d")!;
  pen.scale(ratio, ratio);
  const end = turns.at(-1)?.to ?? 1;
  const left = 62;
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const ink = getComputedStyle(canvas).color;
  rows.forEach((row, i) => {
    const [block, warp] = row.split(".");
    pen.fillStyle = ink;
    pen.fillText(`${block} · warp ${warp}`, 0, i * 18 + 11);
  });
  for (const { block, warp, from, to } of turns) {
    const row = rows.indexOf(`${block}.${warp}`);
    if (row < 0) continue;
    const scale = (width - left) / end;
    pen.fillStyle = hues.of(`${block}.${warp}`);
    pen.fillRect(left + from * scale, row * 18 + 3, Math.max(1, (to - from) * scale - 0.5), 15);
  }
}
