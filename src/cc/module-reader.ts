import type { WasmTy } from "../wasm/operation.ts";
import { ByteReader } from "./byte-reader.ts";

/** The parameters and results of a function. */
export interface Signature {
  readonly params: readonly WasmTy[];
  readonly results: readonly WasmTy[];
}

/** A function of a module: its locals without the parameters, and its instructions. */
export interface ReadFunction {
  readonly type: Signature;
  readonly locals: readonly WasmTy[];
  /** The bytes from the first instruction to the final `end`. */
  readonly code: Uint8Array;
  /** Likely outcomes of branches, by their offset in `code`. */
  readonly hints: ReadonlyMap<number, boolean>;
}

/** What the translator needs of a module. Functions are numbered as in the module: imports come first. */
export interface ReadModule {
  readonly types: readonly Signature[];
  readonly imports: readonly { readonly name: string; readonly type: Signature }[];
  readonly functions: readonly ReadFunction[];
  /** The initial values of the globals, all of them 32-bit integers. */
  readonly globals: readonly number[];
  /** Indices of functions; null where the table has none. */
  readonly table: readonly (number | null)[];
  readonly exports: readonly { readonly name: string; readonly index: number }[];
}

const types: Readonly<Record<number, WasmTy>> = { 127: "i32", 126: "i64", 125: "f32", 124: "f64", 123: "v128" };

/** The type of a byte of the binary format; undefined if it is none that modules of this project have. */
export const typeOfByte = (byte: number): WasmTy | undefined => types[byte];

const valueType = (from: ByteReader): WasmTy => typeOfByte(from.byte())!;

/** The parts of a module while it is read. */
interface Parts {
  types: Signature[];
  imports: { readonly name: string; readonly type: Signature }[];
  functionTypes: Signature[];
  globals: number[];
  table: (number | null)[];
  exports: { readonly name: string; readonly index: number }[];
  hints: Map<number, Map<number, boolean>>;
  functions: ReadFunction[];
}

const readers: Readonly<Record<number, (from: ByteReader, parts: Parts) => void>> = {
  0: readCustom,
  1: (from, parts) => {
    parts.types = from.list(() => {
      from.byte();
      return { params: from.list(valueType), results: from.list(valueType) };
    });
  },
  2: readImports,
  3: (from, parts) => {
    parts.functionTypes = from.list(() => parts.types[from.unsigned()]!);
  },
  4: (from, parts) => {
    from.list(() => {
      from.byte();
      const limits = from.byte();
      parts.table = new Array<null>(from.unsigned()).fill(null);
      if (limits !== 0) from.unsigned();
    });
  },
  6: (from, parts) => {
    parts.globals = from.list(() => {
      from.skip(2);
      return constantExpression(from);
    });
  },
  7: (from, parts) => {
    parts.exports = from.list(() => {
      const name = from.text();
      from.byte();
      return { name, index: from.unsigned() };
    });
  },
  9: (from, parts) => {
    from.list(() => {
      from.unsigned();
      const at = constantExpression(from);
      from
        .list(() => from.unsigned())
        .forEach((index, i) => {
          parts.table[at + i] = index;
        });
    });
  },
  10: readCode,
};

/** Reads a module that `ModuleWriter` has written: of other modules it knows too little. */
export function readModule(bytes: Uint8Array): ReadModule {
  const from = new ByteReader(bytes, 8, bytes.length);
  const parts: Parts = {
    types: [],
    imports: [],
    functionTypes: [],
    globals: [],
    table: [],
    exports: [],
    hints: new Map(),
    functions: [],
  };
  while (!from.atEnd) {
    const id = from.byte();
    const section = from.part(from.unsigned());
    readers[id]?.(section, parts);
  }
  return parts;
}

function constantExpression(from: ByteReader): number {
  from.byte();
  const value = from.signed32();
  from.byte();
  return value;
}

function readImports(from: ByteReader, parts: Parts): void {
  from.list(() => {
    from.text();
    const name = from.text();
    if (from.byte() === 0) {
      parts.imports.push({ name, type: parts.types[from.unsigned()]! });
      return;
    }
    const limits = from.byte();
    from.unsigned();
    if ((limits & 1) !== 0) from.unsigned();
  });
}

function readCustom(from: ByteReader, parts: Parts): void {
  if (from.text() !== "metadata.code.branch_hint") return;
  from.list(() => {
    const hints = new Map<number, boolean>();
    parts.hints.set(from.unsigned(), hints);
    from.list(() => {
      const offset = from.unsigned();
      from.byte();
      hints.set(offset, from.byte() === 1);
    });
  });
}

function readCode(from: ByteReader, parts: Parts): void {
  const bodies = from.list(() => from.part(from.unsigned()));
  parts.functions = bodies.map((body, i) => {
    const start = body.position;
    const locals: WasmTy[] = [];
    body.list(() => {
      const count = body.unsigned();
      const ty = valueType(body);
      for (let n = 0; n < count; n++) locals.push(ty);
    });
    const head = body.position - start;
    const hints = [...(parts.hints.get(parts.imports.length + i) ?? [])].map(
      ([at, likely]) => [at - head, likely] as const,
    );
    return { type: parts.functionTypes[i]!, locals, code: body.rest(), hints: new Map(hints) };
  });
}
