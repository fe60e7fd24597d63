import type { ValueOp } from "../wasm/value-ops.ts";

/** A value of 1, 2 or 4 quads: how many. */
export type Quads = 1 | 2 | 4;

/** Writes an operation as an expression of C; arguments are expressions, and the immediates come last. */
type Writer = (n: Quads, args: readonly string[]) => string;

/** What stands before the names of intrinsics, and the type that those for integers take. */
const prefix = { 1: "_mm", 2: "_mm256", 4: "_mm512" } as const;
const vector = (n: Quads): string => `__m${128 * n}`;

const asVector = (text: string, n: Quads): string => `(v${n})(${text})`;
const as = (type: string, n: Quads, value: string | undefined): string => `(${type}v${n})${value}`;

/** An operator of C between elements of a type. */
const infix =
  (type: string, operator: string): Writer =>
  (n, [a, b]) =>
    asVector(`${as(type, n, a)} ${operator} ${as(type, n, b)}`, n);

/** A shift of elements by a number modulo their bits. */
const shift =
  (type: string, bits: number, operator: string): Writer =>
  (n, [a, b]) =>
    asVector(`${as(type, n, a)} ${operator} (${type})(${b} & ${bits - 1})`, n);

/** An intrinsic of integers; `order` changes the order of the arguments. */
const integers =
  (name: string, order: (args: readonly string[]) => readonly string[] = (args) => args): Writer =>
  (n, args) =>
    asVector(
      `${prefix[n]}_${name}(${order(args)
        .map((a) => `(${vector(n)}i)${a}`)
        .join()})`,
      n,
    );

/** An intrinsic of floats: of 32 bits where its name ends in `ps`, else of 64. */
const floats =
  (name: string, order: (args: readonly string[]) => readonly string[] = (args) => args): Writer =>
  (n, args) => {
    const cast = `(${vector(n)}${name.endsWith("ps") ? "" : "d"})`;
    return asVector(
      `${prefix[n]}_${name}(${order(args)
        .map((a) => cast + a)
        .join()})`,
      n,
    );
  };

const swapped = ([a, b]: readonly string[]): readonly string[] => [b!, a!];

/** Rounds to an integer; 8: without an exception. */
const rounding =
  (type: "ps" | "pd", mode: number): Writer =>
  (n, [a]) => {
    const name = n === 4 ? "roundscale" : "round";
    return asVector(`${prefix[n]}_${name}_${type}((${vector(n)}${type === "ps" ? "" : "d"})${a}, ${mode + 8})`, n);
  };

/** A function of the prelude, by the operation's name; those of vectors have the number of quads at the end. */
const ownFunction =
  (op: string): Writer =>
  (n, args) =>
    `${op.replace(".", "_")}_${n}(${args.join()})`;

const scalarFunction =
  (op: string): Writer =>
  (_, args) =>
    `${op.replace(".", "_")}(${args.join()})`;

/** An expression in which $a, $b and $c stand for the arguments. */
const text =
  (pattern: string): Writer =>
  (n, args) =>
    pattern.replace(/\$([abc])/g, (_, letter: string) => args[letter.charCodeAt(0) - 97]!).replaceAll("#", String(n));

const splat =
  (element: string): Writer =>
  (n, [a]) =>
    asVector(`${prefix[n]}_set1_${element}(${a})`, n);

const set64 = (n: Quads): string => (n === 4 ? "epi64" : "epi64x");

const extract =
  (type: string, result: string): Writer =>
  (_, [a, lane]) =>
    `(${result})((${type}v1)${a})[${lane}]`;

const elements = {
  i8x16: { signed: "i8", unsigned: "u8", bits: 8 },
  i16x8: { signed: "i16", unsigned: "u16", bits: 16 },
  i32x4: { signed: "i32", unsigned: "u32", bits: 32 },
  i64x2: { signed: "i64", unsigned: "u64", bits: 64 },
} as const;

const comparisons = { eq: "==", ne: "!=", lt: "<", gt: ">", le: "<=", ge: ">=" } as const;
const arithmetic = { add: "+", sub: "-", mul: "*", div: "/" } as const;
const integerOrder = ["min", "max"] as const;

