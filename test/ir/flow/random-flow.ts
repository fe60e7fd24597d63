import fc from "fast-check";
import type { Instruction, Op } from "../../../src/ir/index.ts";
import { type Expr, kit } from "../../../src/semantics/index.ts";

/** Registers of random code. */
export const registerCount = 5;

const kinds = [
  "pure",
  "pure",
  "pure",
  "branch",
  "branch",
  "branch",
  "branch-indexed",
  "return",
  "exit",
  "trap",
  "sleep",
];

const choice = fc.record({
  kind: fc.constantFrom(...kinds),
  guard: fc.option(fc.nat(registerCount - 1)),
  reads: fc.array(fc.nat(registerCount - 1), { maxLength: 2 }),
  writes: fc.nat(registerCount - 1),
  targets: fc.array(fc.nat(1000), { minLength: 1, maxLength: 3 }),
});

const sumOf = (registers: readonly number[]): Expr =>
  registers.reduce<Expr>((sum, reg) => kit.add(sum, { kind: "reg", ty: "i32", reg }), kit.i32(1));

/** Random code in which anything may branch anywhere, also to its end. */
export const randomCode = (most: number): fc.Arbitrary<readonly Instruction[]> =>
  fc.array(choice, { minLength: 1, maxLength: most }).map((list) =>
    list.map(({ kind, guard, reads, writes, targets }): Instruction => {
      const [first = 0, ...others] = targets.map((t) => t % (list.length + 1));
      const ops: Record<string, Op> = {
        pure: { kind: "pure", values: [sumOf(reads)] },
        branch: { kind: "branch", target: first, uniform: false },
        "branch-indexed": { kind: "branch-indexed", index: sumOf(reads), targets: [first, ...others], uniform: false },
        return: { kind: "return", uniform: false },
        exit: { kind: "exit" },
        trap: { kind: "trap" },
        sleep: { kind: "sleep", nanoseconds: sumOf(reads) },
      };
      return {
        op: ops[kind]!,
        guard: guard === null ? null : { register: guard, negate: false },
        dst: kind === "pure" ? [writes] : [],
        undefinedCases: [],
        span: { start: 0, end: 0 },
        location: null,
      };
    }),
  );

/** Where a lane may be after an instruction, as the page on the IR says; the length of the list is the end. */
export function nextOf(code: readonly Instruction[], at: number): readonly number[] {
  const { op, guard } = code[at]!;
  const next = new Set<number>();
  const stays = op.kind === "pure" || op.kind === "sleep";
  if (stays || guard !== null) next.add(at + 1);
  if (op.kind === "branch") next.add(op.target);
  if (op.kind === "branch-indexed") for (const target of op.targets) next.add(target);
  if (op.kind === "return" || op.kind === "exit" || op.kind === "trap") next.add(code.length);
  return [...next].sort((a, b) => a - b);
}

/** What `root` leads to, itself included, on ways that `without` is not on. */
export function reachable(root: number, next: (x: number) => readonly number[], without = -1): ReadonlySet<number> {
  const seen = new Set(root === without ? [] : [root]);
  for (const x of seen) for (const s of next(x)) if (s !== without) seen.add(s);
  return seen;
}

/** As many runs as a second allows, and the same each time. */
export const runs = { seed: 20, numRuns: 600 };
