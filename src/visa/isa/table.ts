import { atomicRows } from "./atomic.ts";
import { gatherRows } from "./gather.ts";
import { lscRows } from "./lsc.ts";
import { mediaRows } from "./media.ts";
import { miscRows } from "./misc.ts";
import { owordRows } from "./oword.ts";
import { renderRows } from "./render.ts";
import { samplerMediaRows } from "./sampler-media.ts";
import { samplerRows } from "./sampler.ts";
import { sendRows } from "./send.ts";
import { svmRows } from "./svm.ts";
import { syncRows } from "./sync.ts";
import { typedRows } from "./typed.ts";
import { vmeRows } from "./vme.ts";
import { addressRows } from "./address.ts";
import { arithmeticRows } from "./arithmetic.ts";
import { compareRows } from "./compare.ts";
import { flowRows } from "./flow.ts";
import { logicRows } from "./logic.ts";
import { mathRows } from "./math.ts";
import { moveRows } from "./move.ts";
import type { Row } from "./row.ts";
import { systolicRows } from "./systolic.ts";
import { mnemonicItem } from "./template.ts";

/** Every instruction of vISA, family by family. */
export const rows: readonly Row[] = [
  ...flowRows,
  ...arithmeticRows,
  ...mathRows,
  ...logicRows,
  ...moveRows,
  ...compareRows,
  ...addressRows,
  ...systolicRows,
  ...svmRows,
  ...gatherRows,
  ...owordRows,
  ...atomicRows,
  ...lscRows,
  ...syncRows,
  ...typedRows,
  ...samplerRows,
  ...samplerMediaRows,
  ...mediaRows,
  ...vmeRows,
  ...sendRows,
  ...renderRows,
  ...miscRows,
];

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

let byMnemonic: ReadonlyMap<string, readonly Row[]> | null = null;
let byOpcode: ReadonlyMap<number, readonly Row[]> | null = null;

/**
 * All rows by their mnemonics without suffixes. Made when it is first asked for: a program that imports the library
 * for PTX alone does not wait for it.
 */
export const rowsByMnemonic = (): ReadonlyMap<string, readonly Row[]> =>
  (byMnemonic ??= group((row) => mnemonicItem(row).word));

/**
 * The rows of a mnemonic without its suffixes, such as `lsc_load`, in the order in which the parser tries them; none if
 * no instruction is called this. A mnemonic may itself have a dot (`add3.o`, `nbarrier.signal`).
 */
export const rowsOfMnemonic = (word: string): readonly Row[] => rowsByMnemonic().get(word) ?? [];

/** Whether an instruction is called this. */
export const isMnemonic = (word: string): boolean => rowsByMnemonic().has(word);

/** The rows of an opcode; there are several if a sub-opcode, constants or packed fields tell them apart. */
export const rowsOfOpcode = (opcode: number): readonly Row[] =>
  (byOpcode ??= group((row) => row.opcode)).get(opcode) ?? [];
