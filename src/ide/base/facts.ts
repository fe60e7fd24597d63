import type { RegisterFact } from "../../ir/uniformity/register-facts.ts";

/** The words of a language for what lanes have in common. */
export interface FactWords {
  /** Lanes that run together: "a warp", "the thread". */
  readonly together: string;
  /** What threads are numbered in, row by row: "the block", "the work-group". */
  readonly numbered: string;
  /** A constant as the language writes it. */
  readonly constant: (bits: bigint) => string;
}

/** Says in a sentence how a register varies over lanes; null if nothing is known. */
export function factText(fact: RegisterFact, isPredicate: boolean, words: FactWords): string | null {
  switch (fact.kind) {
    case "constant":
      return `Always ${isPredicate ? `\`${fact.bits === 1n}\`` : words.constant(fact.bits)}.`;
    case "uniform": {
      const where = fact.inRow ? ` that are in one row of ${words.numbered}` : "";
      const so = isPredicate ? ": branches on it do not diverge" : "";
      return `The same in all lanes of ${words.together}${where}${so}.`;
    }
    case "stride": {
      const by = `${fact.stride < 0 ? "Falls" : "Grows"} by ${Math.abs(fact.stride)} from lane to lane of a row`;
      return fact.wraps ? `${by}, as long as its 32-bit index does not wrap around.` : `${by}.`;
    }
    case "varies":
      return null;
  }
}

/** An integer of some bits, and what it is with a sign, if that differs. */
export function integerText(bits: bigint, width: number, isSigned: boolean): string {
  const signed = BigInt.asIntN(width, bits);
  if (isSigned || signed === bits) return `\`${signed}\``;
  return `\`${bits}\` (\`${signed}\` if it is signed)`;
}
