/** The type of a WebAssembly value. */
export type WasmTy = "i32" | "i64" | "f32" | "f64" | "v128";

/** An instruction: its bytes (an opcode, or a prefix and an opcode), its operands and its result. */
export interface Operation<R extends WasmTy | null> {
  readonly prefix: number | null;
  readonly code: number;
  readonly params: readonly WasmTy[];
  readonly result: R;
}

const letters: Readonly<Record<string, WasmTy>> = { i: "i32", l: "i64", f: "f32", d: "f64", v: "v128" };

/** Splits a code as the tables write it: the opcode, preceded by the prefix if there is one. */
function encodingOf(code: number): { readonly prefix: number | null; readonly code: number } {
  if (code <= 0xff) return { prefix: null, code };
  return code > 0xffff ? { prefix: code >>> 16, code: code & 0xffff } : { prefix: code >>> 8, code: code & 0xff };
}

const typesOf = (text: string): WasmTy[] => [...text].map((letter) => letters[letter]!);

/** A row for an instruction with a result. The signature "vi>v" means: takes a v128 and an i32, returns a v128. */
export function op(code: number, signature: string): Operation<WasmTy> {
  const [params, result] = signature.split(">");
  return { ...encodingOf(code), params: typesOf(params!), result: letters[result!]! };
}

/** The same for an instruction that may have no result, as in "ii>". */
export function access(code: number, signature: string): Operation<WasmTy | null> {
  const [params, result] = signature.split(">");
  return { ...encodingOf(code), params: typesOf(params!), result: letters[result!] ?? null };
}
