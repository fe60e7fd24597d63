/** A number in an expression. An integer is a number if it is safe, else a bigint. */
export type Value = number | bigint;

/** Returns an integer in the form that is faster to compute with. */
export const whole = (value: Value): Value =>
  typeof value === "bigint" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : value;

const isExact = (value: Value): value is number => typeof value === "number" && Number.isSafeInteger(value);

/** Computes on integers of any size, with doubles if those are exact. */
const exactly =
  (inDoubles: (a: number, b: number) => number, inIntegers: (a: bigint, b: bigint) => bigint) =>
  (a: Value, b: Value): Value => {
    if (isExact(a) && isExact(b)) {
      const value = inDoubles(a, b);
      if (isExact(value)) return value;
    }
    return inIntegers(BigInt(a), BigInt(b));
  };

const inIntegers =
  (compute: (a: bigint, b: bigint) => bigint) =>
  (a: Value, b: Value): Value =>
    compute(BigInt(a), BigInt(b));

/** Computes bitwise, with 32-bit operations if both operands fit; the result then fits too. */
const inBits = (inWords: (a: number, b: number) => number, compute: (a: bigint, b: bigint) => bigint) => {
  const large = inIntegers(compute);
  return (a: Value, b: Value): Value =>
    typeof a === "number" && typeof b === "number" && (a | 0) === a && (b | 0) === b ? inWords(a, b) : large(a, b);
};

const maxShift = 128n;

/** Operators on integers. The divisor is not 0. */
export const arithmetic = {
  "+": exactly(
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  "-": exactly(
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  "*": exactly(
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  "/": exactly(
    (a, b) => Math.trunc(a / b),
    (a, b) => a / b,
  ),
  "%": exactly(
    (a, b) => a % b,
    (a, b) => a % b,
  ),
  "&": inBits(
    (a, b) => a & b,
    (a, b) => a & b,
  ),
  "|": inBits(
    (a, b) => a | b,
    (a, b) => a | b,
  ),
  "^": inBits(
    (a, b) => a ^ b,
    (a, b) => a ^ b,
  ),
  "<<": inIntegers((a, b) => (b < 0n || b > maxShift ? 0n : a << b)),
  ">>": inIntegers((a, b) => a >> (b < 0n || b > maxShift ? maxShift : b)),
};

/** Comparisons of numbers and bigints by value. */
export const comparisons = {
  // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint are never identical
  "==": (a: Value, b: Value) => a == b,
  // biome-ignore lint/suspicious/noDoubleEquals: as above
  "!=": (a: Value, b: Value) => a != b,
  "<": (a: Value, b: Value) => a < b,
  "<=": (a: Value, b: Value) => a <= b,
  ">": (a: Value, b: Value) => a > b,
  ">=": (a: Value, b: Value) => a >= b,
};
