import { Elements, type ElementType, elementTypes } from "../data/element.ts";
import { readName } from "./job-symbol.ts";
import { readElement, readHex } from "./job-value.ts";
import type { JsonField } from "./json-fields.ts";

/** An argument of a launch, as a job gives it. */
export type ArgumentSpec =
  | { readonly kind: "buffer"; readonly buffer: string; readonly offset: number }
  /** `type` is null for the type of the parameter. */
  | { readonly kind: "scalar"; readonly type: ElementType | null; readonly value: number | bigint }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly pointers: readonly PointerPatch[] }
  /** Local memory (vISA). */
  | { readonly kind: "local"; readonly bytes: number };

/** The address of a buffer within a struct that is passed by value. */
export interface PointerPatch {
  readonly at: number;
  readonly buffer: string;
  readonly offset: number;
}

const maxLocal = 0x0400_0000;

const readOffset = (field: JsonField): number => (field.present ? Number(field.integer()) : 0);

export function readArgument(field: JsonField, buffers: ReadonlyMap<string, unknown>): ArgumentSpec {
  if (field.get("buf").present) {
    return {
      kind: "buffer",
      buffer: readName(field.get("buf"), "buffer", buffers),
      offset: readOffset(field.get("offset")),
    };
  }
  if (field.get("bytes").present) {
    const bytes = readHex(field.get("bytes"));
    const pointers = field.get("ptrs").present ? field.get("ptrs").items() : [];
    return {
      kind: "bytes",
      bytes,
      pointers: pointers.map((pointer) => ({
        at: pointer
          .object(["at", "buf", "offset"])
          .get("at")
          .count(0, Math.max(0, bytes.length - 8)),
        buffer: readName(pointer.get("buf"), "buffer", buffers),
        offset: readOffset(pointer.get("offset")),
      })),
    };
  }
  if (field.get("local").present) return { kind: "local", bytes: field.get("local").count(1, maxLocal) };
  const type = elementTypes.find((name) => field.get(name).present);
  if (type) return { kind: "scalar", type, value: readElement(field.get(type), type) };
  const vector = elementTypes.find((name) => field.get(`${name}v`).present);
  if (vector) return readVector(field.get(`${vector}v`), vector);
  field.fail("is not an argument", 'as in {"buf": "x"}, {"s32": 4} or {"bytes": "0a0b"}');
  return { kind: "scalar", type: null, value: 0 };
}

/** Reads a vector passed by value, as in `{"f32v": [1, 2, 3, 4]}`. */
function readVector(field: JsonField, type: ElementType): ArgumentSpec {
  const values = field.items();
  const elements = Elements.zeros(type, values.length);
  values.forEach((value, i) => {
    elements.set(i, readElement(value, type));
  });
  return { kind: "bytes", bytes: elements.bytes, pointers: [] };
}
