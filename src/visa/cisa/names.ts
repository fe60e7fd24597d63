import { isReservedName } from "../predefined.ts";

/** What the text may call a variable or a label. */
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Whether the text may call a variable or an attribute so. */
export const isName = (text: string): boolean => variableName.test(text);

const labelName = /^[A-Za-z_$@?][A-Za-z0-9_$@?-]*$/;

/**
 * Gives names to what has only a number. The string pool keeps the names of the text, for debugging: they may be missing,
 * not be unique, or not be names at all.
 */
export class NameSpace {
  readonly #taken = new Set<string>();
  readonly #form: RegExp;

  constructor(of: "variables" | "labels") {
    this.#form = of === "variables" ? variableName : labelName;
  }

  /** `wanted` where it is free and a name; else one like "V32", of the letter and the number. */
  give(wanted: string, letter: string, number: number): string {
    let name = wanted;
    if (!this.#form.test(name) || isReservedName(name) || this.#taken.has(name)) {
      name = `${letter}${number}`;
      for (let i = 1; this.#taken.has(name); i++) name = `${letter}${number}_${i}`;
    }
    this.#taken.add(name);
    return name;
  }
}
