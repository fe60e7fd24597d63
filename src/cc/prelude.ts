import { conversionsPrelude } from "./conversions-prelude.ts";

/**
 * The beginning of every translated module, as C for GCC and Clang on x86-64 with AVX2. A value of n quads has the type
 * `vN`; `mN` is a mask of its lanes of 32 bits in a register for masks.
 */
export const prelude = String.raw`
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64; typedef float f32; typedef double f64;
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
#define INLINE static inline __attribute__((always_inline, unused))

struct instance {
  u8 *memory;
  u64 (*ask)(struct instance *, u32 function, const char *types, u64 *arguments);
  char *stack_end;
  u32 rounds;
  u32 globals[4];
};
enum { trap_unreachable, trap_division, trap_call, trap_stack };
static const u32 trap_function = 0xffffffff;
static __attribute__((noreturn, cold, unused)) void trap(struct instance *e, u32 why) {
  u64 a[] = {why};
  e->ask(e, trap_function, "i>", a);
  __builtin_unreachable();
}

/* Functions of the host before those that a module imports: for a full stack, and to see whether all is to end. */
enum { give_up_function, pause_function, first_import };
/* Every so many rounds of loops the host may end what runs, as V8 may in each round. */
static const u32 rounds_between_pauses = 1 << 20;
static __attribute__((cold, noinline, unused)) u32 pause_rounds(struct instance *e) {
  e->ask(e, pause_function, ">", 0);
  return rounds_between_pauses;
}
#define ROUND if (__builtin_expect(rounds-- == 0, 0)) rounds = pause_rounds(e);

#define VECTORS(n) \
  typedef i32 v##n __attribute__((vector_size(16 * n))); typedef v##n v##n##_anywhere __attribute__((aligned(1), may_alias)); \
  typedef i32 i32v##n __attribute__((vector_size(16 * n))); typedef u32 u32v##n __attribute__((vector_size(16 * n))); \
  typedef i64 i64v##n __attribute__((vector_size(16 * n))); typedef u64 u64v##n __attribute__((vector_size(16 * n))); \
  typedef i16 i16v##n __attribute__((vector_size(16 * n))); typedef u16 u16v##n __attribute__((vector_size(16 * n))); \
  typedef i8 i8v##n __attribute__((vector_size(16 * n))); typedef u8 u8v##n __attribute__((vector_size(16 * n))); \
  typedef f32 f32v##n __attribute__((vector_size(16 * n))); typedef f64 f64v##n __attribute__((vector_size(16 * n))); \
  INLINE v##n load_##n(const u8 *p) { return *(const v##n##_anywhere *)p; } \
  INLINE void store_##n(u8 *p, v##n v) { *(v##n##_anywhere *)p = v; } \
  INLINE v##n i32x4_abs_##n(v##n a) { v##n s = a >> 31; return (v##n)(((u32v##n)a ^ (u32v##n)s) - (u32v##n)s); } \
  INLINE v##n i64x2_abs_##n(v##n a) { i64v##n s = (i64v##n)a >> 63; return (v##n)(((u64v##n)a ^ (u64v##n)s) - (u64v##n)s); } \
  INLINE v##n i16x8_abs_##n(v##n a) { i16v##n s = (i16v##n)a >> (i16)15; return (v##n)(((u16v##n)a ^ (u16v##n)s) - (u16v##n)s); } \
  INLINE v##n f32x4_abs_##n(v##n a) { return a & 0x7fffffff; } \
  INLINE v##n f32x4_neg_##n(v##n a) { return a ^ (i32)0x80000000; } \
  INLINE v##n f64x2_abs_##n(v##n a) { return (v##n)((i64v##n)a & 0x7fffffffffffffffll); } \
  INLINE v##n f64x2_neg_##n(v##n a) { return (v##n)((u64v##n)a ^ 0x8000000000000000ull); }
VECTORS(1)
VECTORS(2)

/* NaN if either is one, and -0 below 0, which the processor's own minimum and maximum do not heed. */
#define EXTREMES(n, P, C, S, shape, T) \
  INLINE v##n shape##_min_##n(v##n a, v##n b) { \
    v##n x = (v##n)P##_min_##S((C)a, (C)b), y = (v##n)P##_min_##S((C)b, (C)a); return x | y; } \
  INLINE v##n shape##_max_##n(v##n a, v##n b) { \
    v##n x = (v##n)P##_max_##S((C)a, (C)b), y = (v##n)P##_max_##S((C)b, (C)a); \
    v##n isNumber = (v##n)((T)a == (T)a) & (v##n)((T)b == (T)b), sum = (v##n)((T)a + (T)b); \
    return (x & y & isNumber) | (sum & ~isNumber); }
EXTREMES(1, _mm, __m128, ps, f32x4, f32v1)
EXTREMES(1, _mm, __m128d, pd, f64x2, f64v1)
EXTREMES(2, _mm256, __m256, ps, f32x4, f32v2)
EXTREMES(2, _mm256, __m256d, pd, f64x2, f64v2)

#define TRUNCATIONS(n, P, C) \
  INLINE v##n i32x4_trunc_sat_f32x4_s_##n(v##n a) { \
    v##n whole = (v##n)P##_cvttps_epi32((C)a), above = (v##n)((f32v##n)a >= 0x1p31f); \
    return (whole ^ above) & (v##n)((f32v##n)a == (f32v##n)a); } \
  INLINE v##n i32x4_trunc_sat_f32x4_u_##n(v##n v) { \
    f32v##n a = (f32v##n)((v) & (v##n)((f32v##n)v > 0.0f)); \
    v##n half = (v##n)(a >= 0x1p31f), above = (v##n)(a >= 0x1p32f); \
    f32v##n less = a - (f32v##n)((v##n)((f32v##n){} + 0x1p31f) & half); \
    return ((v##n)P##_cvttps_epi32((C)less) ^ (half & (i32)0x80000000)) | above; }
TRUNCATIONS(1, _mm, __m128)
TRUNCATIONS(2, _mm256, __m256)

INLINE v2 same2(v1 a) { return (v2)_mm256_broadcastsi128_si256((__m128i)a); }
INLINE v2 build2(v1 a, v1 b) { return (v2)_mm256_set_m128i((__m128i)b, (__m128i)a); }
#define join2 build2
#define part2(v, k) ((v1)_mm256_extracti128_si256((__m256i)(v), k))
INLINE u32 any_2(v2 v) { return !_mm256_testz_si256((__m256i)v, (__m256i)v); }
INLINE u32 not_all_2(v2 v) { return !_mm256_testc_si256((__m256i)v, _mm256_set1_epi32(-1)); }
INLINE u32 no_zero(v1 zeros) { return _mm_testz_si128((__m128i)zeros, (__m128i)zeros); }
INLINE u32 nan_f32_2(v2 v) { return (u32)_mm256_movemask_ps(_mm256_cmp_ps((__m256)v, (__m256)v, _CMP_UNORD_Q)); }
INLINE u32 nan_f64_2(v2 v) { return (u32)_mm256_movemask_pd(_mm256_cmp_pd((__m256d)v, (__m256d)v, _CMP_UNORD_Q)); }
INLINE u32 all_2(v2 v) { return no_zero((v1)((part2(v, 0) & part2(v, 1)) == 0)); }

#if defined __AVX512F__ && defined __AVX512BW__ && defined __AVX512DQ__ && defined __AVX512VL__
#define MASKS
VECTORS(4)
EXTREMES(4, _mm512, __m512, ps, f32x4, f32v4)
EXTREMES(4, _mm512, __m512d, pd, f64x2, f64v4)
TRUNCATIONS(4, _mm512, __m512)
INLINE v4 same4(v1 a) { return (v4)_mm512_broadcast_i32x4((__m128i)a); }
INLINE v4 join4(v2 a, v2 b) { return (v4)_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)a), (__m256i)b, 1); }
INLINE v4 build4(v1 a, v1 b, v1 c, v1 d) { return join4(build2(a, b), build2(c, d)); }
#define part4(v, k) ((v1)_mm512_extracti32x4_epi32((__m512i)(v), k))
#define half4(v, k) ((v2)_mm512_extracti64x4_epi64((__m512i)(v), k))
INLINE u32 any_4(v4 v) { return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0; }
INLINE u32 not_all_4(v4 v) { return any_4(~v); }
INLINE u32 nan_f32_4(v4 v) { return _mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_UNORD_Q); }
INLINE u32 nan_f64_4(v4 v) { return _mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_UNORD_Q); }
INLINE u32 all_4(v4 v) { return all_2(half4(v, 0) & half4(v, 1)); }

typedef __mmask8 m2;
typedef __mmask16 m4;
#define mask_part(v, k) ((v1)_mm_movm_epi32((__mmask8)((v) >> (4 * (k)))))
INLINE v2 from_mask_2(m2 m) { return (v2)_mm256_movm_epi32(m); }
INLINE v4 from_mask_4(m4 m) { return (v4)_mm512_movm_epi32(m); }
INLINE m2 to_mask_2(v2 v) { return _mm256_movepi32_mask((__m256i)v); }
INLINE m4 to_mask_4(v4 v) { return _mm512_movepi32_mask((__m512i)v); }
#define INTEGER_MASK(name, how, type) \
  INLINE m2 i32x4_##name##_m_2(v2 a, v2 b) { return _mm256_cmp_##type##_mask((__m256i)a, (__m256i)b, how); } \
  INLINE m4 i32x4_##name##_m_4(v4 a, v4 b) { return _mm512_cmp_##type##_mask((__m512i)a, (__m512i)b, how); }
INTEGER_MASK(eq, 0, epi32) INTEGER_MASK(ne, 4, epi32) INTEGER_MASK(lt_s, 1, epi32) INTEGER_MASK(lt_u, 1, epu32)
INTEGER_MASK(gt_s, 6, epi32) INTEGER_MASK(gt_u, 6, epu32) INTEGER_MASK(le_s, 2, epi32) INTEGER_MASK(le_u, 2, epu32)
INTEGER_MASK(ge_s, 5, epi32) INTEGER_MASK(ge_u, 5, epu32)
#define FLOAT_MASK(name, how) \
  INLINE m2 f32x4_##name##_m_2(v2 a, v2 b) { return _mm256_cmp_ps_mask((__m256)a, (__m256)b, how); } \
  INLINE m4 f32x4_##name##_m_4(v4 a, v4 b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, how); }
FLOAT_MASK(eq, _CMP_EQ_OQ) FLOAT_MASK(ne, _CMP_NEQ_UQ) FLOAT_MASK(lt, _CMP_LT_OQ)
FLOAT_MASK(le, _CMP_LE_OQ) FLOAT_MASK(gt, _CMP_GT_OQ) FLOAT_MASK(ge, _CMP_GE_OQ)
#define MASK_LOGIC(n) \
  INLINE m##n v128_and_m_##n(m##n a, m##n b) { return a & b; } \
  INLINE m##n v128_or_m_##n(m##n a, m##n b) { return a | b; } \
  INLINE m##n v128_xor_m_##n(m##n a, m##n b) { return a ^ b; } \
  INLINE m##n v128_not_m_##n(m##n a) { return (m##n)~a; } \
  INLINE m##n v128_andnot_m_##n(m##n a, m##n b) { return a & (m##n)~b; } \
  INLINE m##n v128_bitselect_m_##n(m##n a, m##n b, m##n m) { return (m##n)((a & m) | (b & ~m)); }
MASK_LOGIC(2) MASK_LOGIC(4)
INLINE u32 any_above_2(v2 a, v2 b) { return i32x4_gt_u_m_2(a, b) != 0; }
INLINE u32 any_above_4(v4 a, v4 b) { return i32x4_gt_u_m_4(a, b) != 0; }
INLINE v2 v128_bitselect_by_2(v2 a, v2 b, m2 m) { return (v2)_mm256_mask_blend_epi32(m, (__m256i)b, (__m256i)a); }
INLINE v4 v128_bitselect_by_4(v4 a, v4 b, m4 m) { return (v4)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a); }
#else
INLINE u32 any_above_2(v2 a, v2 b) { return any_2((v2)((u32v2)a > (u32v2)b)); }
#endif

/* Bytes, or words, of two vectors. */
#ifdef __clang__
#define SHUFFLED(n, t, a, b, ...) ((v##n)__builtin_shufflevector((t##v##n)(a), (t##v##n)(b), __VA_ARGS__))
#else
#define SHUFFLED(n, t, a, b, ...) ((v##n)__builtin_shuffle((t##v##n)(a), (t##v##n)(b), (t##v##n){__VA_ARGS__}))
#endif
#define shuffle_1(a, b, ...) SHUFFLED(1, i8, a, b, __VA_ARGS__)
#define shuffle_2(a, b, ...) SHUFFLED(2, i8, a, b, __VA_ARGS__)
#define shuffle_4(a, b, ...) SHUFFLED(4, i8, a, b, __VA_ARGS__)
#define shuffle_words_1(a, b, ...) SHUFFLED(1, i32, a, b, __VA_ARGS__)
#define shuffle_words_2(a, b, ...) SHUFFLED(2, i32, a, b, __VA_ARGS__)
#define shuffle_words_4(a, b, ...) SHUFFLED(4, i32, a, b, __VA_ARGS__)

INLINE v1 i8x16_swizzle_1(v1 a, v1 at) {
  return (v1)_mm_shuffle_epi8((__m128i)a, _mm_adds_epu8((__m128i)at, _mm_set1_epi8(0x70)));
}
#define POPULATIONS(n) INLINE v##n i8x16_popcnt_##n(v##n v) { \
  u8v##n a = (u8v##n)v; a = a - ((a >> (u8)1) & (u8)0x55); a = (a & (u8)0x33) + ((a >> (u8)2) & (u8)0x33); \
  return (v##n)((a + (a >> (u8)4)) & (u8)0x0f); }
POPULATIONS(1) POPULATIONS(2)
#ifdef __AVX512BW__
POPULATIONS(4)
#endif
INLINE v1 i16x8_extadd_pairwise_i8x16_s_1(v1 a) { return (v1)_mm_maddubs_epi16(_mm_set1_epi8(1), (__m128i)a); }
INLINE v1 i16x8_extadd_pairwise_i8x16_u_1(v1 a) { return (v1)_mm_maddubs_epi16((__m128i)a, _mm_set1_epi8(1)); }
INLINE v1 i32x4_extadd_pairwise_i16x8_s_1(v1 a) { return (v1)_mm_madd_epi16((__m128i)a, _mm_set1_epi16(1)); }
INLINE v1 i32x4_extadd_pairwise_i16x8_u_1(v1 a) { return (v1)((u32v1)(a & 0xffff) + ((u32v1)a >> 16)); }

INLINE u32 i32_clz(u32 a) { return a ? (u32)__builtin_clz(a) : 32; }
INLINE u32 i32_ctz(u32 a) { return a ? (u32)__builtin_ctz(a) : 32; }
INLINE u64 i64_clz(u64 a) { return a ? (u64)__builtin_clzll(a) : 64; }
INLINE u64 i64_ctz(u64 a) { return a ? (u64)__builtin_ctzll(a) : 64; }
#define DIVISIONS(t, U, I, least) \
  INLINE U t##_div_u_(struct instance *e, U a, U b) { if (b == 0) trap(e, trap_division); return a / b; } \
  INLINE U t##_rem_u_(struct instance *e, U a, U b) { if (b == 0) trap(e, trap_division); return a % b; } \
  INLINE U t##_div_s_(struct instance *e, U a, U b) { \
    if (b == 0 || ((I)a == least && (I)b == -1)) trap(e, trap_division); return (U)((I)a / (I)b); } \
  INLINE U t##_rem_s_(struct instance *e, U a, U b) { \
    if (b == 0) trap(e, trap_division); return (I)b == -1 ? 0 : (U)((I)a % (I)b); }
DIVISIONS(i32, u32, i32, INT32_MIN) DIVISIONS(i64, u64, i64, INT64_MIN)
#define i32_div_u(a, b) i32_div_u_(e, a, b)
#define i32_rem_u(a, b) i32_rem_u_(e, a, b)
#define i32_div_s(a, b) i32_div_s_(e, a, b)
#define i32_rem_s(a, b) i32_rem_s_(e, a, b)
#define i64_div_u(a, b) i64_div_u_(e, a, b)
#define i64_rem_u(a, b) i64_rem_u_(e, a, b)
#define i64_div_s(a, b) i64_div_s_(e, a, b)
#define i64_rem_s(a, b) i64_rem_s_(e, a, b)
#define SATURATED(to, F, U, I, size, low, high, top) \
  INLINE U to##_trunc_sat_##F##_s(F a) { \
    return a != a ? 0 : a < low ? (U)INT##size##_MIN : a >= high ? (U)INT##size##_MAX : (U)(I)a; } \
  INLINE U to##_trunc_sat_##F##_u(F a) { return !(a > 0) ? 0 : a >= top ? UINT##size##_MAX : (U)a; }
SATURATED(i32, f32, u32, i32, 32, -0x1p31f, 0x1p31f, 0x1p32f) SATURATED(i32, f64, u32, i32, 32, -0x1p31, 0x1p31, 0x1p32)
SATURATED(i64, f32, u64, i64, 64, -0x1p63f, 0x1p63f, 0x1p64f) SATURATED(i64, f64, u64, i64, 64, -0x1p63, 0x1p63, 0x1p64)
${conversionsPrelude}
INLINE u32 bits_of_f32(f32 v) { u32 b; memcpy(&b, &v, 4); return b; }
INLINE u64 bits_of_f64(f64 v) { u64 b; memcpy(&b, &v, 8); return b; }
INLINE f32 f32_bits(u32 b) { f32 v; memcpy(&v, &b, 4); return v; }
INLINE f64 f64_bits(u64 b) { f64 v; memcpy(&v, &b, 8); return v; }
INLINE f32 f32_min(f32 a, f32 b) { return ((f32v1)f32x4_min_1((v1)(f32v1){a}, (v1)(f32v1){b}))[0]; }
INLINE f32 f32_max(f32 a, f32 b) { return ((f32v1)f32x4_max_1((v1)(f32v1){a}, (v1)(f32v1){b}))[0]; }
INLINE f64 f64_min(f64 a, f64 b) { return ((f64v1)f64x2_min_1((v1)(f64v1){a}, (v1)(f64v1){b}))[0]; }
INLINE f64 f64_max(f64 a, f64 b) { return ((f64v1)f64x2_max_1((v1)(f64v1){a}, (v1)(f64v1){b}))[0]; }

/* The byte of memory at an address and an offset. */
#define at(m, a, o) ((m) + (u64)(u32)(a) + (u64)(o))
#define ACCESS(name, R, T) INLINE R name(const u8 *p) { T v; memcpy(&v, p, sizeof v); return (R)v; }
ACCESS(i32_load, u32, u32) ACCESS(i64_load, u64, u64) ACCESS(f32_load, f32, f32) ACCESS(f64_load, f64, f64)
ACCESS(i32_load8_s, u32, i8) ACCESS(i32_load8_u, u32, u8) ACCESS(i32_load16_s, u32, i16) ACCESS(i32_load16_u, u32, u16)
ACCESS(i64_load8_s, u64, i8) ACCESS(i64_load8_u, u64, u8) ACCESS(i64_load16_s, u64, i16) ACCESS(i64_load16_u, u64, u16)
ACCESS(i64_load32_s, u64, i32) ACCESS(i64_load32_u, u64, u32)
#define PLACE(name, V, T) INLINE void name(u8 *p, V v) { T x = (T)v; memcpy(p, &x, sizeof x); }
PLACE(i32_store, u32, u32) PLACE(i64_store, u64, u64) PLACE(f32_store, f32, f32) PLACE(f64_store, f64, f64)
PLACE(i32_store8, u32, u8) PLACE(i32_store16, u32, u16) PLACE(i64_store8, u64, u8) PLACE(i64_store16, u64, u16)
PLACE(i64_store32, u64, u32)
INLINE v1 v128_load32_zero(const u8 *p) { return (v1)_mm_cvtsi32_si128((i32)i32_load(p)); }
INLINE v1 v128_load64_zero(const u8 *p) { return (v1)_mm_cvtsi64_si128((i64)i64_load(p)); }
INLINE v1 v128_load8x8_s(const u8 *p) { return (v1)_mm_cvtepi8_epi16((__m128i)v128_load64_zero(p)); }
INLINE v1 v128_load8x8_u(const u8 *p) { return (v1)_mm_cvtepu8_epi16((__m128i)v128_load64_zero(p)); }
INLINE v1 v128_load16x4_s(const u8 *p) { return (v1)_mm_cvtepi16_epi32((__m128i)v128_load64_zero(p)); }
INLINE v1 v128_load16x4_u(const u8 *p) { return (v1)_mm_cvtepu16_epi32((__m128i)v128_load64_zero(p)); }
INLINE v1 v128_load32x2_s(const u8 *p) { return (v1)_mm_cvtepi32_epi64((__m128i)v128_load64_zero(p)); }
INLINE v1 v128_load32x2_u(const u8 *p) { return (v1)_mm_cvtepu32_epi64((__m128i)v128_load64_zero(p)); }
INLINE v1 v128_load8_splat(const u8 *p) { return (v1)_mm_set1_epi8((i8)*p); }
INLINE v1 v128_load16_splat(const u8 *p) { return (v1)_mm_set1_epi16((i16)i32_load16_u(p)); }
INLINE v1 v128_load32_splat(const u8 *p) { return (v1)_mm_set1_epi32((i32)i32_load(p)); }
INLINE v1 v128_load64_splat(const u8 *p) { return (v1)_mm_set1_epi64x((i64)i64_load(p)); }
#define v128_load8_lane(p, v, k) ((v1)_mm_insert_epi8((__m128i)(v), *(p), k))
#define v128_load16_lane(p, v, k) ((v1)_mm_insert_epi16((__m128i)(v), (i32)i32_load16_u(p), k))
#define v128_load32_lane(p, v, k) ((v1)_mm_insert_epi32((__m128i)(v), (i32)i32_load(p), k))
#define v128_load64_lane(p, v, k) ((v1)_mm_insert_epi64((__m128i)(v), (i64)i64_load(p), k))
#define v128_store8_lane(p, v, k) i32_store8(p, (u32)_mm_extract_epi8((__m128i)(v), k))
#define v128_store16_lane(p, v, k) i32_store16(p, (u32)_mm_extract_epi16((__m128i)(v), k))
#define v128_store32_lane(p, v, k) i32_store(p, (u32)_mm_extract_epi32((__m128i)(v), k))
#define v128_store64_lane(p, v, k) i64_store(p, (u64)_mm_extract_epi64((__m128i)(v), k))

#define ATOMICS(V, name, T, suffix) \
  INLINE V name##_add##suffix(u8 *p, V v) { return __atomic_fetch_add((T *)p, (T)v, __ATOMIC_SEQ_CST); } \
  INLINE V name##_sub##suffix(u8 *p, V v) { return __atomic_fetch_sub((T *)p, (T)v, __ATOMIC_SEQ_CST); } \
  INLINE V name##_and##suffix(u8 *p, V v) { return __atomic_fetch_and((T *)p, (T)v, __ATOMIC_SEQ_CST); } \
  INLINE V name##_or##suffix(u8 *p, V v) { return __atomic_fetch_or((T *)p, (T)v, __ATOMIC_SEQ_CST); } \
  INLINE V name##_xor##suffix(u8 *p, V v) { return __atomic_fetch_xor((T *)p, (T)v, __ATOMIC_SEQ_CST); } \
  INLINE V name##_xchg##suffix(u8 *p, V v) { return __atomic_exchange_n((T *)p, (T)v, __ATOMIC_SEQ_CST); } \
  INLINE V name##_cmpxchg##suffix(u8 *p, V was, V v) { \
    T old = (T)was; if ((V)old != was) return __atomic_load_n((T *)p, __ATOMIC_SEQ_CST); \
    __atomic_compare_exchange_n((T *)p, &old, (T)v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return old; }
ATOMICS(u32, i32_atomic_rmw, u32, ) ATOMICS(u64, i64_atomic_rmw, u64, )
ATOMICS(u32, i32_atomic_rmw8, u8, _u) ATOMICS(u32, i32_atomic_rmw16, u16, _u)
#define ATOMIC_MOVES(V, load, store, T) \
  INLINE V load(u8 *p) { return __atomic_load_n((T *)p, __ATOMIC_SEQ_CST); } \
  INLINE void store(u8 *p, V v) { __atomic_store_n((T *)p, (T)v, __ATOMIC_SEQ_CST); }
ATOMIC_MOVES(u32, i32_atomic_load, i32_atomic_store, u32) ATOMIC_MOVES(u64, i64_atomic_load, i64_atomic_store, u64)
ATOMIC_MOVES(u32, i32_atomic_load8_u, i32_atomic_store8, u8)
ATOMIC_MOVES(u32, i32_atomic_load16_u, i32_atomic_store16, u16)
`;
