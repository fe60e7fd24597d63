import {
  type Access,
  atAddress,
  type ByteFile,
  type FileTarget,
  type FrameVariable,
  type Guard,
  type IrFunction,
  type IrModule,
  type LaneRule,
  type Op,
  type Param,
  type ParamType,
  type Register,
  type RegisterClass,
  type Space,
  type UndefinedCase,
  type Variable,
  windows,
} from "../../src/ir/index.ts";
import { type Expr, kit, type SpecialName } from "../../src/semantics/index.ts";
import { SourceText } from "../../src/source/index.ts";

/** A register of a function under construction: reads of it are expressions. */
export class Reg {
  readonly index: number;
  readonly class: RegisterClass;

  constructor(index: number, c: RegisterClass) {
    this.index = index;
    this.class = c;
  }

  get pred(): Expr {
    return { kind: "reg", ty: "pred", reg: this.index };
  }
  get i32(): Expr {
    return { kind: "reg", ty: "i32", reg: this.index };
  }
  get f32(): Expr {
    return { kind: "reg", ty: "f32", reg: this.index };
  }
  get i64(): Expr {
    return { kind: "reg", ty: "i64", reg: this.index };
  }
  get f64(): Expr {
    return { kind: "reg", ty: "f64", reg: this.index };
  }
}

export const special = (name: SpecialName, ty: "i32" | "i64" = "i32"): Expr => ({ kind: "special", ty, name });
export const symbol = (name: string, generic = false): Expr => ({
  kind: "symbol",
  ty: "i64",
  symbol: name,
  offset: 0,
  generic,
});
export const frame = (variable: number, offset = 0, generic = false): Expr => ({
  kind: "frame",
  ty: "i64",
  variable,
  offset,
  generic,
});
export const old = (index: number, ty: Expr["ty"] = "i32"): Expr => ({ kind: "old", ty, index });

export const access = (space: Space, bits: Access["bits"] = 32, more: Partial<Access> = {}): Access => ({
  space,
  bits,
  signed: false,
  count: 1,
  align: (bits / 8) * (more.count ?? 1),
  volatile: false,
  order: "weak",
  scope: null,
  ...more,
});

export const u32: ParamType = { kind: "u", size: 4, align: 4, unsized: false };
export const s32: ParamType = { kind: "s", size: 4, align: 4, unsized: false };
export const f32: ParamType = { kind: "f", size: 4, align: 4, unsized: false };
export const b32: ParamType = { kind: "b", size: 4, align: 4, unsized: false };
export const u64: ParamType = { kind: "u", size: 8, align: 8, unsized: false };
export const bytes = (size: number, align = 4, unsized = false): ParamType => ({ kind: "array", size, align, unsized });

interface Label {
  at: number | null;
}

interface Details {
  readonly dst?: readonly (Reg | FileTarget | null)[];
  readonly lanes?: LaneRule;
  readonly collapse?: "any" | "all";
  readonly when?: Reg;
  readonly unless?: Reg;
  readonly undefinedCases?: readonly UndefinedCase[];
}

/**
 * Builds a function of the lane IR. Every instruction stands on a line of its own, so a report's line minus the
 * function's first line is the instruction's number.
 */
export class FunctionBuilder {
  readonly name: string;
  readonly kind: "kernel" | "function";
  readonly registers: Register[] = [];
  readonly params: Param[] = [];
  readonly returns: Param[] = [];
  readonly frame: FrameVariable[] = [];
  noreturn = false;
  external = false;
  file: ByteFile | null = null;
  readonly #list: { op: () => Op; details: Details }[] = [];
  #paramBytes = 0;

  constructor(name: string, kind: "kernel" | "function") {
    this.name = name;
    this.kind = kind;
  }

  reg(c: RegisterClass, bits = c === "pred" ? 1 : c === "b32" ? 32 : 64): Reg {
    this.registers.push({ name: `%${c}_${this.registers.length}`, class: c, bits });
    return new Reg(this.registers.length - 1, c);
  }

