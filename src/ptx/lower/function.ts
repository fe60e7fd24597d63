import {
  atAddress,
  type CallTarget,
  type IrFunction,
  type Instruction as IrInstruction,
  type Op,
  type Param,
  plainAccess,
  type SourceLocation,
  windows,
} from "../../ir/index.ts";
import { type Expr, kit } from "../../semantics/index.ts";
import type { SourceText } from "../../source/index.ts";
import type { BodyInfo, FormalSymbol } from "../check/context.ts";
import { isNoreturn } from "../check/function-directives.ts";
import type { ControlKind } from "../isa/define.ts";
import type { Label } from "../tree/leaves.ts";
import type {
  Block,
  FunctionDeclaration,
  FunctionSymbol,
  Instruction,
  Operand,
  ParameterSymbol,
  Statement,
  VariableSymbol,
} from "../tree/nodes.ts";
import { typeInfo } from "../types.ts";
import { lowerArguments, lowerCallTarget, lowerResults } from "./calls.ts";
import { constantOf } from "./constants.ts";
import { lowerThroughRow } from "./effects.ts";
import { Frame } from "./frame.ts";
import { Locations } from "./locations.ts";
import type { ModuleScope } from "./module-scope.ts";
import { type Places, sourceElements } from "./operands.ts";
import { RegisterFile } from "./registers.ts";
import { paramType } from "./signature.ts";

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align;

/** Lowers the body of one function or kernel. */
export class FunctionLowering implements Places {
  readonly registers = new RegisterFile();
  readonly frame = new Frame();
  readonly kernelParams = new Map<ParameterSymbol, number>();
  readonly addressSize: 32 | 64;
  readonly sm: number;
  readonly #module: ModuleScope;
  readonly #symbol: FunctionSymbol;
  readonly #declaration: FunctionDeclaration;
  readonly #body: BodyInfo;
  readonly #source: SourceText;
  readonly #instructions: IrInstruction[] = [];
  readonly #labels = new Map<Label, number>();
  /** Branches, which are built once the whole body has been lowered and the labels are known. */
  readonly #branches: { readonly at: number; readonly build: () => Op }[] = [];
  readonly #declared = new Map<object, VariableSymbol>();
  readonly #locations: Locations;
  #location: SourceLocation | null = null;

  constructor(module: ModuleScope, symbol: FunctionSymbol, body: BodyInfo) {
    this.#module = module;
    this.#symbol = symbol;
    this.#declaration = symbol.declaration;
    this.#body = body;
    this.#source = module.checked.module.source;
    this.addressSize = module.checked.addressSize;
    this.#locations = new Locations(module.sections);
    this.sm = module.checked.target.sm;
    for (const local of body.locals) this.#declared.set(local.declarator, local);
  }

  nameOf(symbol: VariableSymbol | FunctionSymbol): string {
    return this.#module.names.nameOf(symbol);
  }

  lower(): IrFunction {
    const { entry, name, body } = this.#declaration;
    const params = entry ? this.#kernelParams() : this.#body.params.map((p) => this.#formal(p));
    const returns = this.#body.returns.map((p) => this.#formal(p));
    // Registers are numbered in order of first use, so that listings are stable.
    for (const register of this.#body.registers) this.registers.of(register);
    this.#moduleScoped();
    if (body) this.#block(body);
    for (const { at, build } of this.#branches) this.#instructions[at] = { ...this.#instructions[at]!, op: build() };
    return {
      name: this.nameOf(this.#symbol),
      kind: entry ? "kernel" : "function",
      params,
      returns,
      registers: this.registers.registers,
      frame: this.frame.variables,
      instructions: this.#instructions,
      noreturn: isNoreturn(this.#declaration.directives),
      bounds: this.#bounds(),
      source: this.#source,
      span: { start: name.start, end: name.end },
      files: this.#module.files,
      ...this.#debug(),
      external: false,
    };
  }

  /** Debug information refers to places in the code by labels. */
  #debug(): Pick<IrFunction, "debug"> {
    const { sections } = this.#module;
    if (!sections.has("debug_info")) return {};
    return { debug: { sections, labels: new Map([...this.#labels].map(([{ name }, at]) => [name.text, at])) } };
  }

  /**
   * Declares the `.reg` and `.local` variables at module scope (before PTX ISA 3.0), which all functions that a thread
   * calls share. A kernel has them in its frame; functions, which would have to share them, are not modelled.
   */
  #moduleScoped(): void {
    const { locals, sharesRegisters } = this.#module;
    if (this.#declaration.entry) for (const local of locals) this.frame.declare(local, "local");
    else if (locals.length > 0 || sharesRegisters) {
      const reason = "functions of a module with .reg or .local variables at module scope are not modelled";
      this.#emit(this.#symbol.span, { op: { kind: "unsupported", what: this.#symbol.name, reason } });
    }
  }

  #formal(symbol: FormalSymbol): Param {
    const type = paramType(symbol);
    if (symbol.kind === "register")
      return { name: symbol.name, type, storage: { kind: "register", registers: this.registers.of(symbol) } };
    const variable = this.frame.declare(symbol, "call-param", symbol.unsized);
    return { name: symbol.name, type, storage: { kind: "frame", variable } };
  }

  #kernelParams(): Param[] {
    let offset = 0;
    return this.#body.params.map((symbol) => {
      const type = paramType(symbol);
      offset = alignUp(offset, type.align);
      const at = offset;
      offset += type.size;
      if (symbol.kind === "parameter") this.kernelParams.set(symbol, at);
      else this.#loadRegisterParam(symbol, at);
      return { name: symbol.name, type, storage: { kind: "kernel", offset: at } };
    });
  }

  /** Loads a `.reg` parameter of a kernel (PTX 1.x) from the parameter block on entry. */
  #loadRegisterParam(symbol: Extract<FormalSymbol, { kind: "register" }>, offset: number): void {
    const bits = Math.max(8, symbol.type.bits) as 8 | 16 | 32 | 64;
    this.#emit(symbol.span, {
      op: {
        kind: "load",
        access: plainAccess("kernel-param", bits),
        place: atAddress(kit.i64(BigInt(windows["kernel-param"].start + offset))),
      },
      dst: [...this.registers.of(symbol)],
    });
  }

