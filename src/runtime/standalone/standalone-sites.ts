import type { Program } from "../../program/program.ts";
import type { Access, Instruction } from "../../ir/index.ts";
import type { CompiledKernel } from "../../jit/abi/compiled-kernel.ts";

/** An instruction that asks the launcher. */
export interface StandaloneSite {
  readonly line: number;
  /** As it stands in the source. */
  readonly text: string;
  /** Of an access to memory. `aligned`: what the address is a multiple of. */
  readonly access?: {
    readonly space: Access["space"];
    readonly bytes: number;
    readonly aligned: number;
    readonly writes: boolean;
  };
  /** What is wrong where the module says that it cannot go on. */
  readonly fails?: string;
  /** The number of the record in which the module looks before it asks. */
  readonly record?: number;
  /** The function without a body that it calls. */
  readonly calls?: string;
}

export const sitesOf = (program: Program, { sites }: CompiledKernel): StandaloneSite[] =>
  sites.map(({ function: f, instruction, record }) => {
    const { ir } = program.functions[f]!;
    const { op, span } = ir.instructions[instruction]!;
    const { line } = ir.source.position(span.start);
    const text = ir.source.text.slice(span.start, span.end).replace(/\s+/g, " ");
    const site = { line, text, ...(record === null ? {} : { record }) };
    if (op.kind === "call" && op.target.kind === "direct") return { ...site, calls: op.target.function };
    const fails = failureOf(op);
    if (fails !== null) return { ...site, fails };
    if (op.kind !== "load" && op.kind !== "store" && op.kind !== "atomic") return site;
    const { space, bits, count, align } = op.access;
    return { ...site, access: { space, bytes: (bits / 8) * count, aligned: align, writes: op.kind !== "load" } };
  });

function failureOf(op: Instruction["op"]): string | null {
  switch (op.kind) {
    case "trap":
      return op.fault?.message ?? "the kernel executed trap";
    case "branch-indexed":
      return `the index is not below the ${op.targets.length} labels of the list`;
    case "call":
      return "the address is not that of a function which may be called here";
    default:
      return null;
  }
}
