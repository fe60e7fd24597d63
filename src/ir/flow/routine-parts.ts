import type { Instruction, Op } from "../instruction.ts";
import type { IrFunction, Param } from "../module.ts";
import { retargeted } from "../retarget.ts";
import { readsOf, writesOf } from "./accesses.ts";
import { targetsOf } from "./flow-graph.ts";

/**
 * A vISA routine without its subroutines, or one of the subroutines: code that runs from its beginning until it
 * returns. The parameters of a subroutine are the registers that it shares with its callers, its results those that it
 * may write.
 */
export interface RoutinePart {
  readonly ir: IrFunction;
  /** By instruction, its index in the routine. */
  readonly origins: readonly number[];
  /** Whether other parts share its registers. */
  readonly isShared: boolean;
}

/** The instructions that lanes can reach from `start` before they return. */
interface Piece {
  readonly start: number;
  /** In ascending order. */
  readonly members: readonly number[];
  /** The first instructions of the subroutines that it calls. */
  readonly callees: ReadonlySet<number>;
  /** Registers that it or its callees read or write. */
  readonly touched: Set<number>;
  readonly written: Set<number>;
}

type SubroutineCall = Extract<Op, { kind: "subroutine-call" }>;

/** The parts of a routine, itself first. Calls name subroutines by number, counted from `first`. */
export function routineParts(ir: IrFunction, first: number): readonly RoutinePart[] {
  const { instructions } = ir;
  if (!instructions.some(({ op }) => op.kind === "subroutine-call")) {
    return [{ ir, origins: instructions.map((_, i) => i), isShared: false }];
  }
  const routine = pieceFrom(instructions, 0);
  const subroutines = new Map<number, Piece>();
  const found = new Set(routine.callees);
  for (const start of found) {
    const piece = pieceFrom(instructions, start);
    subroutines.set(start, piece);
    for (const callee of piece.callees) found.add(callee);
  }
  addCallees([routine, ...subroutines.values()], subroutines);
  const numbers = new Map([...subroutines.keys()].map((start, i) => [start, first + i]));
  const named = (op: SubroutineCall): SubroutineCall => {
    const registers = [...subroutines.get(op.target)!.touched];
    return { ...op, target: numbers.get(op.target)!, registers };
  };
  const part = (piece: Piece, { params, returns }: Pick<IrFunction, "params" | "returns">): RoutinePart => {
    const { code, origins } = codeOf(piece, instructions, named);
    return { ir: { ...ir, instructions: code, params, returns }, origins, isShared: true };
  };
  return [
    part(routine, ir),
    ...[...subroutines.values()].map((piece) =>
      part(piece, { params: passed(piece.touched), returns: passed(piece.written) }),
    ),
  ];
}

function pieceFrom(instructions: readonly Instruction[], start: number): Piece {
  const members = new Set<number>();
  const callees = new Set<number>();
  const [touched, written] = [new Set<number>(), new Set<number>()];
  const todo = [start];
  for (let i = todo.pop(); i !== undefined; i = todo.pop()) {
    const instruction = instructions[i];
    if (instruction === undefined || members.has(i)) continue;
    members.add(i);
    readsOf(instruction, { register: (r) => touched.add(r) });
    writesOf(instruction, (r) => {
      touched.add(r);
      written.add(r);
    });
    const { op } = instruction;
    if (op.kind === "subroutine-call") {
      callees.add(op.target);
      todo.push(i + 1);
    } else todo.push(...targetsOf(instruction, i + 1, instructions.length));
  }
  return { start, members: [...members].sort((a, b) => a - b), callees, touched, written };
}

/** Adds the registers of callees to those of their callers. */
function addCallees(pieces: readonly Piece[], subroutines: ReadonlyMap<number, Piece>): void {
  for (let changed = true; changed; ) {
    changed = false;
    for (const { callees, ...own } of pieces) {
      for (const callee of callees) {
        for (const list of ["touched", "written"] as const) {
          for (const r of subroutines.get(callee)![list]) {
            changed ||= !own[list].has(r);
            own[list].add(r);
          }
        }
      }
    }
  }
}

/** The instructions of a piece as a list of their own, in the order that decides which lanes run first. */
function codeOf(
  { start, members }: Piece,
  instructions: readonly Instruction[],
  named: (op: SubroutineCall) => SubroutineCall,
): { readonly code: readonly Instruction[]; readonly origins: readonly number[] } {
  const [lowest] = members;
  // An empty piece returns at once.
  if (lowest === undefined)
    return { code: [plain({ kind: "return", uniform: false }, instructions.at(-1)!)], origins: [0] };
  const ahead = lowest === start ? 0 : 1;
  const places = new Map(members.map((i, place) => [i, place + ahead]));
  const placeOf = (i: number): number => places.get(i) ?? members.length + ahead;
  const code = members.map((i): Instruction => {
    const instruction = instructions[i]!;
    const { op } = instruction;
    return op.kind === "subroutine-call" ? { ...instruction, op: named(op) } : retargeted(instruction, placeOf);
  });
  if (ahead === 0) return { code, origins: members };
  const entry = plain({ kind: "branch", target: placeOf(start), uniform: false }, instructions[start]!);
  return { code: [entry, ...code], origins: [start, ...members] };
}

/** An unguarded operation with the position of an instruction. */
const plain = (op: Op, { span, location }: Instruction): Instruction => ({
  guard: null,
  op,
  dst: [],
  undefinedCases: [],
  span,
  location,
});

/** The registers that a subroutine shares with its callers, as one parameter. */
function passed(registers: ReadonlySet<number>): readonly Param[] {
  const type = { kind: "b", size: 0, align: 1, unsized: false } as const;
  return registers.size === 0 ? [] : [{ name: "", type, storage: { kind: "register", registers: [...registers] } }];
}
