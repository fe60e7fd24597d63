/** Primitives that have no vector form: a module computes them lane by lane. The list only gets shorter. */
export const withoutVectors: readonly string[] = ["i64.div_s", "i64.div_u", "i64.rem_s", "i64.rem_u"];
