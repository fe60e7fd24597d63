import { isElementType } from "../../runtime/data/element.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import type { KernelInput } from "../../runtime/visa/handwritten-payload.ts";
import type { DataPlace, DataRelocation } from "../../visa/lower/symbols.ts";

/** Parses the `NAME=FILE` of `--section`. */
export function parseSection(text: string): [name: string, path: string] {
  const [, name, path] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || path === undefined) {
    throw new UsageError(`--section ${text}: expected NAME=FILE, as in .data.const=table.bin`);
  }
  return [name, path];
}

/** Parses `SECTION[+OFFSET]`. */
function parsePlace(text: string): DataPlace | null {
  const [, section, offset = "0"] = /^([^+]+)(?:\+(\d{1,10}|0x[0-9a-f]{1,8}))?$/i.exec(text) ?? [];
  return section === undefined ? null : { section, offset: Number(offset) };
}

/** Parses the `NAME=SECTION[+OFFSET]` of `--symbol`. */
export function parseSymbol(text: string): [name: string, place: DataPlace] {
  const [, name, where = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const place = parsePlace(where);
  if (name === undefined || place === null) {
    throw new UsageError(`--symbol ${text}: expected NAME=SECTION+OFFSET, as in table=.data.const+64`);
  }
  return [name, place];
}

/** Parses the `SECTION[+OFFSET]=NAME` of `--relocation`. */
export function parseRelocation(text: string): DataRelocation {
  const [, where = "", symbol] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const place = parsePlace(where);
  if (symbol === undefined || place === null) {
    throw new UsageError(`--relocation ${text}: expected SECTION+OFFSET=NAME, as in .data.const+8=f`);
  }
  return { ...place, symbol, bytes: 8 };
}

/** Parses the `NAME=arg[:TYPE]`, `NAME=lane-id[:TYPE]` or `NAME=stack:BYTES` of `--input`. */
export function parseInput(text: string): KernelInput {
  const [, name, kind, detail] = /^([^=]+)=(arg|lane-id|stack)(?::(\w+))?$/.exec(text) ?? [];
  if (name !== undefined && kind === "stack" && /^\d{1,8}$/.test(detail ?? "")) {
    return { name, kind, bytesPerThread: Number(detail) };
  }
  if (name !== undefined && (kind === "arg" || kind === "lane-id")) {
    const type = detail ?? (kind === "arg" ? "u64" : "u32");
    if (isElementType(type)) return { name, kind, type };
  }
  throw new UsageError(`--input ${text}: expected NAME=arg, NAME=arg:TYPE, NAME=lane-id or NAME=stack:BYTES`);
}
