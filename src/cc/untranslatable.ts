/** Thrown where a module has no translation. The message says why. */
export class Untranslatable extends Error {
  override readonly name = "Untranslatable";
}
