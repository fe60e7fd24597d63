import { sha256 } from "../data/sha256.ts";
import type { SourceFile } from "../data/source-file.ts";
import type { LoadOptions } from "./load-options.ts";

const utf8 = new TextEncoder();

/**
 * Returns a hash that identifies the code of a program: its files, regardless of their names, and the options that
 * affect compilation. Among these are vISA's `zeinfo` and `inputs`, which say where values are in a payload; `kernels`
 * and `module` have chosen the files.
 */
export function programKey(files: readonly SourceFile[], { kernels, module, ...options }: LoadOptions): string {
  const said = utf8.encode(JSON.stringify(options, plain));
  const pieces = [said, ...files.map((file) => file.bytes ?? utf8.encode(file.text))];
  const sizes = utf8.encode(pieces.map((piece) => piece.length).join());
  const all = new Uint8Array([sizes, ...pieces].reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of [sizes, ...pieces]) {
    all.set(piece, at);
    at += piece.length;
  }
  return sha256(all);
}

/** Converts values that JSON cannot represent. */
function plain(_: string, value: unknown): unknown {
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
  if (value instanceof Uint8Array) return sha256(value);
  return typeof value === "bigint" ? `${value}` : value;
}
