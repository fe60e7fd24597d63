/**
 * The part of the prelude for operations that change the width of elements. Widenings make a value of n quads of half
 * as many. Narrowings make one of a value of twice as many or, `_both`, of two of as many.
 */
export const conversionsPrelude = String.raw`
/* P: what stands before the names of intrinsics; a vector of h quads has the type H ## i of integers, H of floats. */
#define WIDENINGS(n, h, P, H) \
  INLINE v##n i16x8_extend_i8x16_s_##n(v##h a) { return (v##n)P##_cvtepi8_epi16((H##i)a); } \
  INLINE v##n i16x8_extend_i8x16_u_##n(v##h a) { return (v##n)P##_cvtepu8_epi16((H##i)a); } \
  INLINE v##n i32x4_extend_i16x8_s_##n(v##h a) { return (v##n)P##_cvtepi16_epi32((H##i)a); } \
  INLINE v##n i32x4_extend_i16x8_u_##n(v##h a) { return (v##n)P##_cvtepu16_epi32((H##i)a); } \
  INLINE v##n i64x2_extend_i32x4_s_##n(v##h a) { return (v##n)P##_cvtepi32_epi64((H##i)a); } \
  INLINE v##n i64x2_extend_i32x4_u_##n(v##h a) { return (v##n)P##_cvtepu32_epi64((H##i)a); } \
  INLINE v##n i32x4_extmul_i16x8_u_##n(v##h a, v##h b) { \
    return (v##n)((u32v##n)i32x4_extend_i16x8_u_##n(a) * (u32v##n)i32x4_extend_i16x8_u_##n(b)); } \
  INLINE v##n i64x2_extmul_i32x4_s_##n(v##h a, v##h b) { \
    return (v##n)P##_mul_epi32(P##_cvtepu32_epi64((H##i)a), P##_cvtepu32_epi64((H##i)b)); } \
  INLINE v##n i64x2_extmul_i32x4_u_##n(v##h a, v##h b) { \
    return (v##n)P##_mul_epu32(P##_cvtepu32_epi64((H##i)a), P##_cvtepu32_epi64((H##i)b)); } \
  INLINE v##n f64x2_promote_f32x4_##n(v##h a) { return (v##n)P##_cvtps_pd((H)a); } \
  INLINE v##n f64x2_convert_i32x4_s_##n(v##h a) { return (v##n)P##_cvtepi32_pd((H##i)a); } \
  INLINE v##n f64x2_convert_i32x4_u_##n(v##h a) { \
    i64v##n bits = (i64v##n)i64x2_extend_i32x4_u_##n(a) | 0x4330000000000000; \
    return (v##n)((f64v##n)bits - 0x1p52); }
WIDENINGS(2, 1, _mm256, __m128)

/* Numbers that fit whole numbers of 32 bits, once their fractions are cut off; those below the least one may stay. */
#define CLAMPS(n, P, C) \
  INLINE C clamp_s_##n(v##n a) { \
    v##n isNumber = (v##n)((f64v##n)a == (f64v##n)a); \
    return P##_min_pd((C)(a & isNumber), P##_set1_pd(2147483647.0)); } \
  INLINE C clamp_u_##n(v##n a) { \
    return P##_min_pd(P##_max_pd((C)a, P##_setzero_pd()), P##_set1_pd(4294967295.0)); }
CLAMPS(1, _mm, __m128d)
CLAMPS(2, _mm256, __m256d)
/* Where a float of 64 bits has a unit for its last bit. */
#define WHOLE(n, P, a) ((v##n)((f64v##n)P##_round_pd(clamp_u_##n(a), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC) + 0x1p52))

INLINE v1 f32x4_demote_f64x2_zero_1(v1 a) { return (v1)_mm_cvtpd_ps((__m128d)a); }
INLINE v1 f64x2_promote_low_f32x4_1(v1 a) { return (v1)_mm_cvtps_pd((__m128)a); }
INLINE v1 f64x2_convert_low_i32x4_s_1(v1 a) { return (v1)_mm_cvtepi32_pd((__m128i)a); }
INLINE v1 f64x2_convert_low_i32x4_u_1(v1 a) {
  return (v1)((f64v1)((i64v1)_mm_cvtepu32_epi64((__m128i)a) | 0x4330000000000000) - 0x1p52);
}
INLINE v1 i32x4_trunc_sat_f64x2_s_zero_1(v1 a) { return (v1)_mm_cvttpd_epi32(clamp_s_1(a)); }
INLINE v1 i32x4_trunc_sat_f64x2_u_zero_1(v1 a) { return shuffle_words_1(WHOLE(1, _mm, a), (v1){}, 0, 2, 4, 4); }

INLINE v1 i32x4_low_i64x2_1(v2 a) { return shuffle_words_1(part2(a, 0), part2(a, 1), 0, 2, 4, 6); }
INLINE v1 i32x4_high_i64x2_1(v2 a) { return shuffle_words_1(part2(a, 0), part2(a, 1), 1, 3, 5, 7); }
INLINE v2 i32x4_low_i64x2_both_2(v2 a, v2 b) { return shuffle_words_2(a, b, 0, 2, 4, 6, 8, 10, 12, 14); }
INLINE v2 i32x4_high_i64x2_both_2(v2 a, v2 b) { return shuffle_words_2(a, b, 1, 3, 5, 7, 9, 11, 13, 15); }
INLINE v1 f32x4_demote_f64x2_1(v2 a) { return (v1)_mm256_cvtpd_ps((__m256d)a); }
INLINE v1 i32x4_trunc_sat_f64x2_s_1(v2 a) { return (v1)_mm256_cvttpd_epi32(clamp_s_2(a)); }
INLINE v1 i32x4_trunc_sat_f64x2_u_1(v2 a) { return i32x4_low_i64x2_1(WHOLE(2, _mm256, a)); }
#define JOINED(op, n, h) INLINE v##n op##_both_##n(v##n a, v##n b) { return join##n(op##_##h(a), op##_##h(b)); }
JOINED(f32x4_demote_f64x2, 2, 1) JOINED(i32x4_trunc_sat_f64x2_s, 2, 1) JOINED(i32x4_trunc_sat_f64x2_u, 2, 1)

/* Intrinsics narrow each quad by itself. */
#define NARROWINGS_1(op, name) \
  INLINE v1 op##_1(v2 a) { return (v1)_mm_##name((__m128i)part2(a, 0), (__m128i)part2(a, 1)); } \
  INLINE v2 op##_both_2(v2 a, v2 b) { \
    return (v2)_mm256_permute4x64_epi64(_mm256_##name((__m256i)a, (__m256i)b), 0xd8); }
NARROWINGS_1(i8x16_narrow_i16x8_s, packs_epi16) NARROWINGS_1(i8x16_narrow_i16x8_u, packus_epi16)
NARROWINGS_1(i16x8_narrow_i32x4_s, packs_epi32) NARROWINGS_1(i16x8_narrow_i32x4_u, packus_epi32)

#ifdef MASKS
WIDENINGS(4, 2, _mm512, __m256)
CLAMPS(4, _mm512, __m512d)
INLINE v2 i32x4_low_i64x2_2(v4 a) { return (v2)_mm512_cvtepi64_epi32((__m512i)a); }
INLINE v2 i32x4_high_i64x2_2(v4 a) { return (v2)_mm512_cvtepi64_epi32(_mm512_srli_epi64((__m512i)a, 32)); }
#define ALTERNATE(a, b, from) shuffle_words_4(a, b, from, from + 2, from + 4, from + 6, from + 8, from + 10, from + 12, \
  from + 14, from + 16, from + 18, from + 20, from + 22, from + 24, from + 26, from + 28, from + 30)
INLINE v4 i32x4_low_i64x2_both_4(v4 a, v4 b) { return ALTERNATE(a, b, 0); }
INLINE v4 i32x4_high_i64x2_both_4(v4 a, v4 b) { return ALTERNATE(a, b, 1); }
INLINE v2 f32x4_demote_f64x2_2(v4 a) { return (v2)_mm512_cvtpd_ps((__m512d)a); }
INLINE v2 i32x4_trunc_sat_f64x2_s_2(v4 a) { return (v2)_mm512_cvttpd_epi32(clamp_s_4(a)); }
INLINE v2 i32x4_trunc_sat_f64x2_u_2(v4 a) { return (v2)_mm512_cvttpd_epu32(clamp_u_4(a)); }
JOINED(f32x4_demote_f64x2, 4, 2) JOINED(i32x4_trunc_sat_f64x2_s, 4, 2) JOINED(i32x4_trunc_sat_f64x2_u, 4, 2)
#define NARROWINGS_2(op, name) \
  INLINE v2 op##_2(v4 a) { return op##_both_2(half4(a, 0), half4(a, 1)); } \
  INLINE v4 op##_both_4(v4 a, v4 b) { \
    __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7); \
    return (v4)_mm512_permutexvar_epi64(order, _mm512_##name((__m512i)a, (__m512i)b)); }
NARROWINGS_2(i8x16_narrow_i16x8_s, packs_epi16) NARROWINGS_2(i8x16_narrow_i16x8_u, packus_epi16)
NARROWINGS_2(i16x8_narrow_i32x4_s, packs_epi32) NARROWINGS_2(i16x8_narrow_i32x4_u, packus_epi32)
#endif
`;
