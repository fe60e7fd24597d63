const view = new DataView(new ArrayBuffer(8));

/** The number a bit pattern stands for, as short as it can be written. */
export function floatText(bits: bigint, width: 32 | 64): string {
  view.setBigUint64(0, width === 32 ? bits << 32n : bits);
  if (width === 64) return shown(view.getFloat64(0));
  const value = view.getFloat32(0);
  // The shortest decimal that rounds to the same single-precision number.
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return shown(short);
  }
  return shown(value);
}

const shown = (value: number): string =>
  Object.is(value, -0) ? "-0.0" : Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : `${value}`;

const hexadecimal = (bits: bigint, digits = 0): string => `0x${bits.toString(16).toUpperCase().padStart(digits, "0")}`;

/** The bit pattern of a number as PTX writes it. */
function pattern(value: number, width: 32 | 64): string {
  if (width === 32) {
    view.setFloat32(0, value);
    return `0f${view.getUint32(0).toString(16).toUpperCase().padStart(8, "0")}`;
  }
  view.setFloat64(0, value);
  return `0d${view.getBigUint64(0).toString(16).toUpperCase().padStart(16, "0")}`;
}

/** The other spellings of a literal of PTX or vISA; empty if the word is not one. */
export function otherSpellings(word: string): readonly string[] {
  const floating = /^0([fFdD])([0-9a-fA-F]{8}|[0-9a-fA-F]{16})$/.exec(word);
  if (floating) {
    const width = floating[1]!.toLowerCase() === "f" ? 32 : 64;
    if (floating[2]!.length * 4 !== width) return [];
    const bits = BigInt(`0x${floating[2]}`);
    return [floatText(bits, width), hexadecimal(bits, width / 4)];
  }
  if (/^(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?$/.test(word) && /[.eE]/.test(word))
    return [pattern(Number(word), 32), pattern(Number(word), 64)];
  const integer = /^(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]+|\d+)U?$/.exec(word)?.[1];
  if (integer === undefined) return [];
  const value = BigInt(/^0[0-7]+$/.test(integer) ? `0o${integer.slice(1)}` : integer);
  if (value >= 1n << 64n) return [];
  const bits = value < 1n << 32n ? 32 : 64;
  const spellings = [/^0x/i.test(integer) ? `${value}` : hexadecimal(value)];
  if (value > 9n && !/^0b/i.test(integer) && value < 1n << 16n) spellings.push(`0b${value.toString(2)}`);
  const signed = BigInt.asIntN(bits, value);
  if (signed < 0n) spellings.push(`${signed} as .s${bits}`);
  const asFloat = floatText(value, bits);
  if (value > 0xffffn && /^-?\d{1,7}\.\d{1,4}$/.test(asFloat)) spellings.push(`${asFloat} as .f${bits}`);
  return spellings;
}

/** The word of a literal around an offset, with its place; null if there is none. */
export function literalAt(text: string, offset: number): { readonly start: number; readonly end: number } | null {
  let start = offset;
  let end = offset;
  while (start > 0 && /[\w.$%]/.test(text[start - 1]!)) start--;
  while (end < text.length && /[\w.$%]/.test(text[end]!)) end++;
  return /^\.?\d/.test(text.slice(start, end)) ? { start, end } : null;
}
