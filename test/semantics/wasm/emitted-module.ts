import { type Emission, type Prim, type PrimName, primOf, type Ty, type Value } from "../../../src/semantics/index.ts";
import {
  type Features,
  type FunctionWriter,
  type MemoryOp,
  ModuleWriter,
  type Wasm,
  type WasmTy,
  wasm,
} from "../../../src/wasm/index.ts";

export type Form = keyof Emission;

/** One emission, compiled to a function over columns of operands. */
export interface Application {
  readonly name: string;
  readonly prim: Prim;
  readonly form: Form;
  /**
   * The operand that is not a column: constants (one for each lane, or one for all), or an argument of the function.
   */
  readonly fixed: { readonly position: number; readonly constants: readonly Value[] | null } | null;
}

export const lanesOf: Readonly<Record<Form, number>> = { scalar: 1, quad: 4, half: 2 };

export type Columns = readonly (readonly Value[])[];

interface Column {
  readonly values: readonly Value[];
  readonly ty: Ty;
  readonly form: Form;
}

interface Difference {
  readonly row: number;
  readonly result: Value | null;
}

/**
 * The distance between columns in bytes, which is more than any column has. After those of the operands come two more.
 */
const COLUMN = 0x20_0000;
const RESULT = 4;
const EXPECTED = 5;
const PAGES = (6 * COLUMN) / 0x1_0000;

const isLong = (ty: Ty): boolean => ty === "i64" || ty === "f64";
const bytesOf = (form: Form, ty: Ty): number => (isLong(ty) || (ty === "pred" && form === "half") ? 8 : 4);
const scalarTy = (ty: Ty): WasmTy => (ty === "pred" ? "i32" : ty);
const wasmTy = (form: Form, ty: Ty): WasmTy => (form === "scalar" ? scalarTy(ty) : "v128");

/** The bytes of a value of the type in a vector, in one lane or in all. */
function constant(form: Form, ty: Ty, values: readonly Value[]): Wasm {
  const value = values[0]!;
  if (form === "scalar") {
    if (ty === "i64") return wasm.i64(value as bigint);
    return ty === "pred" ? wasm.i32(Number(value)) : wasm[ty](value as number);
  }
  const bytes = new Uint8Array(16);
  const lanes = 16 / bytesOf(form, ty);
  const lane = (i: number): Value => values[i % values.length]!;
  writeColumn(
    bytes,
    form,
    ty,
    Array.from({ length: lanes }, (_, i) => lane(i)),
  );
  return { kind: "const", ty: "v128", value: [...bytes] };
}

/** Every kind of NaN in turn, because a register may hold any of them. */
const nans32 = [0x7fff_ffff, 0xffc0_0000, 0x7f80_0001, 0xffff_ffff, 0x7fc0_0000];
const nans64 = [0x7fff_ffff_ffff_ffffn, 0xfff8_0000_0000_0000n, 0x7ff0_0000_0000_0001n, 0x7ff8_0000_0000_0000n];

function writeColumn(bytes: Uint8Array, form: Form, ty: Ty, values: readonly Value[]): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = bytesOf(form, ty);
  const yes = form === "scalar" ? 1 : -1;
  values.forEach((value, row) => {
    const at = row * size;
    if (typeof value === "bigint") view.setBigInt64(at, value, true);
    else if (typeof value === "boolean") {
      for (let word = 0; word < size; word += 4) view.setInt32(at + word, value ? yes : 0, true);
    } else if (ty === "i32") view.setInt32(at, value, true);
    else if (ty === "f32") {
      if (value === value) view.setFloat32(at, value, true);
      else view.setInt32(at, nans32[row % nans32.length]!, true);
    } else if (value === value) view.setFloat64(at, value, true);
    else view.setBigInt64(at, nans64[row % nans64.length]!, true);
  });
}

/** Whether two kinds of columns hold the same bytes. */
const sameEncoding = (a: Column, b: Column): boolean => a.ty === b.ty && (a.ty !== "pred" || a.form === b.form);

/** Returns null for a predicate that is neither of its two patterns. */
function readValue(view: DataView, form: Form, ty: Ty, row: number): Value | null {
  const at = row * bytesOf(form, ty);
  if (ty === "i64") return view.getBigInt64(at, true);
  if (ty === "f64") return view.getFloat64(at, true);
  if (ty === "f32") return view.getFloat32(at, true);
  const word = view.getInt32(at, true);
  if (ty === "i32") return word;
  if (form === "half" && word !== view.getInt32(at + 4, true)) return null;
  return word === (form === "scalar" ? 1 : -1) ? true : word === 0 ? false : null;
}

