import { elementInfo, type ElementType, elementTypes } from "../data/element.ts";
import type { Init } from "./init.ts";
import { type BufferSize, objectKinds, type ObjectSpec, readObject } from "./job-image.ts";
import { readInit } from "./job-init.ts";
import { readName } from "./job-name.ts";
import { readHash } from "./job-value.ts";
import type { JsonField } from "./json-fields.ts";

/** A variable of the program, and what it holds before the first launch. */
export interface SymbolSpec {
  /** The type of its elements; null: as it is declared. */
  readonly type: ElementType | null;
  /** How many elements are set, from the first one on; null: as many as are given, or all. */
  readonly n: number | null;
  /** Null: what the program says. */
  readonly init: Init | null;
  /** The hash of the initial contents, which is checked; or null. */
  readonly sha256: string | null;
  /** The texture, surface or sampler that the variable holds the handle of, in place of the values above. */
  readonly object?: ObjectSpec;
}

/** A copy of bytes between buffers and variables, as `cudaMemcpy` and `cudaMemcpyToSymbol` make. */
export interface CopySpec {
  readonly from: CopyEnd;
  readonly to: CopyEnd;
  /** How many; null: from there to the end of the source. */
  readonly bytes: number | null;
}

/** A place in a buffer or variable, in bytes from its start. */
export interface CopyEnd {
  readonly of: "buffer" | "symbol";
  readonly name: string;
  readonly offset: number;
}

/** The names that a copy or a check may refer to. */
export interface JobNames {
  readonly buffers: ReadonlyMap<string, unknown>;
  readonly symbols: ReadonlyMap<string, unknown>;
}

const maxBytes = 0x7fff_ffff;

export function readSymbol(field: JsonField, buffers: ReadonlyMap<string, BufferSize>): SymbolSpec {
  const object = readObject(field, buffers);
  if (object !== null) {
    field.object(objectKinds);
    return { type: null, n: null, init: null, sha256: null, object };
  }
  field.object(["type", "n", "init", "sha256"]);
  const type = field.get("type").oneOf(elementTypes);
  const n = field.get("n").count(1, Math.floor(maxBytes / elementInfo[type].size));
  const init = field.get("init").present ? readInit(field.get("init"), type, n) : null;
  const sha256 = readHash(field.get("sha256"));
  if (sha256 !== null && init === null) field.get("sha256").fail('is that of "init", which is missing');
  return { type, n, init, sha256 };
}

export function readCopy(field: JsonField, names: JobNames): CopySpec {
  field.object(["from", "to", "bytes"]);
  const bytes = field.get("bytes");
  return {
    from: readEnd(field.get("from"), names),
    to: readEnd(field.get("to"), names),
    bytes: bytes.present ? bytes.count(0, maxBytes) : null,
  };
}

function readEnd(field: JsonField, names: JobNames): CopyEnd {
  field.object(["buf", "symbol", "offset"]);
  const offset = field.get("offset");
  return { ...readTarget(field, names), offset: offset.present ? offset.count(0, maxBytes) : 0 };
}

/** Reads which buffer (`buf`) or variable (`symbol`) an object is about. */
export function readTarget(field: JsonField, { buffers, symbols }: JobNames): Omit<CopyEnd, "offset"> {
  const symbol = field.get("symbol");
  if (!symbol.present) return { of: "buffer", name: readName(field.get("buf"), "buffer", buffers) };
  if (field.get("buf").present) field.fail('has both "buf" and "symbol"');
  return { of: "symbol", name: readName(symbol, "symbol", symbols) };
}
