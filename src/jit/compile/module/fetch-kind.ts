import type { FetchedGeometry, TexelForm } from "../../abi/image-words.ts";

/** What a function fetches: `integers`: coordinates are texels. */
export interface FetchKind {
  readonly geometry: FetchedGeometry;
  readonly integers: boolean;
  readonly result: TexelForm["result"];
  /** Which component of the four texels around a point; null: all components of a filtered one. */
  readonly component: number | null;
  /** In texels, for each axis; none, or as many as there are axes. */
  readonly offsets: number;
  /** Depths are compared with the last parameter. */
  readonly compares: boolean;
  /** Floats among results are rounded to halves, in elements of 32 bits. */
  readonly halves: boolean;
  /** Floats are results as binary64, not rounded yet: of each channel the first two lanes, then the others. */
  readonly wide?: boolean;
}
