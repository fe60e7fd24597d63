import { describe, expect, test } from "vitest";
import { blockStartsOf, flowGraphOf, targetsOf } from "../../src/ir/flow/flow-graph.ts";
import {
  accessesOf,
  type Control,
  controlOf,
  endingOp,
  endsBlock,
  failingOp,
  hasEffect,
  hasOperands,
  type Instruction,
  isLanewise,
  mayAwaitOthers,
  movesGroup,
  movingOp,
  type Op,
  onlyComputes,
  operandsOf,
  opTraits,
  stayingOp,
  touchesSharedMemory,
  traitOf,
  warpName,
  writesMemory,
} from "../../src/ir/index.ts";
import { retargeted } from "../../src/ir/retarget.ts";
import { warpWaitKinds } from "../../src/jit/abi/warp-wait-layout.ts";
import { allSamples, samples } from "./sample-ops.ts";

type Kind = Op["kind"];

const kinds = Object.keys(opTraits) as Kind[];

/** The kinds of which a question holds for every sample, and for some. */
function kindsWhere(holds: (op: Op) => boolean): { readonly all: readonly Kind[]; readonly some: readonly Kind[] } {
  const all = kinds.filter((kind) => samples[kind].every(holds));
  const some = kinds.filter((kind) => !all.includes(kind) && samples[kind].some(holds));
  return { all: all.sort(), some: some.sort() };
}

const sorted = (...list: Kind[]): Kind[] => list.sort();

// From the descriptions of the kinds in src/ir/instruction.ts.
describe("questions, kind by kind", () => {
  const questions: readonly (readonly [string, (op: Op) => boolean, Kind[], Kind[]])[] = [
    [
      "ends a basic block",
      endsBlock,
      ["branch", "branch-indexed", "subroutine-call", "return", "exit", "trap", "barrier", "sleep"],
      ["warp", "cluster-barrier"],
    ],
    [
      "moves the group",
      movesGroup,
      ["branch", "branch-indexed", "call", "file-call", "subroutine-call", "return", "exit", "barrier", "sleep"],
      ["warp", "cluster-barrier"],
    ],
    [
      "leaves the group where it is",
      (op) => stayingOp(op) !== null,
      [
        "pure",
        "load",
        "store",
        "atomic",
        "copy",
        "commit-copies",
        "await-copies",
        "order-products",
        "activemask",
        "cluster-poll",
        "fence",
        "trap",
        "breakpoint",
        "alloca",
        "stack-save",
        "stack-restore",
        "nothing",
        "unit",
        "unsupported",
      ],
      ["warp", "cluster-barrier"],
    ],
    ["touches shared memory", touchesSharedMemory, ["atomic", "copy"], ["load", "store"]],
    ["writes memory", writesMemory, ["store", "atomic", "copy"], []],
    [
      "has an effect",
      hasEffect,
      kinds.filter(
        (k) =>
          !["pure", "load", "activemask", "nothing", "fence", "sleep", "breakpoint"].includes(k) &&
          !["commit-copies", "await-copies", "order-products"].includes(k),
      ),
      [],
    ],
    [
      "only computes",
      onlyComputes,
      ["pure", "commit-copies", "order-products", "branch", "branch-indexed", "return", "exit", "nothing"],
      [],
    ],
    [
      "is done lane by lane",
      isLanewise,
      ["pure", "load", "store", "copy", "commit-copies", "order-products", "nothing"],
      [],
    ],
    ["may await others", mayAwaitOthers, ["atomic", "cluster-poll", "sleep"], ["load"]],
    ["may suspend", (op) => traitOf(op, "suspends"), ["barrier", "sleep"], ["warp", "cluster-barrier"]],
    [
      "may fail",
      (op) => traitOf(op, "faults"),
      [
        "load",
        "store",
        "atomic",
        "copy",
        "barrier",
        "cluster-barrier",
        "cluster-poll",
        "branch-indexed",
        "call",
        "file-call",
        "subroutine-call",
        "trap",
        "alloca",
        "unit",
        "unsupported",
      ],
      ["warp"],
    ],
    [
      "depends on the lanes that act together",
      (op) => traitOf(op, "warp"),
      ["warp", "activemask"],
      ["barrier", "file-call", "subroutine-call"],
    ],
    ["uses the stack", (op) => traitOf(op, "stack"), ["alloca", "stack-save", "stack-restore"], []],
  ];

  test("what narrows the type of an operation agrees with what asks", () => {
    for (const op of allSamples) {
      expect([op.kind, movingOp(op)]).toEqual([op.kind, movesGroup(op) ? op : null]);
      expect([op.kind, endingOp(op)]).toEqual([op.kind, endsBlock(op) ? op : null]);
      expect([op.kind, failingOp(op)]).toEqual([op.kind, traitOf(op, "faults") ? op : null]);
      const reads = samples[op.kind].some((sample) => operandsOf(sample).length > 0);
      expect([op.kind, hasOperands(op)]).toEqual([op.kind, reads]);
    }
  });

  test.each(questions)("%s", (_, holds, all, some) => {
    expect(kindsWhere(holds)).toEqual({ all: sorted(...all), some: sorted(...some) });
  });
});

