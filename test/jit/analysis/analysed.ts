import { writesOf } from "../../../src/ir/flow/index.ts";
import { type Instruction, windows } from "../../../src/ir/index.ts";
import { anyShape, type LaunchShape } from "../../../src/jit/abi/launch-shape.ts";
import { prepare } from "../../../src/jit/compile/analysis/code/prepared-code.ts";
import { inRegionOrder } from "../../../src/jit/compile/analysis/code/region-order.ts";
import { type Invariants, invariantsOf } from "../../../src/jit/compile/analysis/values/invariant-code.ts";
import type { UniformityAnalysis } from "../../../src/jit/compile/analysis/values/uniformity.ts";
import { preparationIn } from "../../../src/jit/compile/plan/call-graph.ts";
import { CompiledFunctions } from "../../../src/jit/compile/plan/compiled-functions.ts";
import { plansFor } from "../../../src/jit/compile/plan/partial-returns.ts";
import { resumeBlocks, type SuspensionPoints } from "../../../src/jit/compile/plan/suspension-points.ts";
import type { ProgramFacts } from "../../../src/jit/compile/plan/program-facts.ts";
import { plansForSingleChunk } from "../../../src/jit/compile/plan/single-chunk.ts";
import { reachableFrom } from "../../../src/jit/compile/plan/reachable-functions.ts";
import { stackLimit } from "../../../src/program/open-launch.ts";
import { loadProgram } from "../../../src/program/program.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { DeviceCore } from "../../../src/runtime/device/device-core.ts";
import { type Expr, printExpr } from "../../../src/semantics/index.ts";
import { SourceText } from "../../../src/source/index.ts";

/** Chunks of 16 lanes in blocks whose rows end anywhere. */
export const anyBlock: LaunchShape = anyShape(4);

/** The same chunks in blocks of one row, which fills all of them. */
export const oneRow: LaunchShape = { ...anyBlock, rows: true, full: true };

/** A kernel, analysed as the compiler does it, and its parts by the names and lines of its text. */
export class Analysed {
  readonly analysis: UniformityAnalysis;
  readonly pauses: SuspensionPoints;
  readonly #lines: readonly number[];

  /**
   * `body`: the instructions of a kernel `k(.param .u64 x, .param .u64 y, .param .u32 n)`, one a line. It has registers
   * %p, %h (16 bits), %r, %s, %f, %d and %x with numbers from 0 to 9. `before`: what stands before it in the module.
   */
  constructor(body: string, shape: LaunchShape = oneRow, before = "") {
    const head = `${header}${before}${entry}`;
    const source = new SourceText("k.ptx", `${head}${body}\n}`);
    const { module, diagnostics } = compile([source], {});
    if (module === null) throw new Error(diagnostics.map((d) => d.message).join("\n"));
    const program = loadProgram(new DeviceCore().memory, module);
    const { shared } = program;
    const facts: ProgramFacts = {
      bindings: program.bindings,
      addressSize: module.addressSize,
      functions: new CompiledFunctions(program),
      stackLimit,
      shared: shared.extents,
      sharedBytes: shared.dynamicStart - windows.shared.start,
      constants: { extents: [], delta: 0 },
      globals: { extents: [], delta: 0 },
    };
    const { number } = facts.functions.named("k")!;
    const { kernel, ...scope } = reachableFrom(number, shape, facts);
    const code = prepare(inRegionOrder(kernel), scope.facts.bindings, preparationIn(scope.graph));
    const single = shape.single ? plansForSingleChunk(kernel, scope) : null;
    const { kernelPlan } = single ?? plansFor(kernel, code, scope);
    this.analysis = kernelPlan.analysis;
    this.pauses = kernelPlan.points;
    const first = head.split("\n").length - 1;
    this.#lines = this.code.instructions.map(({ span }) => source.position(span.start).line - 1 - first);
  }

  get code() {
    return this.analysis.code;
  }

  get invariants(): Invariants {
    return invariantsOf(this.analysis, resumeBlocks(this.pauses));
  }

  /** The instructions of a line of the body; its first line is 0. */
  at(line: number): readonly number[] {
    return this.#lines.flatMap((l, i) => (l === line ? [i] : []));
  }

  /** The first instruction of a line of the body. */
  instruction(line: number): Instruction {
    return this.code.instructions[this.at(line)[0]!]!;
  }

  /** The block that contains the first instruction of a line. */
  blockOf(line: number): number {
    return this.code.graph.blockAt(this.at(line)[0]!);
  }

  /** The register that is written last under a name, as an expression. */
  register(name: string): Expr {
    const written: number[] = [];
    for (const instruction of this.code.instructions) writesOf(instruction, (r) => written.push(r));
    const register = written.findLast((r) => this.code.ir.registers[r]!.name === name);
    if (register === undefined) throw new Error(`nothing writes ${name}`);
    const { class: c } = this.code.ir.registers[register]!;
    return { kind: "reg", ty: c === "pred" ? "pred" : c === "b64" ? "i64" : "i32", reg: register };
  }

  /** An expression with the names of registers in it. */
  text(expr: Expr): string {
    return printExpr(expr, (leaf) =>
      leaf.kind === "reg" ? this.code.ir.registers[leaf.reg]!.name : "name" in leaf ? `%${leaf.name}` : leaf.kind,
    );
  }

  /** The number of that register. */
  number(name: string): number {
    return (this.register(name) as Extract<Expr, { kind: "reg" }>).reg;
  }
}

const header = ".version 8.6\n.target sm_90\n.address_size 64\n";

const entry = `.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{
.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>, %s<10>; .reg .f32 %f<10>; .reg .f64 %d<10>; .reg .b64 %x<10>;
`;
