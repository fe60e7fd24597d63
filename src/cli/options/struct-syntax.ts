import { elementInfo, isElementType } from "../../runtime/data/element.ts";
import type { BufferSpec } from "../../runtime/job/job.ts";
import { hexBytes, listBytes, parseBuffer, parseNumber, parseType, type Wrong } from "./argument-values.ts";

/** A struct passed by value, laid out as C does it. */
export interface StructLayout {
  readonly bytes: Uint8Array;
  /** The buffers whose addresses it holds, and the bytes at which it holds them. */
  readonly pointers: readonly { readonly at: number; readonly spec: BufferSpec }[];
}

interface Member extends StructLayout {
  readonly align: number;
}

const pointerSize = 8;

/** How deep structs may lie within each other. */
const maxDepth = 32;

/** Parses `{f32:1, u64:2}`. */
export const parseStruct = (text: string, wrong: Wrong): StructLayout => structMember(text, wrong, 0);

function structMember(text: string, wrong: Wrong, depth: number): Member {
  if (depth > maxDepth) wrong(`structs lie within each other more than ${maxDepth} deep`);
  const inner = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? wrong("a struct ends with }");
  const members = fields(inner, wrong).map((field) => member(field, wrong, depth));
  if (members.length === 0) wrong("a struct has members, as in {f32:1, u64:2}");
  const align = Math.max(...members.map((m) => m.align));
  const pointers: { at: number; spec: BufferSpec }[] = [];
  const placed: { at: number; bytes: Uint8Array }[] = [];
  let at = 0;
  for (const m of members) {
    at = roundUp(at, m.align);
    for (const p of m.pointers) pointers.push({ at: at + p.at, spec: p.spec });
    placed.push({ at, bytes: m.bytes });
    at += m.bytes.length;
  }
  const bytes = new Uint8Array(roundUp(at, align));
  for (const part of placed) bytes.set(part.bytes, part.at);
  return { bytes, pointers, align };
}

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

/** Splits at the commas of this level. Numbers after a comma belong to the list before it. */
function fields(text: string, wrong: Wrong): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  const take = (to: number): void => {
    const part = text.slice(from, to).trim();
    from = to + 1;
    if (part === "") wrong("a member is missing before a comma");
    if (parts.length > 0 && parseNumber(part) !== null) parts.push(`${parts.pop()},${part}`);
    else parts.push(part);
  };
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}") depth--;
    else if (text[i] === "," && depth === 0) take(i);
    if (depth < 0) wrong("there is a } too many");
  }
  if (depth > 0) wrong("a } is missing");
  if (text.slice(from).trim() !== "") take(text.length);
  return parts;
}

function member(text: string, wrong: Wrong, depth: number): Member {
  if (text.startsWith("{")) return structMember(text, wrong, depth + 1);
  const [, name, value] = /^(\w+):(.+)$/s.exec(text) ?? [];
  if (name === "bytes") return { bytes: hexBytes(value!, wrong), pointers: [], align: 1 };
  if (name !== undefined) {
    // `f32v:1,2,3,4` is a float4, `f32:1,2,3,4` an array of floats.
    const vector = name.endsWith("v") && isElementType(name.slice(0, -1));
    const type = parseType(vector ? name.slice(0, -1) : name, wrong);
    const { size } = elementInfo[type];
    const bytes = listBytes(type, value!, wrong);
    const whole = bytes.length / size === 2 || bytes.length / size === 4;
    return { bytes, pointers: [], align: vector && whole ? Math.min(16, bytes.length) : size };
  }
  const spec = parseBuffer(text, wrong);
  if (spec !== null) return { bytes: new Uint8Array(pointerSize), pointers: [{ at: 0, spec }], align: pointerSize };
  return wrong(`"${text}" is no member of a struct; a number has a type there, as in f32:1 or u64:2`);
}