  /** A kernel parameter; the expression is its address. */
  kernelParam(type: ParamType): Expr {
    const offset = Math.ceil(this.#paramBytes / type.align) * type.align;
    this.#paramBytes = offset + type.size;
    this.params.push({ name: `param_${this.params.length}`, type, storage: { kind: "kernel", offset } });
    return kit.i64(BigInt(windows["kernel-param"].start + offset));
  }

  /** A variable of the frame: its number. */
  variable(size: number, align = 4, space: FrameVariable["space"] = "local", unsized = false): number {
    const name = `var_${this.frame.length}`;
    this.frame.push({ name, space, size, align, unsized, span: { start: 0, end: 0 } });
    return this.frame.length - 1;
  }

  /** A formal parameter (or result) in a register. */
  formal(list: "params" | "returns", type: ParamType, ...registers: Reg[]): void {
    this[list].push({
      name: `formal_${this[list].length}`,
      type,
      storage: { kind: "register", registers: registers.map((r) => r.index) },
    });
  }

  /** A formal parameter (or result) in `.param` space: the variable's number. */
  formalVariable(list: "params" | "returns", type: ParamType): number {
    const variable = this.variable(type.size, type.align, "call-param", type.unsized);
    this[list].push({ name: `formal_${this[list].length}`, type, storage: { kind: "frame", variable } });
    return variable;
  }

  emit(op: Op | (() => Op), details: Details = {}): void {
    this.#list.push({ op: typeof op === "function" ? op : () => op, details });
  }

  /** `dst = value` */
  set(dst: Reg, value: Expr, details: Omit<Details, "dst"> = {}): void {
    this.emit({ kind: "pure", values: [value] }, { ...details, dst: [dst] });
  }

  load(
    dst: Reg | readonly (Reg | FileTarget | null)[],
    how: Access,
    address: Expr,
    details: Omit<Details, "dst"> = {},
  ): void {
    this.emit(
      { kind: "load", access: how, place: atAddress(address) },
      { ...details, dst: dst instanceof Reg ? [dst] : dst },
    );
  }

  store(how: Access, address: Expr, values: Expr | readonly (Expr | null)[], details: Details = {}): void {
    const list = Array.isArray(values) ? values : [values as Expr];
    this.emit({ kind: "store", access: how, place: atAddress(address), values: list }, details);
  }

  label(): Label {
    return { at: null };
  }

  place(label: Label): void {
    label.at = this.#list.length;
  }

  branch(label: Label, details: Details & { readonly uniform?: boolean } = {}): void {
    this.emit(() => ({ kind: "branch", target: label.at!, uniform: details.uniform ?? false }), details);
  }

  exit(details: Details = {}): void {
    this.emit({ kind: "exit" }, details);
  }

  ret(details: Details & { readonly uniform?: boolean } = {}): void {
    this.emit({ kind: "return", uniform: details.uniform ?? false }, details);
  }

  barrier(id = 0, count: number | null = null, details: Details = {}): void {
    this.emit(
      {
        kind: "barrier",
        mode: "sync",
        id: kit.i32(id),
        count: count === null ? null : kit.i32(count),
        aligned: true,
        reduce: null,
      },
      details,
    );
  }

  /** Loads the kernel's first parameter, a pointer, and returns the address of this thread's element. */
  element(pointer: Expr, index: Expr, size = 4): Reg {
    const base = this.reg("b64");
    const at = this.reg("b64");
    this.load(base, access("kernel-param", 64), pointer);
    this.set(at, kit.add(base.i64, kit.mul(kit.widen(index, false), kit.i64(BigInt(size)))));
    return at;
  }

  /** The number of instructions so far: the line of the next one, counting from 0. */
  get length(): number {
    return this.#list.length;
  }

  build(source: SourceText, at: number): IrFunction {
    return {
      name: this.name,
      kind: this.kind,
      params: this.params,
      returns: this.returns,
      registers: this.registers,
      frame: this.frame,
      instructions: this.#list.map(({ op, details }, i) => ({
        op: op(),
        guard: guardOf(details),
        ...(details.lanes === undefined ? {} : { lanes: details.lanes }),
        dst: (details.dst ?? []).map((r) => (r instanceof Reg ? r.index : r)),
        undefinedCases: details.undefinedCases ?? [],
        span: { start: at + i * lineLength, end: at + i * lineLength + 1 },
        location: null,
      })),
      noreturn: this.noreturn,
      bounds: {},
      source,
      span: { start: at, end: at + this.#list.length * lineLength + 1 },
      files: new Map(),
      external: this.external,
      ...(this.file === null ? {} : { file: this.file }),
    };
  }
}

const lineLength = 2;

function guardOf({ when, unless, collapse }: Details): Guard | null {
  const register = when ?? unless;
  if (register === undefined) return null;
  return { register: register.index, negate: unless !== undefined, ...(collapse === undefined ? {} : { collapse }) };
}

export class ModuleBuilder {
  readonly #functions: FunctionBuilder[] = [];
  readonly #variables: Variable[] = [];
  readonly addressSize: 32 | 64;

  constructor(addressSize: 32 | 64 = 64) {
    this.addressSize = addressSize;
  }

  kernel(name = "k"): FunctionBuilder {
    return this.#add(new FunctionBuilder(name, "kernel"));
  }

  func(name: string): FunctionBuilder {
    return this.#add(new FunctionBuilder(name, "function"));
  }

  variable(name: string, space: Variable["space"], size: number, more: Partial<Variable> = {}): void {
    this.#variables.push({
      name,
      space,
      size,
      align: 4,
      init: [],
      relocations: [],
      dynamicShared: false,
      managed: false,
      span: { start: 0, end: 0 },
      ...more,
    });
  }

  build(): IrModule {
    const lines = this.#functions.reduce((sum, f) => sum + f.length + 1, 0);
    const source = new SourceText("built.ptx", "x\n".repeat(lines));
    let line = 0;
    const functions = this.#functions.map((f) => {
      const built = f.build(source, line * lineLength);
      line += f.length + 1;
      return built;
    });
    return {
      source,
      addressSize: this.addressSize,
      target: "sm_90",
      functions,
      variables: this.#variables,
      aliases: new Map(),
    };
  }

  #add(f: FunctionBuilder): FunctionBuilder {
    this.#functions.push(f);
    return f;
  }
}
