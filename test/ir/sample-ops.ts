import {
  type Access,
  atAddress,
  type MatrixProduct,
  type Op,
  type OpOf,
  type Place,
  rowsToFragments,
  type WarpOp,
} from "../../src/ir/index.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";

const access = (space: Access["space"], how: Partial<Access> = {}): Access => ({
  space,
  bits: 32,
  signed: false,
  count: 1,
  align: 4,
  volatile: false,
  order: "weak",
  scope: null,
  ...how,
});

let registers = 0;
/** An expression that is like no other. */
const fresh = (): Expr => ({ kind: "reg", ty: "i32", reg: registers++ });
const old = (index: number): Expr => ({ kind: "old", ty: "i32", index });
const there = (): Place => atAddress(fresh());
const inSurface = (): Place => ({ kind: "surface", offset: fresh(), surface: fresh() });

const product: MatrixProduct = {
  m: 8,
  n: 8,
  k: 16,
  a: "s8",
  b: "s8",
  c: "s32",
  d: "s32",
  bits: 8,
  rule: { kind: "integer", saturates: false },
  fragments: { kind: "whole" },
};

const warpOps: { readonly [K in WarpOp["op"]]: readonly Extract<WarpOp, { op: K }>[] } = {
  shfl: (["up", "down", "bfly", "idx"] as const).map((mode) => ({
    op: "shfl",
    mode,
    operands: [fresh(), fresh(), fresh()],
  })),
  vote: (["all", "any", "uni", "ballot"] as const).map((mode) => ({ op: "vote", mode, operands: [fresh()] })),
  match: (["any", "all"] as const).map((mode) => ({ op: "match", mode, operands: [fresh()] })),
  redux: [{ op: "redux", operands: [fresh()], combine: kit.add(old(0), old(1)) }],
  elect: [{ op: "elect", operands: [] }],
  sync: [{ op: "sync", operands: [] }],
  align: [{ op: "align", operands: [] }],
  arrange: [{ op: "arrange", operands: [fresh(), fresh(), fresh(), fresh()], arrangement: rowsToFragments(4, false) }],
  multiply: [{ op: "multiply", operands: [fresh(), fresh(), fresh()], product }],
};

const barrier = (how: Partial<OpOf<"barrier">> = {}): OpOf<"barrier"> => ({
  kind: "barrier",
  mode: "sync",
  id: kit.i32(0),
  count: null,
  aligned: true,
  reduce: null,
  ...how,
});

const call = (how: Partial<OpOf<"call">>): OpOf<"call"> => ({
  kind: "call",
  target: { kind: "direct", function: "f" },
  args: [],
  results: [],
  uniform: false,
  ...how,
});

