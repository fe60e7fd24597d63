import { elementInfo, type ElementType, misfit } from "../data/element.ts";
import type { JsonField } from "./json-fields.ts";

const hashPattern = /^[0-9a-f]{64}$/;

export function readHash(field: JsonField): string | null {
  if (!field.present) return null;
  const hash = field.string().toLowerCase();
  if (!hashPattern.test(hash)) field.fail("a SHA-256 has 64 hexadecimal digits");
  return hash;
}

export function readElement(field: JsonField, type: ElementType): number | bigint {
  if (elementInfo[type].kind === "float") return field.number();
  const value = field.integer();
  const problem = misfit(type, value);
  if (problem !== null) field.fail(problem);
  return value;
}

export function readHex(field: JsonField): Uint8Array {
  const text = field.string();
  if (!/^([0-9a-fA-F]{2})*$/.test(text)) field.fail("expected pairs of hexadecimal digits");
  return Uint8Array.from({ length: text.length >> 1 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
