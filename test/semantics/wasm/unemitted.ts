/** Primitives without a vector form, which modules compute lane by lane. The list may only get shorter. */
export const withoutVectors: readonly string[] = ["i64.div_s", "i64.div_u", "i64.rem_s", "i64.rem_u"];
