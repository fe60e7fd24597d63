import type { CountName, Counts } from "lanewise";
import { fill, h } from "../dom.ts";
import type { HeatLine } from "../editor/heat.ts";
import type { LineCounts, ProfileView as Profiled } from "../engine/protocol.ts";

/** What lines may be shaded by. */
const metrics: readonly { readonly id: string; readonly label: string; readonly of: (c: Counts) => number }[] = [
  { id: "warpInstructions", label: "warp-instructions", of: (c) => c.warpInstructions },
  { id: "idle", label: "idle lanes", of: (c) => c.laneSlots - c.threadInstructions },
  { id: "sectors", label: "sectors of global memory", of: (c) => c.globalSectors },
  { id: "excess", label: "sectors more than needed", of: (c) => c.globalSectors - c.globalLeastSectors },
  { id: "conflicts", label: "bank conflicts", of: (c) => c.sharedConflicts },
  { id: "barrier", label: "waiting at barriers", of: (c) => c.barrierWaited },
  { id: "atomics", label: "turns of atomics", of: (c) => c.atomicRounds },
];

const totals: readonly (readonly [CountName, string])[] = [
  ["warpInstructions", "warp-instructions"],
  ["threadInstructions", "thread-instructions"],
  ["divergentBranches", "divergent branches"],
  ["divergentCalls", "divergent calls"],
  ["globalRequests", "accesses to global memory"],
  ["globalSectors", "sectors of 32 bytes"],
  ["sharedRequests", "accesses to shared memory"],
  ["sharedConflicts", "bank conflicts"],
  ["barrierArrivals", "arrivals at barriers"],
  ["atomicLanes", "atomic operations"],
];

/** Counts of a run: in all, and by line, where the margin of the editor shows them as heat. */
export class ProfileView {
  readonly element: HTMLElement;
  readonly #onHeat: (lines: readonly (HeatLine & { readonly path: string })[]) => void;
  readonly #onLine: (path: string, line: number) => void;
  readonly #lineText: (path: string, line: number) => string;
  readonly #content = h("div", { class: "profile-content" });
  readonly #metric: HTMLSelectElement;
  #profile: Profiled | null = null;

  constructor(events: {
    onProfile: () => void;
    onHeat: (lines: readonly (HeatLine & { readonly path: string })[]) => void;
    onLine: (path: string, line: number) => void;
    lineText: (path: string, line: number) => string;
  }) {
    this.#lineText = events.lineText;
    this.#onHeat = events.onHeat;
    this.#onLine = events.onLine;
    this.#metric = h(
      "select",
      { "aria-label": "Shade lines by", onchange: () => this.#show() },
      metrics.map(({ id, label }) => h("option", { value: id }, label)),
    );
    this.element = h(
      "section",
      { class: "view", "aria-label": "Profile" },
      h(
        "div",
        { class: "view-bar" },
        h("button", { type: "button", onclick: events.onProfile }, "Profile"),
        h("label", { class: "check" }, "shade lines by", this.#metric),
      ),
      this.#content,
    );
    this.show(null);
  }

  show(profile: Profiled | null): void {
    this.#profile = profile;
    this.#show();
  }

  #show(): void {
    const profile = this.#profile;
    if (profile === null || profile.totals === null) {
      const text =
        profile === null ? "Counts by line: instructions, idle lanes, memory, bank conflicts." : profile.failure;
      fill(this.#content, h("p", { class: "empty" }, text));
      this.#onHeat([]);
      return;
    }
    const metric = metrics.find(({ id }) => id === this.#metric.value) ?? metrics[0]!;
    const most = Math.max(1, ...profile.lines.map(({ counts }) => metric.of(counts)));
    this.#onHeat(
      profile.lines.map(({ path, line, counts }) => {
        const n = metric.of(counts);
        return {
          path,
          line,
          text: n === 0 ? "" : compact(n),
          title: `${n.toLocaleString("en")} ${metric.label}`,
          heat: n / most,
        };
      }),
    );
    const hot = [...profile.lines].sort((a, b) => metric.of(b.counts) - metric.of(a.counts)).slice(0, 12);
    fill(
      this.#content,
      h(
        "dl",
        { class: "totals" },
        totals.flatMap(([name, label]) => this.#total(profile.totals!, name, label)),
      ),
      h("h2", {}, `Lines with the most ${metric.label}`),
      h(
        "div",
        { class: "bars" },
        hot.filter(({ counts }) => metric.of(counts) > 0).map((line) => this.#bar(line, metric.of(line.counts), most)),
      ),
    );
  }

  #total(counts: Counts, name: CountName, label: string): HTMLElement[] {
    if (counts[name] === 0) return [];
    return [h("div", {}, h("dt", {}, label), h("dd", {}, counts[name].toLocaleString("en")))];
  }

  #bar({ path, line, function: name }: LineCounts, n: number, most: number): HTMLElement {
    return h(
      "button",
      { type: "button", class: "bar-row", onclick: () => this.#onLine(path, line) },
      h("span", { class: "bar-fill", style: `width:${((100 * n) / most).toFixed(1)}%` }),
      h("span", { class: "bar-text" }, `line ${line}, ${name}`, h("code", {}, this.#lineText(path, line))),
      h("span", { class: "bar-count" }, n.toLocaleString("en")),
    );
  }
}

const compact = (n: number): string =>
  n < 10_000 ? String(n) : n < 1e6 ? `${Math.round(n / 1000)}k` : `${(n / 1e6).toPrecision(3)}M`;