/** Families of operations whose writers differ in the type alone. */
function families(): Record<string, Writer> {
  const made: Record<string, Writer> = {};
  for (const [shape, { signed, unsigned, bits }] of Object.entries(elements)) {
    for (const [name, operator] of Object.entries(comparisons)) {
      made[`${shape}.${name}`] = infix(signed, operator);
      made[`${shape}.${name}_s`] = infix(signed, operator);
      made[`${shape}.${name}_u`] = infix(unsigned, operator);
    }
    for (const name of ["add", "sub", "mul"] as const) made[`${shape}.${name}`] = infix(unsigned, arithmetic[name]);
    made[`${shape}.shl`] = shift(unsigned, bits, "<<");
    made[`${shape}.shr_s`] = shift(signed, bits, ">>");
    made[`${shape}.shr_u`] = shift(unsigned, bits, ">>");
    made[`${shape}.neg`] = (n, [a]) => asVector(`-${as(unsigned, n, a)}`, n);
    made[`${shape}.abs`] = ownFunction(`${shape}.abs`);
    for (const name of integerOrder) {
      made[`${shape}.${name}_s`] = integers(`${name}_epi${bits}`);
      made[`${shape}.${name}_u`] = integers(`${name}_epu${bits}`);
    }
  }
  for (const [shape, type, suffix] of [
    ["f32x4", "f32", "ps"],
    ["f64x2", "f64", "pd"],
  ] as const) {
    for (const [name, operator] of Object.entries({ ...comparisons, ...arithmetic })) {
      made[`${shape}.${name}`] = infix(type, operator);
    }
    made[`${shape}.sqrt`] = floats(`sqrt_${suffix}`);
    made[`${shape}.pmin`] = floats(`min_${suffix}`, swapped);
    made[`${shape}.pmax`] = floats(`max_${suffix}`, swapped);
    made[`${shape}.relaxed_madd`] = floats(`fmadd_${suffix}`);
    ["nearest", "floor", "ceil", "trunc"].forEach((name, mode) => {
      made[`${shape}.${name}`] = rounding(suffix, mode);
    });
    for (const name of ["abs", "neg", "min", "max"]) made[`${shape}.${name}`] = ownFunction(`${shape}.${name}`);
  }
  for (const [type, size] of [
    ["i32", 32],
    ["i64", 64],
  ] as const) {
    const [u, i] = [`u${size}`, type];
    const operators = { add: "+", sub: "-", mul: "*", and: "&", or: "|", xor: "^" };
    for (const [name, operator] of Object.entries(operators)) made[`${type}.${name}`] = text(`($a ${operator} $b)`);
    for (const [name, operator] of Object.entries(comparisons)) {
      made[`${type}.${name}`] = text(`($a ${operator} $b)`);
      made[`${type}.${name}_u`] = text(`($a ${operator} $b)`);
      made[`${type}.${name}_s`] = text(`((${i})$a ${operator} (${i})$b)`);
      made[`f${size}.${name}`] = text(`($a ${operator} $b)`);
    }
    made[`${type}.eqz`] = text("!$a");
    made[`${type}.shl`] = text(`($a << ($b & ${size - 1}))`);
    made[`${type}.shr_u`] = text(`($a >> ($b & ${size - 1}))`);
    made[`${type}.shr_s`] = text(`(${u})((${i})$a >> ($b & ${size - 1}))`);
    made[`${type}.rotl`] = text(`(($a << ($b & ${size - 1})) | ($a >> (-$b & ${size - 1})))`);
    made[`${type}.rotr`] = text(`(($a >> ($b & ${size - 1})) | ($a << (-$b & ${size - 1})))`);
    for (const [name, operator] of Object.entries(arithmetic)) made[`f${size}.${name}`] = text(`($a ${operator} $b)`);
    const f = size === 32 ? "f" : "";
    made[`f${size}.neg`] = text("(-$a)");
    for (const name of ["abs", "ceil", "floor", "trunc", "sqrt"]) {
      made[`f${size}.${name}`] = text(`__builtin_${name === "abs" ? "fabs" : name}${f}($a)`);
    }
    made[`f${size}.nearest`] = text(`__builtin_rint${f}($a)`);
    made[`f${size}.copysign`] = text(`__builtin_copysign${f}($a, $b)`);
    for (const from of ["i32", "i64"]) {
      made[`f${size}.convert_${from}_s`] = text(`(f${size})(${from})$a`);
      made[`f${size}.convert_${from}_u`] = text(`(f${size})$a`);
    }
  }
  return made;
}