const splat = (ty: Ty): "i32x4.splat" | "i64x2.splat" | "f32x4.splat" | "f64x2.splat" =>
  ty === "i64" ? "i64x2.splat" : ty === "f64" ? "f64x2.splat" : ty === "f32" ? "f32x4.splat" : "i32x4.splat";

/** Writes a function `(rows, fixed?) => void`. */
function write(module: ModuleWriter, { name, prim, form, fixed }: Application): void {
  const argument = fixed?.constants === null ? [scalarTy(prim.params[fixed.position]!)] : [];
  const f: FunctionWriter = module.function(name, ["i32", ...argument], []);
  const row = f.local("i32");
  const locals: number[] = [];
  const operands = prim.params.map((ty, i) => {
    if (fixed?.position !== i) {
      locals[i] = f.local(wasmTy(form, ty));
      return wasm.operand(wasmTy(form, ty), i);
    }
    if (fixed.constants === null) return wasm.op(splat(ty), wasm.local(scalarTy(ty), 1));
    return constant(form, ty, fixed.constants);
  });
  const address = (size: number): void => {
    f.get(row);
    f.i32(Math.log2(size));
    f.op("i32.shl");
  };
  const access = (form: Form, ty: Ty, what: "load" | "store"): MemoryOp => `${wasmTy(form, ty)}.${what}`;
  f.loop((again) => {
    prim.params.forEach((ty, i) => {
      if (locals[i] === undefined) return;
      address(bytesOf(form, ty));
      f.memory(access(form, ty, "load"), 1, i * COLUMN);
      f.set(locals[i]);
    });
    address(bytesOf(form, prim.result));
    f.value(prim.wasm[form]!(...operands), locals);
    f.memory(access(form, prim.result, "store"), 1, RESULT * COLUMN);
    f.get(row);
    f.i32(lanesOf[form]);
    f.op("i32.add");
    f.tee(row);
    f.get(0);
    f.op("i32.lt_u");
    f.brIf(again);
  });
  module.export(name);
}

/** Compiles all applications into functions of one module. */
export class EmittedModule {
  readonly #memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
  readonly #exports: Readonly<Record<string, unknown>>;

  /** The current contents of the columns of operands, results and expectations. */
  readonly #held: Column[] = [];

  constructor(applications: readonly Application[], features: Features) {
    const writer = new ModuleWriter(features);
    writer.importMemory({ initial: PAGES, maximum: PAGES, shared: false });
    for (const application of applications) write(writer, application);
    const module = new WebAssembly.Module(writer.finish());
    const evaluators = writer.imports.map((name) => [name, primOf(name.replace("prim:", "") as PrimName).eval]);
    const env = { memory: this.#memory, ...Object.fromEntries(evaluators) };
    this.#exports = new WebAssembly.Instance(module, { env }).exports;
  }

  /**
   * Returns the rows in which the function's result differs from the expected one, and that result. The number of rows
   * is a multiple of 4; the column of a fixed operand is not read. All NaNs count as equal.
   */
  differences({ name, prim, form, fixed }: Application, operands: Columns, expected: readonly Value[]): Difference[] {
    for (const [i, ty] of prim.params.entries()) {
      if (fixed?.position !== i) this.#write(i, { values: operands[i]!, ty, form });
    }
    const ty = prim.result;
    this.#write(EXPECTED, { values: expected, ty, form });
    const f = this.#exports[name] as (rows: number, fixed?: Value) => void;
    if (fixed?.constants === null) f(expected.length, operands[fixed.position]![0]!);
    else f(expected.length);

    const words = bytesOf(form, ty) / 4;
    const [got, wanted] = [RESULT, EXPECTED].map(
      (i) => new Int32Array(this.#memory.buffer, i * COLUMN, expected.length * words),
    );
    const view = new DataView(this.#memory.buffer, RESULT * COLUMN, COLUMN);
    const rows = new Set<number>();
    for (let i = 0; i < got!.length; i++) if (got![i] !== wanted![i]) rows.add(Math.floor(i / words));
    const results = [...rows].map((row) => ({ row, result: readValue(view, form, ty, row) }));
    return results.filter(({ row, result }) => !Object.is(result, expected[row]));
  }

  /** Writes a column unless it is already there. */
  #write(at: number, column: Column): void {
    const held = this.#held[at];
    if (held?.values === column.values && sameEncoding(held, column)) return;
    writeColumn(new Uint8Array(this.#memory.buffer, at * COLUMN, COLUMN), column.form, column.ty, column.values);
    this.#held[at] = column;
  }
}
