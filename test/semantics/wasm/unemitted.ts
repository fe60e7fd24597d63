/** Primitives that a module computes by a call of `eval`, and in vectors lane by lane. The lists only get shorter. */
export const unemitted: { readonly scalar: readonly string[]; readonly vector: readonly string[] } = {
  scalar: ["i32.nth_set", "i64.mul_add_shr_sat", "f32.dot_packed", "i32.f16_from_f64_rs", "i32.bf16_from_f64_rs"],
  vector: [
    "i64.div_s",
    "i64.div_u",
    "i64.rem_s",
    "i64.rem_u",
    "i32.nth_set",
    "i64.mul_add_shr_sat",
    "f32.dot_packed",
    "i32.f16_from_f64_rs",
    "i32.bf16_from_f64_rs",
  ],
};
