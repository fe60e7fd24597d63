import type { Span } from "../../source/index.ts";
import type { Region } from "../tree.ts";
import type { RoutineContext } from "./routine-context.ts";

const widths = [1, 2, 4, 8, 16];
const verticals = [0, 1, 2, 4, 8, 16, 32];
const horizontals = [0, 1, 2, 4];

/** The elements that a region takes from its origin on: the first is 0. */
export interface Extent {
  /** The last, in elements. */
  readonly last: number;
  /** Addresses that a source with several takes; 1 otherwise. */
  readonly addresses: number;
}

/** Checks a source's region (5_operands.md, "Region Restrictions"); null where it means nothing. */
export function sourceRegion(context: RoutineContext, region: Region, channels: number, span: Span): Extent | null {
  const { vertical, width, horizontal } = region;
  const fail = (message: string, help: string): null => {
    context.error("visa-region", span, message, help);
    return null;
  };
  if (vertical !== null && !verticals.includes(vertical)) {
    return fail(`${vertical} is no vertical stride`, `it may be ${verticals.join(", ")}`);
  }
  if (width === null || !widths.includes(width)) return fail(`${width} is no width`, `it may be ${widths.join(", ")}`);
  if (horizontal === null || !horizontals.includes(horizontal)) {
    return fail(`${horizontal} is no horizontal stride`, `it may be ${horizontals.join(", ")}`);
  }
  if (width > channels) {
    return fail(
      `the region is ${width} wide, and the instruction has ${channels} channels`,
      "a width is at most the execution size",
    );
  }
  const rows = channels / width;
  if (vertical === null) return { last: (width - 1) * horizontal, addresses: rows };
  return { last: (rows - 1) * vertical + (width - 1) * horizontal, addresses: 1 };
}

/** Checks a destination's region. */
export function destinationRegion(
  context: RoutineContext,
  region: Region,
  channels: number,
  span: Span,
): Extent | null {
  const { horizontal } = region;
  if (horizontal === 0 || horizontal === null || !horizontals.includes(horizontal)) {
    context.error("visa-region", span, `${horizontal} is no stride of a destination`, "it may be 1, 2, 4");
    return null;
  }
  return { last: (channels - 1) * horizontal, addresses: 1 };
}
