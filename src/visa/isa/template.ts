import type { Row } from "./row.ts";

/** One item of an instruction's text form. */
export type TextItem =
  | { readonly kind: "predicate" }
  /** The mnemonic (with any literal suffix) and its suffixes: operands and `{.sat}`. */
  | { readonly kind: "mnemonic"; readonly word: string; readonly suffixes: readonly Suffix[] }
  | { readonly kind: "exec" }
  | { readonly kind: "parenthesised"; readonly operand: string }
  /** `(a,b,...)` */
  | { readonly kind: "tuple"; readonly operands: readonly string[] }
  /** `a/b`: a register and its length. */
  | { readonly kind: "sized"; readonly operand: string; readonly size: string }
  | { readonly kind: "operand"; readonly operand: string; readonly optional: boolean };

/** A suffix of a mnemonic. */
export type Suffix =
  | { readonly kind: "sat" }
  /** `paired`: present if and only if the suffix before it is. */
  | { readonly kind: "operand"; readonly operand: string; readonly optional: boolean; readonly paired: boolean };

/** One field of an instruction in a file, after its opcode. */
export type FileItem =
  | { readonly kind: "exec" }
  | { readonly kind: "pred" }
  /**
   * Execution size and mask in the form of gather and scatter: bits 0-1 are 0 for 8, 1 for 16, 2 for 1; bits 4-7 are
   * the mask.
   */
  | { readonly kind: "exec-elements" }
  /** The raw operand %null. */
  | { readonly kind: "null" }
  | { readonly kind: "constant"; readonly value: number }
  /** One field that is the sum of its parts, whose bits do not overlap. */
  | { readonly kind: "packed"; readonly parts: readonly PackedPart[]; readonly width: FieldWidth }
  | { readonly kind: "zero"; readonly width: FieldWidth }
  /** An operand, or a part of one. `width` null: that of the operand's class. */
  | {
      readonly kind: "operand";
      readonly operand: string;
      readonly part: string | null;
      readonly width: FieldWidth | null;
    };

/** A constant, a number or option operand (0 if absent), or a part of an operand. */
export type PackedPart = number | { readonly operand: string; readonly part: string | null };

const widths = ["u8", "u16", "u32", "i32"] as const;
export type FieldWidth = (typeof widths)[number];

const texts = new Map<string, readonly TextItem[]>();
const files = new Map<string, readonly FileItem[]>();

/** The items of a row's text form. Throws an `Error` for a malformed template, which is a mistake in the table. */
export function textItems({ text }: Row): readonly TextItem[] {
  let items = texts.get(text);
  if (items === undefined) texts.set(text, (items = text.split(" ").map(textItem)));
  return items;
}

/** The mnemonic of a row's text form, with its suffixes. */
export function mnemonicItem(row: Row): Extract<TextItem, { kind: "mnemonic" }> {
  const item = textItems(row).find(({ kind }) => kind === "mnemonic");
  if (item?.kind !== "mnemonic") throw new Error(`${row.name} has no mnemonic`);
  return item;
}

function textItem(word: string, index: number, words: readonly string[]): TextItem {
  if (word === "(P)") return { kind: "predicate" };
  if (word === "E") return { kind: "exec" };
  const operand = /^\(\{(\w+)\}\)$/.exec(word) ?? /^\[(\w+)\]$/.exec(word);
  if (operand) {
    const name = operand[1]!;
    return word.startsWith("(")
      ? { kind: "parenthesised", operand: name }
      : { kind: "operand", operand: name, optional: true };
  }
  const tuple = /^\(\{\w+\}(?:,\{\w+\})+\)$/.test(word);
  if (tuple) return { kind: "tuple", operands: word.match(/\w+/g)! };
  const sized = /^(\w+)\/(\w+)$/.exec(word);
  if (sized) return { kind: "sized", operand: sized[1]!, size: sized[2]! };
  if (index === 0 || (index === 1 && words[0] === "(P)")) return mnemonic(word);
  if (!/^\w+$/.test(word)) throw new Error(`not a template of an instruction: ${words.join(" ")}`);
  return { kind: "operand", operand: word, optional: false };
}

function mnemonic(word: string): TextItem {
  const end = /[{]|\.\{/.exec(word)?.index ?? word.length;
  const suffixes = [...word.slice(end).matchAll(/\{((?:\.\w+)+)\}|\.\{(\w+)\}/g)].flatMap(
    ([, group, name]): Suffix[] => {
      if (group === ".sat") return [{ kind: "sat" }];
      if (group === undefined) return [{ kind: "operand", operand: name!, optional: false, paired: false }];
      const names = group.slice(1).split(".");
      return names.map((operand, i) => ({ kind: "operand", operand, optional: true, paired: i > 0 }));
    },
  );
  return { kind: "mnemonic", word: word.slice(0, end), suffixes };
}

/** The fields of a row's binary form; null if it is not known. */
export function fileItems({ file }: Row): readonly FileItem[] | null {
  if (file === null) return null;
  let items = files.get(file);
  if (items === undefined) files.set(file, (items = file === "" ? [] : file.split(" ").map(fileItem)));
  return items;
}

function fileItem(word: string): FileItem {
  if (word === "exec" || word === "pred") return { kind: word };
  if (word === "execElements") return { kind: "exec-elements" };
  if (word === "null") return { kind: "null" };
  if (word.includes("+")) return packed(word);
  if (word.startsWith("#")) return { kind: "constant", value: Number(word.slice(1)) };
  const [path, bits] = widthOf(word);
  if (path === "zero") return { kind: "zero", width: bits ?? "u8" };
  return { kind: "operand", ...partOf(path), width: bits };
}

function packed(word: string): FileItem {
  const [path, width] = widthOf(word);
  const parts = path.split("+").map((part) => (part.startsWith("#") ? Number(part.slice(1)) : partOf(part)));
  return { kind: "packed", parts, width: width ?? "u8" };
}

function partOf(path: string): { readonly operand: string; readonly part: string | null } {
  const [operand, part] = path.split(".");
  return { operand: operand!, part: part ?? null };
}

function widthOf(word: string): [string, FieldWidth | null] {
  const [path, width] = word.split(":");
  if (width !== undefined && !(widths as readonly string[]).includes(width)) throw new Error(`no such width: ${word}`);
  return [path!, (width as FieldWidth | undefined) ?? null];
}
