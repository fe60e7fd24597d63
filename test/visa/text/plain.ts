import type { VisaFile } from "../../../src/visa/tree.ts";

/** What a tree says, without the places in the text: for comparing trees of different texts. */
export const plain = ({ version, routines }: VisaFile): string =>
  JSON.stringify(
    { version, routines },
    (key, value) => {
      if (key === "start" || key === "end") return undefined;
      if (key === "row") return value.text;
      // As it was written; the row and the operands say the same.
      if (key === "mnemonic") return undefined;
      return typeof value === "bigint" ? `0x${value.toString(16)}` : value;
    },
    1,
  );
