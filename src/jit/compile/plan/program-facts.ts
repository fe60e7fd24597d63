import type { Instruction } from "../../../ir/index.ts";
import type { Extent } from "../../../machine/memory/extent.ts";
import type { Dim3 } from "../../../machine/reports/report.ts";
import type { Bindings } from "../../../semantics/bind.ts";
import type { LaunchShape } from "../../abi/launch-shape.ts";
import type { CompiledFunctions } from "./callables.ts";

/**
 * A hardware thread is a chunk. It has more lanes than the thread where instructions without a mask are for more: these are
 * never active.
 */
export function threadShape(
  instructions: readonly Instruction[],
  [x, y, z]: Dim3,
  width: number,
  shared: boolean,
): LaunchShape {
  const lanes = instructions.reduce(
    (most, { lanes }) => Math.max(most, (lanes?.first ?? 0) + (lanes?.count ?? 0)),
    width,
  );
  const quads = ([1, 2, 4, 8] as const).find((q) => 4 * q >= lanes)!;
  return { quads, rows: true, full: width === 4 * quads && (x * y * z) % width === 0, width, shared };
}

/** What is known of the program that the kernel is part of. */
export interface ProgramFacts {
  readonly bindings: Bindings;
  readonly addressSize: 32 | 64;
  readonly callables: CompiledFunctions;
  /** Bytes of stack that a lane may use. */
  readonly stackLimit: number;
  /** The shared variables, as addresses. */
  readonly shared: readonly Extent[];
  readonly sharedBytes: number;
  readonly constants: VariableFacts;
  readonly globals: VariableFacts;
}

/** Variables of the program. */
export interface VariableFacts {
  /** As addresses. */
  readonly extents: readonly Extent[];
  /** What is added to the low half of an address to get a byte of memory. */
  readonly delta: number;
}
