import { type Access, windows } from "../../ir/index.ts";
import type { Lanes } from "../../ir/region.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { LastExtent } from "./last-extent.ts";
import { laneLoop } from "./loop-compiler.ts";
import type { AddressOperand } from "./operand.ts";
import type { Slot } from "./register-file.ts";

/** Accesses memory in the lanes whose address is within the last extent, and returns the other lanes. */
export type FastPath = (x: Activation, mask: number, last: LastExtent) => number;

/** The register of an element; null for one that is dropped. */
export type FastTarget = Slot | null;

type Maker = (...operands: readonly number[]) => FastPath;
const makers = new Map<string, Maker>();

/** Makes the loop for one kind of access. The loop compiler says why it is made from text. */
export function fastPath(
  effect: "load" | "store",
  access: Access,
  address: AddressOperand,
  elements: readonly FastTarget[],
  lanes: Lanes | null,
): FastPath {
  const operands: number[] = [];
  const operand = (value: number): string => `k${operands.push(value) - 1}`;
  const lane = address.slot === null ? uniformAddress(access, address, operand) : laneAddress(access, address, operand);
  const moves = elements.map((slot, e) =>
    slot === null ? "" : (effect === "load" ? load : store)(access, slot, operand(slot.base), e),
  );
  const text =
    `(x, mask, c) => { const I = x.i32, M = c.views.${viewOf(access)}, stride = c.stride; ${lane.before} ` +
    `let rest = 0; ${laneLoop(`${lane.position} ${moves.join(" ")}`, lanes)} return rest; }`;
  const source = `return (${operands.map((_, i) => `k${i}`).join(",")}) => ${text}`;
  let maker = makers.get(source);
  if (maker === undefined) {
    maker = new Function(source)() as Maker;
    makers.set(source, maker);
  }
  return maker(...operands);
}

interface LanePosition {
  /** Statements before all lanes. */
  readonly before: string;
  /** Sets `p`, the byte that the lane accesses, or goes on to the next lane. */
  readonly position: string;
}

/** Code for an address that is the same in all lanes and checked once. */
function uniformAddress(
  access: Access,
  { offset, high, inFrame }: AddressOperand,
  operand: (value: number) => string,
): LanePosition {
  const low = operand(inFrame ? windows.local.start + offset : offset | 0);
  const before =
    `const r = (${low} ${inFrame ? "+ x.base " : ""}- c.from) >>> 0, p0 = r + c.at | 0; ` +
    `if (r > c.span || c.high !== ${operand(high | 0)} || (p0 & ${natural(access) - 1}) !== 0) return mask;`;
  return { before, position: "const p = p0 + Math.imul(i, stride) | 0;" };
}

/** Code for addresses in a register, checked lane by lane. */
function laneAddress(access: Access, { slot }: AddressOperand, operand: (value: number) => string): LanePosition {
  const base = operand(slot!.base);
  const wide = slot!.class === "b64";
  const low = wide ? `I[2 * (${base} + i)]` : `I[${base} + i]`;
  const high = wide ? `I[2 * (${base} + i) + 1] !== high` : "high !== 0";
  return {
    before: "const from = c.from, span = c.span, at = c.at, high = c.high;",
    position:
      `const r = (${low} - from) >>> 0, q = r + at | 0; ` +
      `if (r > span || ${high} || (q & ${natural(access) - 1}) !== 0) { rest |= 1 << i; continue; } ` +
      "const p = q + Math.imul(i, stride) | 0;",
  };
}

/**
 * Alignment that the loop requires: elements that are not aligned, where the access allows them, take the slow path.
 */
const natural = ({ align, bits }: Access): number => Math.max(align, bits / 8);

/** 64-bit elements are moved as two halves: that needs no BigInt. */
const viewOf = ({ bits, signed }: Access): string => (bits >= 32 ? "i32" : `${signed ? "i" : "u"}${bits}`);

function load({ bits, signed }: Access, slot: Slot, base: string, element: number): string {
  if (bits === 64) {
    const at = `(p >>> 2) + ${element * 2}`;
    return slot.class === "b64"
      ? `I[2 * (${base} + i)] = M[${at}]; I[2 * (${base} + i) + 1] = M[${at} + 1];`
      : `I[${base} + i] = M[${at}];`;
  }
  const value = `M[(p >>> ${Math.log2(bits / 8)}) + ${element}]`;
  if (slot.class === "b32") return `I[${base} + i] = ${value}${slot.bits < 32 ? ` & ${2 ** slot.bits - 1}` : ""};`;
  return `{ const v = ${value}; I[2 * (${base} + i)] = v; I[2 * (${base} + i) + 1] = ${signed ? "v >> 31" : "0"}; }`;
}

function store({ bits }: Access, slot: Slot, base: string, element: number): string {
  const low = slot.class === "b64" ? `I[2 * (${base} + i)]` : `I[${base} + i]`;
  if (bits < 64) return `M[(p >>> ${Math.log2(bits / 8)}) + ${element}] = ${low};`;
  const at = `(p >>> 2) + ${element * 2}`;
  return `M[${at}] = ${low}; M[${at} + 1] = I[2 * (${base} + i) + 1];`;
}