const writers: Readonly<Record<string, Writer>> = {
  ...families(),
  "i32.wrap_i64": text("(u32)$a"),
  "i32.extend8_s": text("(u32)(i32)(i8)$a"),
  "i32.extend16_s": text("(u32)(i32)(i16)$a"),
  "i64.extend_i32_s": text("(u64)(i64)(i32)$a"),
  "i64.extend_i32_u": text("(u64)$a"),
  "i32.popcnt": text("(u32)__builtin_popcount($a)"),
  "i64.popcnt": text("(u64)__builtin_popcountll($a)"),
  "i32.reinterpret_f32": text("bits_of_f32($a)"),
  "i64.reinterpret_f64": text("bits_of_f64($a)"),
  "f32.reinterpret_i32": text("f32_bits($a)"),
  "f64.reinterpret_i64": text("f64_bits($a)"),
  "f32.demote_f64": text("(f32)$a"),
  "f64.promote_f32": text("(f64)$a"),
  "i8x16.splat": splat("epi8"),
  "i16x8.splat": splat("epi16"),
  "i32x4.splat": splat("epi32"),
  "i64x2.splat": (n, args) => splat(set64(n))(n, args),
  "f32x4.splat": splat("ps"),
  "f64x2.splat": splat("pd"),
  "i8x16.extract_lane_s": extract("i8", "u32"),
  "i8x16.extract_lane_u": extract("u8", "u32"),
  "i16x8.extract_lane_s": extract("i16", "u32"),
  "i16x8.extract_lane_u": extract("u16", "u32"),
  "i32x4.extract_lane": extract("i32", "u32"),
  "i64x2.extract_lane": extract("i64", "u64"),
  "f32x4.extract_lane": extract("f32", "f32"),
  "f64x2.extract_lane": extract("f64", "f64"),
  "i8x16.replace_lane": text("(v1)_mm_insert_epi8((__m128i)$a, (i32)$b, $c)"),
  "i16x8.replace_lane": text("(v1)_mm_insert_epi16((__m128i)$a, (i32)$b, $c)"),
  "i32x4.replace_lane": text("(v1)_mm_insert_epi32((__m128i)$a, (i32)$b, $c)"),
  "i64x2.replace_lane": text("(v1)_mm_insert_epi64((__m128i)$a, (i64)$b, $c)"),
  "f32x4.replace_lane": text("(v1)_mm_insert_epi32((__m128i)$a, (i32)bits_of_f32($b), $c)"),
  "f64x2.replace_lane": text("(v1)_mm_insert_epi64((__m128i)$a, (i64)bits_of_f64($b), $c)"),
  "v128.not": text("(~$a)"),
  "v128.and": text("($a & $b)"),
  "v128.andnot": text("($a & ~$b)"),
  "v128.or": text("($a | $b)"),
  "v128.xor": text("($a ^ $b)"),
  "v128.bitselect": (n, [a, b, mask]) =>
    n === 4
      ? `((${a} & ${mask}) | (${b} & ~${mask}))`
      : asVector(`${prefix[n]}_blendv_epi8((${vector(n)}i)${b}, (${vector(n)}i)${a}, (${vector(n)}i)${mask})`, n),
  "i8x16.bitmask": text("(u32)_mm_movemask_epi8((__m128i)$a)"),
  "i16x8.bitmask": text("(u32)_mm_movemask_epi8(_mm_packs_epi16((__m128i)$a, _mm_setzero_si128()))"),
  "i32x4.bitmask": text("(u32)_mm_movemask_ps((__m128)$a)"),
  "i64x2.bitmask": text("(u32)_mm_movemask_pd((__m128d)$a)"),
  "v128.any_true": text("!_mm_testz_si128((__m128i)$a, (__m128i)$a)"),
  "i8x16.all_true": text("no_zero((v1)((i8v1)$a == 0))"),
  "i16x8.all_true": text("no_zero((v1)((i16v1)$a == 0))"),
  "i32x4.all_true": text("no_zero((v1)($a == 0))"),
  "i64x2.all_true": text("no_zero((v1)((i64v1)$a == 0))"),
  "i8x16.narrow_i16x8_s": integers("packs_epi16"),
  "i8x16.narrow_i16x8_u": integers("packus_epi16"),
  "i16x8.narrow_i32x4_s": integers("packs_epi32"),
  "i16x8.narrow_i32x4_u": integers("packus_epi32"),
  "i8x16.add_sat_s": integers("adds_epi8"),
  "i8x16.avgr_u": integers("avg_epu8"),
  "i32x4.dot_i16x8_s": integers("madd_epi16"),
  "f32x4.convert_i32x4_s": text("(v#)__builtin_convertvector((i32v#)$a, f32v#)"),
  "f32x4.convert_i32x4_u": text("(v#)__builtin_convertvector((u32v#)$a, f32v#)"),
  "i32x4.relaxed_trunc_f32x4_s": (n, [a]) => asVector(`${prefix[n]}_cvttps_epi32((${vector(n)})${a})`, n),
};

