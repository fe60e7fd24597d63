import { type Arrangement, fragmentOf, type MatrixProduct, type Op, warpName, type WarpOp } from "../../ir/index.ts";
import { fillLanes, lanesIn, lowestLane, unionOf } from "../../ir/lane-mask.ts";
import { emit } from "../../machine/events.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { productIn } from "../../program/exact-product.ts";
import { multiply } from "../../program/matrix-product.ts";
import { arrangeParts, lanesAlike, reduceLanes, shuffleSource, votePasses } from "../../program/warp-results.ts";
import { notAligned } from "../../program/instruction-faults.ts";
import { bitsOf } from "../../semantics/bind.ts";
import type { Expr } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { LaneFunction, Run } from "../compile/expr-compiler.ts";
import type { Slot } from "../compile/register-file.ts";

/** Lanes of one activation that take part in a warp-wide operation. */
export interface Part {
  readonly x: Activation;
  readonly mask: number;
  readonly code: WarpCode;
}

/** A warp-wide operation of one instruction. Instructions with the same `kind` can be executed together. */
export interface WarpCode {
  /** The operation with its qualifiers. */
  readonly kind: string;
  readonly prepare: Run;
  readonly operands: readonly Slot[];
  readonly to: readonly (Slot | null)[];
  readonly act: (parts: readonly Part[], named: number) => Int32Array | null;
}

export function decodeWarpOp(d: Decoding, op: WarpOp): WarpCode {
  return {
    kind: warpName(op),
    operands: op.operands.map((expr) => d.operands.slot(expr)),
    prepare: d.operands.prepare,
    to: d.results,
    act: actionOf(d, op),
  };
}

/** The forms without `.sync`, which take the group as it is. */
export function makeWarpStep(d: Decoding, op: Extract<Op, { kind: "warp" }>): Run {
  const code = decodeWarpOp(d, op.warp);
  return (x, mask) => {
    code.prepare(x, mask);
    const sources = code.act([{ x, mask, code }], mask);
    const { observers } = x.warp.cta.grid;
    const part = { activation: x, site: d.site, mask };
    if (observers !== null) emit(observers, "warp", { warp: x.warp, ...part, named: mask, parts: [part], sources });
  };
}

function actionOf(d: Decoding, op: WarpOp): WarpCode["act"] {
  switch (op.op) {
    case "shfl":
      return (parts) => shuffle(op.mode, parts);
    case "vote":
      return (parts) => vote(op.mode, parts);
    case "match":
      return (parts) => match(op.mode, parts);
    case "redux":
      return redux(d, op.operands[0], op.combine);
    case "elect":
      return elect;
    case "sync":
      return () => null;
    case "align":
      return alignment(d);
    case "arrange":
      return (parts) => arrange(op.arrangement, parts);
    case "multiply":
      return (parts) => multiplyMatrices(op.product, parts);
  }
}

const values = new BigInt64Array(32);
const halves = new Int32Array(values.buffer);
const sources = new Int32Array(32);

/** Reads the first operand of all lanes that take part into `values` (a 32-bit one into the low half). */
function readOperands(parts: readonly Part[]): void {
  halves.fill(0);
  for (const { x, mask, code } of parts) {
    const { class: size, base } = code.operands[0]!;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      if (size === "b64") values[lane] = x.i64[base + lane]!;
      else halves[lane * 2] = x.i32[base + lane]!;
    }
  }
}

/** Section 9.7.9.6. The value of a lane that does not take part is 0. */
function shuffle(mode: "up" | "down" | "bfly" | "idx", parts: readonly Part[]): Int32Array {
  readOperands(parts);
  for (const { x, mask, code } of parts) {
    const [value, inRange] = code.to;
    let valid = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const [, by, range] = code.operands;
      const source = shuffleSource(mode, lane, x.i32[by!.base + lane]!, x.i32[range!.base + lane]!);
      if (source >= 0) valid |= 1 << lane;
      const from = source < 0 ? lane : source;
      sources[lane] = from;
      if (value?.class === "b64") x.i64[value.base + lane] = values[from]!;
      else if (value) x.i32[value.base + lane] = halves[from * 2]!;
    }
    if (inRange) setPredicate(x, inRange, mask, valid);
  }
  return sources;
}

const setPredicate = (x: Activation, slot: Slot, mask: number, value: number): void => {
  x.i32[slot.base] = (x.i32[slot.base]! & ~mask) | (value & mask);
};

