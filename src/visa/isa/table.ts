import { flowRows } from "./flow.ts";
import type { Row } from "./row.ts";
import { textItems } from "./template.ts";

/** Every instruction of vISA, family by family. */
export const rows: readonly Row[] = [...flowRows];

const group = <K>(keyOf: (row: Row) => K): ReadonlyMap<K, readonly Row[]> => {
  const groups = new Map<K, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const list = groups.get(key);
    if (list === undefined) groups.set(key, [row]);
    else list.push(row);
  }
  return groups;
};

const wordOf = (row: Row): string => {
  const mnemonic = textItems(row).find((item) => item.kind === "mnemonic");
  if (mnemonic?.kind !== "mnemonic") throw new Error(`${row.name} has no mnemonic`);
  return mnemonic.word;
};

/**
 * The rows whose mnemonic begins with this word, without suffixes, as in `lsc_load`. A word may itself have a dot
 * (`add3.o`, `nbarrier.signal`).
 */
export const rowsOfMnemonic: ReadonlyMap<string, readonly Row[]> = group(wordOf);

/** By opcode; several where a sub-opcode (`sub`) chooses. */
export const rowsOfOpcode: ReadonlyMap<number, readonly Row[]> = group((row) => row.opcode);