for (const [to, from, bits] of [
  ["i16x8", "i8x16", 8],
  ["i32x4", "i16x8", 16],
  ["i64x2", "i32x4", 32],
] as const) {
  for (const [sign, letter] of [
    ["s", "i"],
    ["u", "u"],
  ] as const) {
    const extend = (value: string, half: "low" | "high"): string => {
      const shifted = half === "low" ? `(__m128i)${value}` : `_mm_srli_si128((__m128i)${value}, 8)`;
      return `_mm_cvtep${letter}${bits}_epi${2 * bits}(${shifted})`;
    };
    for (const half of ["low", "high"] as const) {
      (writers as Record<string, Writer>)[`${to}.extend_${half}_${from}_${sign}`] = (_, [a]) =>
        `(v1)${extend(a!, half)}`;
      (writers as Record<string, Writer>)[`${to}.extmul_${half}_${from}_${sign}`] = (_, [a, b]) =>
        bits === 32
          ? `(v1)_mm_mul_ep${letter}32(${extend(a!, half)}, ${extend(b!, half)})`
          : `(v1)((${letter}${2 * bits}v1)${extend(a!, half)} * (${letter}${2 * bits}v1)${extend(b!, half)})`;
    }
  }
}

const isVector = /^(i8x16|i16x8|i32x4|i64x2|f32x4|f64x2|v128)\./;

/** An operation as an expression of C. Vectors have `n` quads; immediates come after the other arguments. */
export function expressionOf(op: ValueOp, n: Quads, args: readonly string[]): string {
  const writer = writers[op] ?? (isVector.test(op) ? ownFunction(op) : scalarFunction(op));
  return writer(n, args);
}

/** What pairs of vectors become that are made of the halves of one each: `op` for both halves. */
export const widenedText = (op: string, n: number, args: readonly string[]): string =>
  `${op.replaceAll(".", "_")}_${n}(${args.join()})`;

/** `n` vectors that are made of twice as many, which one value has or two have. */
export const narrowedText = (op: string, n: number, args: readonly string[]): string =>
  `${op.replaceAll(".", "_")}${args.length > 1 ? "_both" : ""}_${n}(${args.join()})`;

/** The same bytes of each of two values' quads. */
export function shuffle(indices: readonly number[], n: number, args: readonly string[]): string {
  const all = Array.from({ length: n }, (_, k) => indices.map((i) => (i < 16 ? 16 * k + i : 16 * n + 16 * k + i - 16)));
  return shuffleOf(n, args, all.flat());
}

/** Bytes of two values of n quads, of which those of the second come after those of the first. */
export function shuffleOf(n: number, args: readonly string[], bytes: readonly number[]): string {
  const words = bytes.filter((_, i) => i % 4 === 0).map((byte) => byte / 4);
  const areWords = words.every(Number.isInteger) && bytes.every((byte, i) => byte === 4 * words[i >> 2]! + (i % 4));
  return areWords
    ? `shuffle_words_${n}(${args.join()}, ${words.join()})`
    : `shuffle_${n}(${args.join()}, ${bytes.join()})`;
}