/** Section 9.7.13.9. */
function vote(mode: "all" | "any" | "uni" | "ballot", parts: readonly Part[]): null {
  const all = unionOf(parts);
  const ballot = parts.reduce((mask, { x, mask: lanes, code }) => mask | (x.i32[code.operands[0]!.base]! & lanes), 0);
  for (const { x, mask, code } of parts) {
    const [to] = code.to;
    if (!to) continue;
    if (mode === "ballot") fillLanes(x.i32, to.base, mask, ballot);
    else setPredicate(x, to, mask, votePasses(mode, ballot, all) ? -1 : 0);
  }
  return null;
}

/** Section 9.7.13.10. */
function match(mode: "any" | "all", parts: readonly Part[]): null {
  readOperands(parts);
  const all = unionOf(parts);
  const sameAs = (lane: number): number => lanesAlike(all, lane, (other) => values[other]!);
  const agree = sameAs(lowestLane(all)) === all;
  for (const { x, mask, code } of parts) {
    const [to, p] = code.to;
    if (to) {
      for (const lane of lanesIn(mask)) x.i32[to.base + lane] = mode === "any" ? sameAs(lane) : agree ? all : 0;
    }
    if (p) setPredicate(x, p, mask, agree ? -1 : 0);
  }
  return null;
}

/** Section 9.7.13.12. */
function redux(d: Decoding, a: Expr, combine: Expr): WarpCode["act"] {
  const expr = bitsOf(d.operands.bind(combine));
  const step: LaneFunction = d.program.compiler.lane(d.code.context, expr, d.operands.lanes);
  const wide = a.ty === "i64" || a.ty === "f64";
  return (parts) => {
    readOperands(parts);
    const { x: first } = parts[0]!;
    const total = reduceLanes(
      unionOf(parts),
      (lane) => (wide ? values[lane]! : halves[lane * 2]!),
      (lane, sum, value) => patternOf(expr.ty, step(first, lane, [sum, value])),
    );
    for (const { x, mask, code } of parts) {
      const [to] = code.to;
      if (!to) continue;
      for (const lane of lanesIn(mask)) {
        if (to.class === "b64") x.i64[to.base + lane] = total as bigint;
        else x.i32[to.base + lane] = total as number;
      }
    }
    return null;
  };
}

/** All lanes of the warp must be at this very instruction. */
function alignment({ site }: Decoding): WarpCode["act"] {
  const act: WarpCode["act"] = (parts) => {
    const here = parts.filter(({ code }) => code.act === act);
    const lanes = unionOf(here);
    if (lanes !== -1) throw notAligned({ site, activation: here[0]!.x, lanes });
    return null;
  };
  return act;
}

/** The operands and results of all lanes, by register and lane. */
const brought = new Int32Array(32 * 32);
const arranged = new Int32Array(32 * 32);
const wideWords = new BigInt64Array(brought.buffer);
const wideResults = new BigInt64Array(arranged.buffer);

/** All lanes are here: they have come together before. */
function arrange(arrangement: Arrangement, parts: readonly Part[]): null {
  const { x, code } = parts[0]!;
  code.operands.forEach(({ base }, i) => {
    brought.set(x.i32.subarray(base, base + 32), 32 * i);
  });
  arrangeParts(arrangement, brought, arranged);
  code.to.forEach((to, i) => {
    if (to !== null) x.i32.set(arranged.subarray(32 * i, 32 * i + 32), to.base);
  });
  return null;
}

/** All lanes are here: they have come together before. */
function multiplyMatrices(product: MatrixProduct, parts: readonly Part[]): null {
  const { x, code } = parts[0]!;
  let at = 0;
  for (const { class: size, base } of code.operands) {
    if (size === "b64") wideWords.set(x.i64.subarray(base, base + 32), at / 2);
    else brought.set(x.i32.subarray(base, base + 32), at);
    at += size === "b64" ? 64 : 32;
  }
  multiply(productIn(x.warp.cta.grid, product), brought, arranged);
  at = 0;
  const size = fragmentOf(product, "d").registerBits;
  for (const to of code.to) {
    if (to !== null && size === 64) x.i64.set(wideResults.subarray(at / 2, at / 2 + 32), to.base);
    else if (to !== null) x.i32.set(arranged.subarray(at, at + 32), to.base);
    at += size;
  }
  return null;
}

/** Section 9.7.13.14: the lowest lane. */
function elect(parts: readonly Part[]): null {
  const all = unionOf(parts);
  const leader = lowestLane(all);
  for (const { x, mask, code } of parts) {
    const [to, p] = code.to;
    if (to) fillLanes(x.i32, to.base, mask, leader);
    if (p) setPredicate(x, p, mask, 1 << leader);
  }
  return null;
}
