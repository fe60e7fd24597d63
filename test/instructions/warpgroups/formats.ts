/** Exponent bits, fraction bits, bias: section 5.2.3, and IEEE 754. */
const floats: Readonly<Record<string, readonly [exponent: number, fraction: number, bias: number]>> = {
  f16: [5, 10, 15],
  e4m3: [4, 3, 7],
  e5m2: [5, 2, 15],
};

const view = new DataView(new ArrayBuffer(4));

function decode([exponentBits, fractionBits, bias]: readonly [number, number, number], pattern: number): number {
  const fraction = pattern % 2 ** fractionBits;
  const exponent = Math.floor(pattern / 2 ** fractionBits) % 2 ** exponentBits;
  const magnitude =
    exponent === 0
      ? fraction * 2 ** (1 - bias - fractionBits)
      : (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
  return Math.floor(pattern / 2 ** (fractionBits + exponentBits)) === 1 ? -magnitude : magnitude;
}

const known = new Map<string, Map<number, number>>();

/** The patterns of small formats by their values. */
function patternsOf(format: string): Map<number, number> {
  let found = known.get(format);
  if (found !== undefined) return found;
  const fields = floats[format]!;
  const count = 2 ** (1 + fields[0] + fields[1]);
  found = new Map();
  for (let pattern = count - 1; pattern >= 0; pattern--) found.set(decode(fields, pattern), pattern);
  known.set(format, found);
  return found;
}

/** The pattern of a value that the format holds exactly. */
export function encode(format: string, value: number): number {
  if (format in floats) {
    const pattern = patternsOf(format).get(value);
    if (pattern === undefined) throw new Error(`${value} is no ${format}`);
    return pattern;
  }
  if (format === "f32" || format === "tf32" || format === "bf16") {
    view.setFloat32(0, value);
    if (view.getFloat32(0) !== value) throw new Error(`${value} is no ${format}`);
    return format === "bf16" ? view.getUint16(0) : view.getUint32(0);
  }
  return (value >>> 0) % 2 ** bitsOf(format);
}

const sizes: Readonly<Record<string, number>> = { b1: 1, f16: 16, bf16: 16, tf32: 32, f32: 32, s32: 32 };
/** Bits of an element. */
export const bitsOf = (format: string): number => sizes[format] ?? 8;
