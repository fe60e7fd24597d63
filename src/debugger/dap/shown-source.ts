import type { LaneFrame, SourcePlace } from "../view/lane-place.ts";

/**
 * Whether an editor shows the source that the assembly was generated from (`original`), the assembly, or the source
 * where its file is found.
 */
export type SourceChoice = "original" | "assembly" | "auto";

/** What decides which file an editor shows. */
export interface SourceOptions {
  readonly shows: SourceChoice;
  /** Returns the path of a file that an editor can open, or null. */
  readonly pathOf: (path: string) => string | null;
}

/** Returns the place in the source if an editor is to show that of a frame; null for the assembly. */
export function shownOrigin(frame: LaneFrame, { shows, pathOf }: SourceOptions): SourcePlace | null {
  const { place } = frame;
  if (place === null || shows === "assembly") return null;
  return shows === "original" || pathOf(place.path) !== null ? place : null;
}