  #bounds(): IrFunction["bounds"] {
    let bounds: IrFunction["bounds"] = {};
    for (const { name, args } of this.#declaration.directives) {
      const number = (i: number): number => Number((args[i] && constantOf(args[i]!)?.value) ?? 1);
      switch (name.text) {
        case ".reqntid":
        case ".maxntid":
        case ".reqnctapercluster":
          bounds = { ...bounds, [name.text.slice(1)]: [number(0), number(1), number(2)] };
          break;
        case ".maxclusterrank":
          bounds = { ...bounds, maxclusterrank: number(0) };
          break;
        case ".explicitcluster":
        case ".blocksareclusters":
          bounds = { ...bounds, [name.text.slice(1)]: true };
      }
    }
    return bounds;
  }

  // ---- Statements --------------------------------------------------------------------------------------------------

  #block(block: Block): void {
    const mark = this.frame.mark();
    for (const statement of block.statements) this.#statement(statement);
    this.frame.release(mark);
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case "block":
        this.#block(statement);
        break;
      case "label":
        this.#labels.set(statement, this.#instructions.length);
        break;
      case "variable":
        for (const declarator of statement.declarators) {
          const symbol = this.#declared.get(declarator);
          if (symbol?.space === "local") this.frame.declare(symbol, "local");
          else if (symbol?.space === "param") this.frame.declare(symbol, "call-param");
        }
        break;
      case "loc":
        this.#location = this.#locations.of(statement);
        break;
      case "instruction":
        this.#instruction(statement);
        break;
      default:
        break;
    }
  }

  #emit(
    span: { readonly start: number; readonly end: number },
    what: Pick<IrInstruction, "op"> & Partial<IrInstruction>,
  ): number {
    return (
      this.#instructions.push({
        guard: null,
        dst: [],
        undefinedCases: [],
        span: { start: span.start, end: span.end },
        location: this.#location,
        ...what,
      }) - 1
    );
  }

  #instruction(node: Instruction): void {
    const guard = this.#guard(node);
    if (!node.resolved) return;
    const { control } = node.resolved.form;
    const moved = control && this.#control(node, control);
    if (moved === null) {
      const first = this.#instructions.length;
      for (const { where, op, ...lowered } of lowerThroughRow(node, node.resolved, this, this.#declaration.entry)) {
        const own = where === null ? guard : this.#narrowed(node, guard, where);
        this.#emit(node, { guard: own, ...lowered, op: op.kind === "branch" ? { ...op, target: first } : op });
      }
      return;
    }
    const at = this.#emit(node, { guard, op: typeof moved === "function" ? { kind: "nothing" } : moved });
    if (typeof moved === "function") this.#branches.push({ at, build: moved });
  }

  /** The guard of a step that only some of the instruction's lanes execute. */
  #narrowed(node: Instruction, guard: IrInstruction["guard"], where: Expr): IrInstruction["guard"] {
    const register = this.registers.temporary("pred");
    const own: Expr | null = guard && { kind: "reg", ty: "pred", reg: guard.register };
    const value = own === null ? where : kit.and(where, guard?.negate === true ? kit.not(own) : own);
    this.#emit(node, { op: { kind: "pure", values: [value] }, dst: [register] });
    return { register, negate: false };
  }

  #guard({ guard }: Instruction): IrInstruction["guard"] {
    const symbol = guard?.register.symbol;
    if (!guard || symbol?.kind !== "register") return null;
    return { register: this.registers.of(symbol)[0]!, negate: guard.negated };
  }

  /**
   * Lowers control flow: returns an operation, or a function that builds it once all labels have places. Null: the row
   * has an effect, or an operand is wrong.
   */
  #control(node: Instruction, control: ControlKind): Op | (() => Op) | null {
    const uniform = node.opcode.text.endsWith(".uni");
    switch (control) {
      case "branch":
        return () => ({ kind: "branch", target: this.#place(node.operands[0]), uniform });
      case "branch-indexed": {
        const [index, list] = node.operands;
        const symbol = list?.kind === "name" ? list.symbol : null;
        if (!index || symbol?.kind !== "target-list") return null;
        const value = sourceElements(
          index,
          { shape: "value", type: typeInfo("u32"), immediate: "allowed", range: null, counts: [1], split: false },
          this,
        )[0]!;
        return () => ({
          kind: "branch-indexed",
          index: value,
          targets: (this.#module.checked.branchTargets.get(symbol.list) ?? []).map(
            ({ label }) => this.#labels.get(label) ?? this.#instructions.length,
          ),
          uniform,
        });
      }
      case "call": {
        const info = this.#module.checked.callInfo.get(node);
        if (!info) return null;
        const target: CallTarget = lowerCallTarget(info, this);
        return { kind: "call", target, args: lowerArguments(info, this), results: lowerResults(info, this), uniform };
      }
      case "return":
        return { kind: "return", uniform };
      case "exit":
      case "stop":
        return null;
    }
  }

  #place(operand: Operand | undefined): number {
    const symbol = operand?.kind === "name" ? operand.symbol : null;
    return symbol?.kind === "label"
      ? (this.#labels.get(symbol.label) ?? this.#instructions.length)
      : this.#instructions.length;
  }
}
