import { registersIn } from "../../../ir/module.ts";
import { writesOf } from "../../../ir/flow/accesses.ts";
import { accessesOf, type IrFunction, type Op, symbolsOf, touchesSharedMemory } from "../../../ir/index.ts";
import type { Extent } from "../../../machine/memory/extent.ts";
import type { Program } from "../../../program/program.ts";
import { type Expr, everyLeaf } from "../../../semantics/index.ts";
import type { CompiledFunction } from "./compiled-functions.ts";

/** The shared memory that a kernel can find: the variables that it names, and whether that which the launch gives. */
export interface SharedUse {
  readonly variables: readonly Pick<Extent, "start" | "end">[];
  readonly ofLaunch: boolean;
}

/**
 * Finds the shared variables that functions of PTX name: a module has those of all its kernels, and addresses of the
 * others would have to be made up. Null where a function may do so.
 */
export function sharedUseOf(
  functions: readonly CompiledFunction[],
  { variables }: Pick<Program, "variables">,
): SharedUse | null {
  const names = new Set<string>();
  const isShared = (name: string): boolean => variables.get(name)?.variable.space === "shared";
  for (const { ir } of functions) {
    if (mayMakeUpAddresses(ir)) return null;
    for (const { op } of ir.instructions) symbolsOf(op, (name) => isShared(name) && names.add(name), new Set());
  }
  // What is computed from parameters alone may be an address, too.
  if (names.size === 0 && functions.some(({ ir }) => ir.instructions.some(({ op }) => accessesShared(op)))) return null;
  const named = [...names].map((name) => variables.get(name)!);
  return {
    variables: named.flatMap(({ variable, address }) =>
      variable.dynamicShared ? [] : [{ start: address, end: address + variable.size }],
    ),
    ofLaunch: named.some(({ variable }) => variable.dynamicShared),
  };
}

const accessesShared = (op: Op): boolean => accessesOf(op).some(({ access: { space } }) => space.startsWith("shared"));

/**
 * Whether a function may access shared memory at an address that is computed neither from that of a variable nor from
 * anything that it is given or loads.
 */
function mayMakeUpAddresses({ instructions, params }: IrFunction): boolean {
  const accesses = instructions.filter(({ op }) => mayAccessShared(op));
  if (accesses.length === 0) return false;
  if (accesses.some(({ op }) => op.kind === "unit" && touchesSharedMemory(op))) return true;
  const found = new Set(registersIn(params));
  const isFound = (expr: Expr): boolean =>
    !everyLeaf(expr, (leaf) => (leaf.kind === "reg" ? !found.has(leaf.reg) : !isGiven(leaf.kind)));
  for (let size = -1; size < found.size; ) {
    size = found.size;
    for (const instruction of instructions) {
      const { op } = instruction;
      if (op.kind !== "pure" || op.values.some(isFound)) writesOf(instruction, (r) => found.add(r));
    }
  }
  return accesses.some(({ op }) =>
    accessesOf(op).some(
      ({ access: { space }, place }) => mayBeShared(space) && (place.kind !== "address" || !isFound(place.address)),
    ),
  );
}

const mayBeShared = (space: string): boolean => space === "generic" || space.startsWith("shared");

const mayAccessShared = (op: Op): boolean =>
  (op.kind === "unit" && touchesSharedMemory(op)) || accessesOf(op).some(({ access: { space } }) => mayBeShared(space));

/** Whether a leaf is the address of a variable or a function. */
const isGiven = (kind: string): boolean => kind === "symbol" || kind === "frame";
