import type { Span } from "../../source/index.ts";
import type { Region } from "../tree.ts";
import type { RoutineContext } from "./routine-context.ts";

const widths = [1, 2, 4, 8, 16];
const verticals = [0, 1, 2, 4, 8, 16, 32];
const horizontals = [0, 1, 2, 4];

/** The elements that a region spans, counted from its origin. */
export interface Extent {
  /** Index of the last element; the first is 0. */
  readonly last: number;
  /** Number of addresses that an indirect source with several of them takes; otherwise 1. */
  readonly addresses: number;
}

/** Checks a source's region (5_operands.md, "Region Restrictions"); null if it is not valid. */
export function sourceRegion(context: RoutineContext, region: Region, channels: number, span: Span): Extent | null {
  const { vertical, width, horizontal } = region;
  const fail = (message: string, help: string): null => {
    context.error("visa-region", span, message, help);
    return null;
  };
  if (vertical !== null && !verticals.includes(vertical)) {
    return fail(`${vertical} is not a vertical stride`, `it may be ${verticals.join(", ")}`);
  }
  if (width === null || !widths.includes(width))
    return fail(`${width} is not a width`, `it may be ${widths.join(", ")}`);
  if (horizontal === null || !horizontals.includes(horizontal)) {
    return fail(`${horizontal} is not a horizontal stride`, `it may be ${horizontals.join(", ")}`);
  }
  if (width > channels) {
    return fail(
      `the region is ${width} wide, but the instruction has ${channels} channels`,
      "a width is at most the execution size",
    );
  }
  const rows = channels / width;
  if (vertical === null) return { last: (width - 1) * horizontal, addresses: rows };
  return { last: (rows - 1) * vertical + (width - 1) * horizontal, addresses: 1 };
}

/** Checks a destination's region; null if it is not valid. */
export function destinationRegion(
  context: RoutineContext,
  region: Region,
  channels: number,
  span: Span,
): Extent | null {
  const { horizontal } = region;
  if (horizontal === 0 || horizontal === null || !horizontals.includes(horizontal)) {
    context.error("visa-region", span, `${horizontal} is not a destination's stride`, "it may be 1, 2, 4");
    return null;
  }
  return { last: (channels - 1) * horizontal, addresses: 1 };
}
