import { Elements, isElementType, misfit } from "../../runtime/data/element.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { isNumpy } from "../../runtime/data/npy.ts";
import type { SymbolSpec } from "../../runtime/job/job-symbol.ts";
import { parseArgument } from "./argument-syntax.ts";
import { parseNumber } from "./argument-values.ts";

/**
 * Parses the `NAME=VALUE` of PTX's `--symbol`: numbers of the declared type (`n=42`, `coeff=1,2,3`), numbers of another
 * type (`coeff=f32:1,2,3`), or what a buffer argument may be (`@x.npy`, `f32[4]=iota`). `read` returns the contents of
 * a file.
 *
 * @throws UsageError if it has none of these forms
 */
export function parseSymbolValue(text: string, read: (path: string) => Uint8Array): [name: string, spec: SymbolSpec] {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new UsageError(`--symbol ${text}: expected NAME=VALUE, as in coeff=1,2,3 or coeff=@x.npy`);
  }
  return [name, specOf(value, `--symbol ${text}`, read)];
}

function specOf(text: string, option: string, read: (path: string) => Uint8Array): SymbolSpec {
  const rest = { init: null, sha256: null };
  const [, type = "", list] = /^(?:(\w+):)?([^@:[\]]+)$/.exec(text) ?? [];
  if (list !== undefined && (type === "" || isElementType(type))) {
    const values = list.split(",").map((part) => {
      const number = parseNumber(part.trim());
      const problem = number === null ? `"${part}" is not a number` : type === "" ? null : misfit(type, number);
      if (problem !== null) throw new UsageError(`${option}: ${problem}`);
      return number!;
    });
    return { ...rest, type: type === "" ? null : type, n: values.length, init: { gen: "list", values } };
  }
  if (text.startsWith("@")) {
    const bytes = read(text.slice(1));
    // Raw bytes need no type here: the variable has one.
    if (!isNumpy(bytes)) return { ...rest, type: "u8", n: bytes.length, init: { gen: "bytes", data: bytes } };
  }
  const argument = parseArgument(text, read, option);
  if (argument.kind === "buffer") return argument.spec;
  const isStruct = argument.kind === "struct" && argument.spec.pointers.length === 0;
  if (isStruct || argument.kind === "vector") {
    const { bytes } = argument.spec;
    return { ...rest, type: "u8", n: new Elements("u8", bytes).length, init: { gen: "bytes", data: bytes } };
  }
  throw new UsageError(`${option}: a variable holds numbers or a struct of numbers`);
}