/** Operations of every kind, in ways that may matter to their traits. Branches go to the instructions 0 and 1. */
export const samples: { readonly [K in Op["kind"]]: readonly OpOf<K>[] } = {
  pure: [{ kind: "pure", values: [fresh(), kit.add(fresh(), fresh())] }],
  load: [
    { kind: "load", access: access("global"), place: there() },
    { kind: "load", access: access("local"), place: there() },
    { kind: "load", access: access("global", { order: "acquire", scope: "gpu" }), place: there() },
    { kind: "load", access: access("generic", { order: "relaxed", volatile: true }), place: there() },
    { kind: "load", access: access("global"), place: inSurface() },
  ],
  store: [
    { kind: "store", access: access("shared", { count: 2 }), place: there(), values: [fresh(), null] },
    { kind: "store", access: access("call-param"), place: there(), values: [fresh()] },
    { kind: "store", access: access("global"), place: inSurface(), values: [fresh()] },
  ],
  atomic: [
    { kind: "atomic", access: access("global"), place: there(), combine: [kit.add(old(0), fresh())] },
    {
      kind: "atomic",
      access: access("shared"),
      place: there(),
      combine: [kit.add(old(0), fresh())],
      results: [kit.add(old(0), fresh())],
      problem: { number: kit.add(old(0), fresh()), reports: [{ code: "trap", message: "x" }] },
    },
    { kind: "atomic", access: access("global"), place: inSurface(), combine: [kit.add(old(0), fresh())] },
  ],
  unit: [
    {
      kind: "unit",
      unit: {
        ...{ op: "bulk-copy", from: "shared", to: "global", completion: "group" },
        ...{ reduction: null, multicast: false },
      },
      operands: [fresh(), fresh(), fresh(), fresh(), fresh(), fresh()],
    },
  ],
  copy: [
    {
      kind: "copy",
      from: { access: access("global"), place: there() },
      to: { access: access("shared"), place: there() },
      size: null,
      whole: false,
    },
    {
      kind: "copy",
      from: { access: access("global", { count: 4, align: 16 }), place: there() },
      to: { access: access("shared", { count: 4, align: 16 }), place: there() },
      size: fresh(),
      whole: true,
    },
  ],
  "commit-copies": [{ kind: "commit-copies", bulk: false }],
  "order-products": [
    { kind: "order-products", step: "fence" },
    { kind: "order-products", step: "wait", pending: 1 },
  ],
  "await-copies": [{ kind: "await-copies", pending: 1, all: false, bulk: false, read: false }],
  warp: Object.values(warpOps)
    .flat()
    .flatMap((warp): OpOf<"warp">[] => [
      { kind: "warp", mask: fresh(), warp, aligned: false },
      { kind: "warp", mask: null, warp, aligned: false },
    ]),
  activemask: [{ kind: "activemask" }],
  barrier: [
    barrier(),
    barrier({ mode: "arrive", count: fresh() }),
    barrier({ id: fresh(), aligned: false }),
    barrier({ mode: "red", reduce: { op: "popc", a: fresh() } }),
    barrier({ mode: "wait" }),
  ],
  "cluster-barrier": [
    { kind: "cluster-barrier", mode: "arrive", aligned: true, order: "release" },
    { kind: "cluster-barrier", mode: "wait", aligned: true, order: "acquire" },
  ],
  "cluster-poll": [{ kind: "cluster-poll", asks: "passed" }],
  fence: [{ kind: "fence", scope: "gpu", order: "sc" }],
  branch: [{ kind: "branch", target: 0, uniform: false }],
  "branch-indexed": [{ kind: "branch-indexed", index: fresh(), targets: [1, 0], uniform: false }],
  call: [
    call({
      args: [
        { kind: "value", value: fresh(), bits: 32 },
        { kind: "frame", variable: 0, size: 8 },
        { kind: "pair", low: fresh(), high: fresh() },
        { kind: "vector", elements: [fresh(), fresh()] },
      ],
    }),
    call({
      target: {
        kind: "indirect",
        address: fresh(),
        signature: { returns: [], params: [] },
        targets: ["f"],
        via: "prototype",
      },
    }),
  ],
  "file-call": [
    {
      kind: "file-call",
      target: { kind: "direct", function: "f" },
      argSize: 0,
      retvalSize: 0,
      allLanes: false,
    },
    { kind: "file-call", target: { kind: "indirect", address: fresh() }, argSize: 1, retvalSize: 1, allLanes: true },
  ],
  "subroutine-call": [
    { kind: "subroutine-call", target: 0, allLanes: false },
    { kind: "subroutine-call", target: 7, allLanes: true, registers: [1, 2] },
  ],
  return: [{ kind: "return", uniform: false }],
  exit: [{ kind: "exit" }],
  trap: [{ kind: "trap" }],
  breakpoint: [{ kind: "breakpoint" }],
  alloca: [{ kind: "alloca", size: fresh(), align: 8 }],
  "stack-save": [{ kind: "stack-save" }],
  "stack-restore": [{ kind: "stack-restore", value: fresh() }],
  sleep: [{ kind: "sleep", nanoseconds: fresh() }],
  nothing: [{ kind: "nothing" }],
  unsupported: [{ kind: "unsupported", what: "x", reason: "y" }],
};

export const allSamples: readonly Op[] = Object.values(samples).flat();
