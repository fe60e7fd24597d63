import { isReservedName } from "../predefined.ts";

/** A variable's or attribute's name in text. */
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Whether text can have this name for a variable or an attribute. */
export const isName = (text: string): boolean => variableName.test(text);

/** A label's name in text. */
const labelName = /^[A-Za-z_$@?][A-Za-z0-9_$@?-]*$/;

/**
 * Names for variables or labels, which files identify only by number. The string pool keeps the names of the original
 * text for debugging, but they may be missing, repeated or invalid.
 */
export class NameSpace {
  readonly #taken = new Set<string>();
  readonly #form: RegExp;

  constructor(of: "variables" | "labels") {
    this.#form = of === "variables" ? variableName : labelName;
  }

  /**
   * Returns `wanted` if it is valid and not yet taken, otherwise a name such as "V32", made of the letter and the
   * number.
   */
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