test("a warp-wide operation ends a block where it waits for a member mask, and only there", () => {
  for (const op of samples.warp) expect([op.warp.op, endsBlock(op)]).toEqual([op.warp.op, op.mask !== null]);
});

test("loads that are meant to see the writes of others", () => {
  expect(samples.load.map(mayAwaitOthers)).toEqual([false, false, true, true, false]);
  expect(samples.load.map(touchesSharedMemory)).toEqual([true, false, true, true, true]);
  expect(samples.store.map(touchesSharedMemory)).toEqual([true, false, true]);
});

test("the accesses of an instruction are numbered from 0", () => {
  for (const op of allSamples) expect(accessesOf(op).map(({ ordinal }) => ordinal)).toEqual([...accessesOf(op).keys()]);
});

test("an access has what its operation says", () => {
  for (const op of [...samples.load, ...samples.store, ...samples.atomic]) {
    const { kind: effect, ...rest } = op;
    // What an atomic operation returns, and what can be wrong with it, is no part of the access.
    const { results: _, problem: __, ...made } = { results: undefined, problem: undefined, ...rest };
    expect(accessesOf(op)).toEqual([{ ordinal: 0, effect, ...made }]);
  }
});

const instruction = (op: Op, guarded = false): Instruction => ({
  guard: guarded ? { register: 0, negate: false } : null,
  op,
  dst: [],
  undefinedCases: [],
  span: { start: 0, end: 0 },
  location: null,
});

const between = (op: Op, guarded: boolean): readonly Instruction[] =>
  [{ kind: "nothing" } as const, op, { kind: "nothing" } as const, { kind: "return", uniform: false } as const].map(
    (o, i) => instruction(o, i === 1 && guarded),
  );

/** Where lanes for which an instruction is not executed go besides. */
const through: Readonly<Record<Control, "always" | "guarded">> = {
  next: "always",
  call: "always",
  subroutine: "always",
  split: "always",
  branch: "guarded",
  leave: "guarded",
  stop: "guarded",
};

test.each([false, true])("the flow graph has blocks and edges as the traits say (guarded: %s)", (guarded) => {
  for (const op of allSamples) {
    const code = between(op, guarded);
    const { blocks, blockAt } = flowGraphOf(code);
    const isTarget = traitOf(op, "targets").includes(2);
    expect([op.kind, blocks.some(({ start }) => start === 2)]).toEqual([op.kind, endsBlock(op) || isTarget]);
    const next = targetsOf(code[1]!, 2, code.length);
    const goesOn = through[controlOf(op)] === "always" || guarded;
    expect([op.kind, next.includes(2)]).toEqual([op.kind, goesOn]);
    for (const target of traitOf(op, "targets")) expect(next).toContain(target);
    expect(next.includes(code.length)).toBe(controlOf(op) === "leave" || controlOf(op) === "stop");
    const block = blocks[blockAt(1)]!;
    if (block.end === 2) for (const to of next) expect(block.successors).toContain(blockAt(to));
  }
});

test("blocks may begin and end where an engine wants them to", () => {
  const code = [...allSamples.slice(0, 10), { kind: "nothing" } as const].map((op) => instruction(op));
  const never = (): boolean => false;
  expect(blockStartsOf(code, never, never)).toEqual([0]);
  expect(blockStartsOf(code, (_, i) => i === 3, never)).toEqual([0, 4]);
  expect(blockStartsOf(code, never, (_, i) => i === 3)).toEqual([0, 3]);
  expect(blockStartsOf(code, never, ({ op }) => touchesSharedMemory(op))).toEqual(
    code.flatMap(({ op }, i) => (i === 0 || touchesSharedMemory(op) ? [i] : [])),
  );
  // What comes after the last instruction is no block.
  expect(blockStartsOf(code, (_, i) => i === code.length - 1, never)).toEqual([0]);
});

test("the targets that an operation names are those that are replaced", () => {
  for (const op of allSamples) {
    const moved = retargeted(instruction(op), (target) => target + 10).op;
    expect(traitOf(moved, "targets")).toEqual(traitOf(op, "targets").map((target) => target + 10));
    if (traitOf(op, "targets").length === 0) expect(moved).toEqual(op);
  }
});

test("warp-wide operations have the names by which they meet", () => {
  const names = new Set(samples.warp.map(({ warp }) => warpName(warp)));
  expect([...names]).toEqual([...warpWaitKinds, "arrange", "multiply"]);
});
