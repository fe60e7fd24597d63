import { type Access, accessesOf, failingOp, type Op } from "../../ir/index.ts";
import type { Program } from "../../program/program.ts";
import type { CompiledKernel } from "../../jit/abi/compiled-kernel.ts";

/** An instruction at which the module may call the launcher. */
export interface StandaloneSite {
  readonly line: number;
  /** The instruction as written in the source. */
  readonly text: string;
  /** The memory access that it makes, if any; the address is a multiple of `aligned` bytes. */
  readonly access?: {
    readonly space: Access["space"];
    readonly bytes: number;
    readonly aligned: number;
    readonly writes: boolean;
  };
  /** The fault, where the module reports one. */
  readonly fails?: string;
  /** The index of the record that the module consults before it calls. */
  readonly record?: number;
  /** The external function that it calls. */
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
    const [made] = accessesOf(op);
    if (made === undefined) return site;
    const { space, bits, count, align } = made.access;
    return {
      ...site,
      access: { space, bytes: (bits / 8) * count, aligned: align, writes: made.effect !== "load" },
    };
  });

/** The fault that stops a module at an operation; null if it only calls the launcher, or cannot stop. */
function failureOf(operation: Op): string | null {
  const op = failingOp(operation);
  switch (op?.kind) {
    case "trap":
      return op.fault?.message ?? "the kernel executed trap";
    case "branch-indexed":
      return `the index is not below the ${op.targets.length} labels of the list`;
    case "call":
      return "the address is not that of a function which may be called here";
    case "warp":
      return "some of the warp's threads do not execute the instruction, which all must execute together";
    // The launcher finds these faults, in what it is called for.
    case "load":
    case "store":
    case "atomic":
    case "copy":
    case "unit":
    case "alloca":
    case "barrier":
    case "cluster-barrier":
    case "cluster-poll":
    case "file-call":
    case "subroutine-call":
    case "unsupported":
    case undefined:
      return null;
  }
}
