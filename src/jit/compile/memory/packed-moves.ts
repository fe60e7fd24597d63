import type { Access } from "../../../ir/index.ts";
import { type FunctionWriter, wasm } from "../../../wasm/index.ts";
import { partOfWords, wordsOfParts } from "../lanes/word-parts.ts";

/** An element of all lanes: a local for each quad. */
type Element = readonly number[];

/** The access that moves a record of two or four elements of 8 or 16 bits at once; null if it is none. */
export function packedAccess(access: Access): Access | null {
  const { bits, count } = access;
  if (bits >= 32 || (count !== 2 && count !== 4)) return null;
  const whole = bits * count;
  return { ...access, bits: whole === 16 ? 16 : 32, signed: false, count: whole === 64 ? 2 : 1 };
}

/** Loads such records. `load` loads what they are packed in. */
export function loadPacked(
  writer: FunctionWriter,
  access: Access,
  packed: Access,
  into: readonly Element[],
  load: (words: readonly Element[]) => void,
): void {
  const words = Array.from({ length: packed.count }, () => into[0]!.map(() => writer.local("v128")));
  load(words);
  into.forEach((element, e) => {
    const at = (e * access.bits) / 8;
    const values = words[at >> 2]!.map((local) => partOfWords(access, at & 3, wasm.local("v128", local)));
    writer.assign(element.map((local, q) => ({ local, value: values[q]! })));
  });
  for (const local of words.flat()) writer.release(local);
}

/** Stores such records. `store` stores what they are packed in. */
export function storePacked(
  writer: FunctionWriter,
  { bits, count }: Access,
  packed: Access,
  elements: readonly Element[],
  store: (words: readonly Element[]) => void,
): void {
  const each = count / packed.count;
  const words = Array.from({ length: packed.count }, (_, word) =>
    elements[0]!.map((_, q) => {
      const parts = elements.slice(word * each, (word + 1) * each).map((element) => wasm.local("v128", element[q]!));
      const local = writer.local("v128");
      writer.assign([{ local, value: wordsOfParts(parts, bits as 8 | 16) }]);
      return local;
    }),
  );
  store(words);
  for (const local of words.flat()) writer.release(local);
}
