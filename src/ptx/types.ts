/** The fundamental types of PTX (section 5.2) and the packed and alternate types of instructions. */
export type TypeKind = "s" | "u" | "f" | "b" | "pred";

export interface TypeInfo {
  readonly name: string;
  readonly kind: TypeKind;
  readonly bits: number;
  /** For packed types the number of elements, else 1. */
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
  // Registers of these hold bits; instructions give the meaning.
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

/** The type of that name (without the dot), or null. */
export const typeInfo = (name: string): TypeInfo | null => byName.get(name) ?? null;

/** The fundamental types (5.2.1) that memory instructions move. */
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

/** Types that variables and registers can be declared with (5.2.1, 5.3). */
export const declarableTypes: ReadonlySet<string> = new Set([
  "pred",
  ...dataTypes,
  "f16",
  "f16x2",
  "texref",
  "samplerref",
  "surfref",
]);

/** A PTX ISA version as one number: 6.4 is 604. */
export const versionNumber = (version: string): number => {
  const [major = "0", minor = "0"] = version.split(".");
  return Number(major) * 100 + Number(minor);
};

export const versionText = (version: number): string => `${Math.floor(version / 100)}.${version % 100}`;
