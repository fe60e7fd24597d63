/** The address of a buffer within a struct that is passed by value. */
export interface PointerPatch {
  readonly at: number;
  readonly buffer: string;
  readonly offset: number;
}
