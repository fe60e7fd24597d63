/** The source of a format's arguments, read one after the other. */
export interface PrintfArguments {
  /** Reads 32 bits as a signed number. */
  int(): number;
  /** Reads 64 bits as a signed bigint. */
  long(): bigint;
  double(): number;
  /** Reads a string up to its zero, one character per byte. */
  string(): string;
}

interface Conversion {
  readonly flags: string;
  readonly width: number;
  /** -1 if none is given. */
  readonly precision: number;
  readonly length: string;
  readonly letter: string;
}

/** Wider fields and longer fractions are taken for mistakes and limited to this. */
const maxWidth = 4096;

const pattern = /%([-+ #0]*)(\*|\d*)(?:\.(\*|-?\d*))?(hh|h|ll|l|j|z|t|L)?([\s\S])/g;

/**
 * Formats like C's printf, with the argument types of 64-bit Linux: `long`, `size_t` and pointers have 64 bits. A
 * conversion that C does not define is printed unchanged.
 */
export function formatPrintf(format: string, args: PrintfArguments): string {
  return format.replace(pattern, (whole, flags: string, width: string, precision, length = "", letter: string) => {
    if (letter === "%") return "%";
    const given = width === "*" ? args.int() : Number(width);
    const digits = precision === undefined ? -1 : precision === "*" ? args.int() : Number(precision);
    const conversion: Conversion = {
      flags: given < 0 ? `${flags}-` : flags,
      width: Math.min(Math.abs(given), maxWidth),
      precision: Math.min(digits, maxWidth),
      length,
      letter,
    };
    return convert(conversion, args) ?? whole;
  });
}

function convert(c: Conversion, args: PrintfArguments): string | null {
  const { letter, length, precision } = c;
  switch (letter) {
    case "d":
    case "i":
      return integer(c, BigInt.asIntN(bitsOf(length), argument(length, args)));
    case "u":
    case "o":
    case "x":
    case "X":
      return integer(c, BigInt.asUintN(bitsOf(length), argument(length, args)));
    case "p":
      return pad(c, "", `0x${BigInt.asUintN(64, args.long()).toString(16)}`);
    case "c":
      return pad(c, "", String.fromCharCode(args.int() & 0xff));
    case "s": {
      const text = args.string();
      return pad(c, "", precision < 0 ? text : text.slice(0, precision));
    }
    case "f":
    case "F":
    case "e":
    case "E":
    case "g":
    case "G":
    case "a":
    case "A":
      return float(c, args.double());
    default:
      return null;
  }
}

const isLong = (length: string): boolean => /^(l|ll|j|z|t)$/.test(length);
const bitsOf = (length: string): number => (isLong(length) ? 64 : length === "h" ? 16 : length === "hh" ? 8 : 32);
const argument = (length: string, args: PrintfArguments): bigint => (isLong(length) ? args.long() : BigInt(args.int()));

function pad({ flags, width }: Conversion, prefix: string, body: string, zeros = false): string {
  const missing = Math.max(0, width - prefix.length - body.length);
  if (flags.includes("-")) return prefix + body + " ".repeat(missing);
  return zeros && flags.includes("0") ? prefix + "0".repeat(missing) + body : " ".repeat(missing) + prefix + body;
}

const signOf = (flags: string, negative: boolean): string =>
  negative ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";

function integer(c: Conversion, value: bigint): string {
  const { flags, precision, letter } = c;
  const signed = letter === "d" || letter === "i";
  const magnitude = value < 0n ? -value : value;
  const radix = letter === "o" ? 8 : letter === "x" || letter === "X" ? 16 : 10;
  let digits = precision === 0 && magnitude === 0n ? "" : magnitude.toString(radix).padStart(precision, "0");
  if (flags.includes("#") && radix === 8 && !digits.startsWith("0")) digits = `0${digits}`;
  const prefix =
    (signed ? signOf(flags, value < 0n) : "") + (flags.includes("#") && radix === 16 && value !== 0n ? "0x" : "");
  // A precision disables the flag 0.
  const text = pad(c, prefix, digits, precision < 0);
  return letter === "X" ? text.toUpperCase() : text;
}

function float(c: Conversion, value: number): string {
  const { flags, precision, letter } = c;
  const negative = value < 0 || Object.is(value, -0);
  const sign = signOf(flags, negative);
  const lower = letter.toLowerCase();
  if (!Number.isFinite(value)) {
    const name = pad(c, sign, Number.isNaN(value) ? "nan" : "inf");
    return lower === letter ? name : name.toUpperCase();
  }
  const magnitude = Math.abs(value);
  const digits = precision < 0 ? 6 : precision;
  const alternate = flags.includes("#");
  const [prefix, body] =
    lower === "f"
      ? [sign, fixed(magnitude, digits, alternate)]
      : lower === "e"
        ? [sign, scientific(magnitude, digits, alternate)]
        : lower === "g"
          ? [sign, general(magnitude, digits === 0 ? 1 : digits, alternate)]
          : [`${sign}0x`, hexadecimal(magnitude, precision, alternate)];
  const text = pad(c, prefix, body, true);
  return lower === letter ? text : text.toUpperCase();
}

/** The exact value of a finite, non-negative double: `mantissa * 2^exponent`. */
function binary(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n) & 0x7ff;
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

/** `value * 10^power`, rounded to an integer, ties to even, as in the C library (`toFixed` rounds ties up). */
function scaled(value: number, power: number): bigint {
  const { mantissa, exponent } = binary(value);
  let numerator = mantissa;
  let denominator = 1n;
  if (exponent >= 0) numerator <<= BigInt(exponent);
  else denominator <<= BigInt(-exponent);
  if (power >= 0) numerator *= 10n ** BigInt(power);
  else denominator *= 10n ** BigInt(-power);
  return roundedQuotient(numerator, denominator);
}

function roundedQuotient(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  return twice > denominator || (twice === denominator && (quotient & 1n) === 1n) ? quotient + 1n : quotient;
}

function fixed(value: number, precision: number, alternate: boolean): string {
  const digits = scaled(value, precision)
    .toString()
    .padStart(precision + 1, "0");
  const point = digits.length - precision;
  return digits.slice(0, point) + (precision > 0 || alternate ? "." : "") + digits.slice(point);
}

/** The first `precision + 1` significant digits, and the power of ten of the first one. */
function significant(value: number, precision: number): { readonly digits: string; readonly power: number } {
  if (value === 0) return { digits: "0".repeat(precision + 1), power: 0 };
  let power = Math.floor(Math.log10(value));
  for (;;) {
    const digits = scaled(value, precision - power).toString();
    // The logarithm may be off by one, and rounding may carry into another digit.
    if (digits.length === precision + 1) return { digits, power };
    power += digits.length > precision + 1 ? 1 : -1;
  }
}

const exponentOf = (power: number): string => `e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;

function scientific(value: number, precision: number, alternate: boolean): string {
  const { digits, power } = significant(value, precision);
  return digits[0]! + (precision > 0 || alternate ? "." : "") + digits.slice(1) + exponentOf(power);
}

function general(value: number, precision: number, alternate: boolean): string {
  const { power } = significant(value, precision - 1);
  const scientificStyle = power < -4 || power >= precision;
  const text = scientificStyle
    ? scientific(value, precision - 1, alternate)
    : fixed(value, precision - 1 - power, alternate);
  if (alternate || !text.includes(".")) return text;
  return text.replace(/\.?0*(?=e|$)/, "");
}

function hexadecimal(value: number, precision: number, alternate: boolean): string {
  let { mantissa, exponent } = binary(value);
  let power = value === 0 ? 0 : exponent + 52;
  // Like glibc: the digit before the point is 0 for zero and subnormal numbers, else 1.
  let fraction = 13;
  if (precision >= 0 && precision < 13) {
    mantissa = roundedQuotient(mantissa, 1n << BigInt(4 * (13 - precision)));
    fraction = precision;
  }
  if (exponent === -1074 && value !== 0) power = -1022;
  const digits = mantissa.toString(16).padStart(fraction + 1, "0");
  let tail = digits.slice(digits.length - fraction);
  tail = precision < 0 ? tail.replace(/0+$/, "") : tail.padEnd(precision, "0");
  const lead = digits.slice(0, digits.length - fraction) || "0";
  return `${lead}${tail !== "" || alternate ? "." : ""}${tail}p${power < 0 ? "-" : "+"}${Math.abs(power)}`;
}
