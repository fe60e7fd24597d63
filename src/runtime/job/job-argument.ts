import { tensorMapBytes } from "../../ir/index.ts";
import { Elements, type ElementType, elementTypes } from "../data/element.ts";
import { type BufferSize, type ObjectSpec, readObject } from "./job-image.ts";
import { readTensorMap } from "./job-tensor-map.ts";
import { readName } from "./job-name.ts";
import { readElement, readHex } from "./job-value.ts";
import type { JsonField } from "./json-fields.ts";
import type { PointerPatch } from "./pointer-patch.ts";

/** An argument of a launch, as a job gives it. */
export type ArgumentSpec =
  | { readonly kind: "buffer"; readonly buffer: string; readonly offset: number }
  /** `type` is null for the type of the parameter. */
  | { readonly kind: "scalar"; readonly type: ElementType | null; readonly value: number | bigint }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly pointers: readonly PointerPatch[] }
  | ({ readonly kind: "object" } & ObjectSpec)
  /** Local memory (vISA). */
  | { readonly kind: "local"; readonly bytes: number };

const maxLocal = 0x0400_0000;

const readOffset = (field: JsonField): number => (field.present ? Number(field.integer()) : 0);

export function readArgument(field: JsonField, buffers: ReadonlyMap<string, BufferSize>): ArgumentSpec {
  if (field.get("buf").present) {
    return {
      kind: "buffer",
      buffer: readName(field.get("buf"), "buffer", buffers),
      offset: readOffset(field.get("offset")),
    };
  }
  if (field.get("bytes").present) {
    return { kind: "bytes", ...readStruct(field, buffers) };
  }
  if (field.get("tensormap").present) return { kind: "bytes", ...readTensorMap(field.get("tensormap"), buffers) };
  const object = readObject(field, buffers);
  if (object !== null) return { kind: "object", ...object };
  if (field.get("local").present) return { kind: "local", bytes: field.get("local").count(1, maxLocal) };
  const type = elementTypes.find((name) => field.get(name).present);
  if (type) return { kind: "scalar", type, value: readElement(field.get(type), type) };
  const vector = elementTypes.find((name) => field.get(`${name}v`).present);
  if (vector) return readVector(field.get(`${vector}v`), vector);
  field.fail("is not an argument", 'as in {"buf": "x"}, {"s32": 4} or {"bytes": "0a0b"}');
  return { kind: "scalar", type: null, value: 0 };
}

type Struct = Omit<Extract<ArgumentSpec, { kind: "bytes" }>, "kind">;

/** Reads a struct passed by value: its bytes, with addresses and tensor maps put into them. */
function readStruct(field: JsonField, buffers: ReadonlyMap<string, unknown>): Struct {
  const bytes = readHex(field.get("bytes"));
  const place = (at: JsonField, size: number): number => at.count(0, Math.max(0, bytes.length - size));
  const list = (name: string): readonly JsonField[] => (field.get(name).present ? field.get(name).items() : []);
  const pointers = list("ptrs").map((pointer) => ({
    at: place(pointer.object(["at", "buf", "offset"]).get("at"), 8),
    buffer: readName(pointer.get("buf"), "buffer", buffers),
    offset: readOffset(pointer.get("offset")),
  }));
  const maps = list("tensormaps").flatMap((map) => {
    const at = place(map.object(["at", "tensormap"]).get("at"), tensorMapBytes);
    const read = readTensorMap(map.get("tensormap"), buffers);
    bytes.set(read.bytes.subarray(0, bytes.length - at), at);
    return read.pointers.map((pointer) => ({ ...pointer, at: at + pointer.at }));
  });
  return { bytes, pointers: [...pointers, ...maps] };
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
