import { eventsOf, type LaneColumn, type LaneEvent } from "../../../examples/lane-chart.mjs";
import type { LaneGroupView, TraceSite, WarpTrace } from "../engine/protocol.ts";

/** Lanes in a mask, from the lowest up. */
export const lanesIn = (mask: number): number[] =>
  Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (mask >>> lane) & 1);

/** Steps during which no lane moves: the steps from `from` up to `to`. */
export interface HistorySpan {
  readonly from: number;
  readonly to: number;
  readonly arrangement: number;
}

/** A mark where lanes part or meet, at a step. */
export interface HistoryMark {
  readonly step: number;
  readonly event: LaneEvent;
}

/** What a warp did, made ready to be drawn and asked. */
export class WarpHistory {
  readonly trace: WarpTrace;
  readonly spans: readonly HistorySpan[];
  readonly marks: readonly HistoryMark[];
  readonly #markAt: ReadonlyMap<number, HistoryMark>;
  /** By site, how far down in its function it is: from 0 to 1. */
  readonly tones: readonly number[];
  /** The lanes that exist; those that do the same all the time are neighbours. */
  readonly byPath: readonly number[];
  readonly functions: readonly string[];

  constructor(trace: WarpTrace) {
    this.trace = trace;
    const spans: { from: number; to: number; arrangement: number }[] = [];
    trace.arrangement.forEach((arrangement, i) => {
      const last = spans.at(-1);
      if (last !== undefined && last.arrangement === arrangement) last.to = i + 1;
      else spans.push({ from: i, to: i + 1, arrangement });
    });
    this.spans = spans;
    this.marks = this.#marksOf();
    this.#markAt = new Map(this.marks.map((mark) => [mark.step, mark]));
    this.tones = this.#tonesOf();
    this.byPath = this.#lanesByPath();
    this.functions = [...new Set(trace.arrangements.flatMap((groups) => groups.map((g) => g.function)))];
  }

  get steps(): number {
    return this.trace.time.length;
  }

  /** The groups of a span. */
  groups(span: HistorySpan): readonly LaneGroupView[] {
    return this.trace.arrangements[span.arrangement]!;
  }

  groupsAt(step: number): readonly LaneGroupView[] {
    return this.trace.arrangements[this.trace.arrangement[step]!]!;
  }

  siteAt(step: number): TraceSite {
    return this.trace.sites[this.trace.site[step]!]!;
  }

  /** Whether lanes part or meet at a step. */
  markAt(step: number): HistoryMark | undefined {
    return this.#markAt.get(step);
  }

  /** The last step that is not later than a time; 0 if all are. */
  stepAt(time: number): number {
    const { time: times } = this.trace;
    let [low, high] = [0, Math.max(0, times.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle]! <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #tonesOf(): number[] {
    const { trace } = this;
    const functionOf = new Map<number, string>();
    const lines = new Map<string, { low: number; high: number }>();
    trace.site.forEach((site, step) => {
      if (functionOf.has(site)) return;
      const name = this.groupsAt(step).find((g) => g.state === "runs")?.function ?? "";
      functionOf.set(site, name);
      const { line } = trace.sites[site]!;
      const { low, high } = lines.get(name) ?? { low: line, high: line };
      lines.set(name, { low: Math.min(low, line), high: Math.max(high, line) });
    });
    return trace.sites.map(({ line }, site) => {
      const { low, high } = lines.get(functionOf.get(site) ?? "") ?? { low: line, high: line };
      return high > low ? (line - low) / (high - low) : 0;
    });
  }

  #marksOf(): HistoryMark[] {
    const columns = this.spans.map((span): LaneColumn => {
      const groups = this.groups(span);
      const lanes = groups.find((g) => g.state === "runs")?.lanes ?? 0;
      return { lanes, groups, first: this.siteAt(span.from), final: this.siteAt(span.to - 1) };
    });
    return eventsOf(columns).map((event) => {
      const span = this.spans[event.at]!;
      return { step: event.kind === "part" ? span.to : span.from, event };
    });
  }

  #lanesByPath(): number[] {
    const histories = new Map<string, number[]>();
    // Enough of the history to tell the lanes of any program that is looked at by eye.
    const spans = this.spans.slice(0, 2000);
    for (const lane of lanesIn(this.trace.lanes)) {
      const key = spans
        .map((span) => {
          const at = this.groups(span).findIndex((g) => (g.lanes >>> lane) & 1);
          return at;
        })
        .join();
      histories.set(key, [...(histories.get(key) ?? []), lane]);
    }
    return [...histories.values()].flat();
  }
}
