import { isElementType } from "../runtime/element.ts";
import { UsageError } from "../runtime/errors.ts";
import type { KernelInput } from "../runtime/visa/handwritten-payload.ts";

/** `NAME=FILE` of `--section`. */
export function parseSection(text: string): [name: string, path: string] {
  const [, name, path] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || path === undefined) {
    throw new UsageError(`--section ${text}: expected NAME=FILE, as in .data.const=table.bin`);
  }
  return [name, path];
}

/** `NAME=SECTION[+OFFSET]` of `--symbol`. */
export function parseSymbol(text: string): [name: string, place: { section: string; offset: number }] {
  const [, name, section, offset = "0"] = /^([^=]+)=([^+]+)(?:\+(\d{1,10}|0x[0-9a-f]{1,8}))?$/i.exec(text) ?? [];
  if (name === undefined || section === undefined) {
    throw new UsageError(`--symbol ${text}: expected NAME=SECTION+OFFSET, as in table=.data.const+64`);
  }
  return [name, { section, offset: Number(offset) }];
}

/** `NAME=arg[:TYPE]`, `NAME=lane-id[:TYPE]` or `NAME=stack:BYTES` of `--input`. */
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
