/** Signed, unsigned, floating-point, untyped bits, or predicate. */
export type TypeKind = "s" | "u" | "f" | "b" | "pred";

/** A type of PTX (5.2): a fundamental type, or a packed or alternate type that only instructions have. */
export interface TypeInfo {
  /** Without the dot, as in "u32". */
  readonly name: string;
  readonly kind: TypeKind;
  /** Size in bits; 1 for predicates. */
  readonly bits: number;
  /** Number of elements of a packed type, else 1. */
  readonly lanes: number;
}

const row = (name: string, kind: TypeKind, bits: number, lanes = 1): TypeInfo => ({ name, kind, bits, lanes });

const table = [
  row("pred", "pred", 1),
  ...[8, 16, 32, 64, 128].map((n) => row(`b${n}`, "b", n)),
  ...[8, 16, 32, 64].flatMap((n) => [row(`u${n}`, "u", n), row(`s${n}`, "s", n)]),
  row("f16", "f", 16),
  row("f32", "f", 32),
  row("f64", "f", 64),
  row("f16x2", "f", 32, 2),
  // Alternate and packed types: registers hold plain bits, which the instruction interprets.
  row("bf16", "b", 16),
  row("bf16x2", "b", 32, 2),
  row("tf32", "b", 32),
  row("f32x2", "b", 64, 2),
  row("e4m3", "b", 8),
  row("e5m2", "b", 8),
  row("e4m3x2", "b", 16, 2),
  row("e5m2x2", "b", 16, 2),
  row("e4m3x4", "b", 32, 4),
  row("e5m2x4", "b", 32, 4),
  row("e2m3x2", "b", 16, 2),
  row("e3m2x2", "b", 16, 2),
  row("e2m1x2", "b", 8, 2),
  row("e2m3x4", "b", 32, 4),
  row("e3m2x4", "b", 32, 4),
  row("e2m1x4", "b", 16, 4),
  row("ue8m0x2", "b", 16, 2),
  row("u16x2", "u", 32, 2),
  row("s16x2", "s", 32, 2),
  row("u8x4", "u", 32, 4),
  row("s8x4", "s", 32, 4),
  row("texref", "b", 64),
  row("samplerref", "b", 64),
  row("surfref", "b", 64),
] as const;

const byName: ReadonlyMap<string, TypeInfo> = new Map(table.map((t) => [t.name, t]));

/** The type called `name` (without the dot), or null if there is none. */
export const typeInfo = (name: string): TypeInfo | null => byName.get(name) ?? null;

/** The names of the fundamental types (5.2.1) that loads and stores can move. */
export const dataTypes = [
  "b8",
  "b16",
  "b32",
  "b64",
  "b128",
  "u8",
  "u16",
  "u32",
  "u64",
  "s8",
  "s16",
  "s32",
  "s64",
  "f32",
  "f64",
] as const;

/** The names of the types that variables and registers can be declared with (5.2.1, 5.3). */
export const declarableTypes: ReadonlySet<string> = new Set([
  "pred",
  ...dataTypes,
  "f16",
  "f16x2",
  "texref",
  "samplerref",
  "surfref",
]);

/** A PTX ISA version as one number, for comparison: "6.4" becomes 604. */
export const versionNumber = (version: string): number => {
  const [major = "0", minor = "0"] = version.split(".");
  return Number(major) * 100 + Number(minor);
};

/** The inverse of `versionNumber`: 604 becomes "6.4". */
export const versionText = (version: number): string => `${Math.floor(version / 100)}.${version % 100}`;
