import type { LaneTrace } from "./lane-chart.d.mts";

/** An SVG picture of a trace: a row for each lane, time to the right. */
export declare function laneSvg(trace: LaneTrace, options: { readonly title: string }): string;
