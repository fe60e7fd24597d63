import type { WarpOp } from "../../ir/index.ts";
import { eachLane, lanesWhere, lowestLane } from "../../ir/lane-mask.ts";
import type { Site } from "../../machine/state/code.ts";
import type { FaultPlace } from "../../machine/faults/fault.ts";
import { notAligned } from "../../program/instruction-faults.ts";
import { oldValue } from "../../program/old-value.ts";
import { lanesAlike, reduceLanes, shuffleSource, votePasses } from "../../program/warp-results.ts";
import { bind, type Bindings, bitsOf } from "../../semantics/bind.ts";
import { type Expr, fold, type LeafValue, type Value } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";
import { warpWait } from "../abi/warp-wait-layout.ts";

/** A warp's memory, as an action reads and writes it. */
interface LaneWords {
  lane(at: number, lane: number): number;
  setLane(at: number, lane: number, value: number): void;
}

/** A warp-wide operation on operands that lanes have left in memory, where they will fetch the results. */
export class WarpAction {
  readonly #op: WarpOp;
  readonly #place: () => Omit<FaultPlace, "lanes">;
  /** Whether operand `a` has 64 bits. */
  readonly #isWide: boolean;
  readonly #combine: Expr | null;

  /** `place`: where the operation stands, for a fault. */
  constructor({ instruction: { op } }: Site, bindings: Bindings, place: () => Omit<FaultPlace, "lanes">) {
    if (op.kind !== "warp") throw new Error(`${op.kind} is not a warp-wide operation`);
    this.#op = op.warp;
    this.#place = place;
    const [first] = op.warp.operands;
    this.#isWide = first !== undefined && (first.ty === "i64" || first.ty === "f64");
    this.#combine = op.warp.op === "redux" ? bitsOf(bind(op.warp.combine, bindings)) : null;
  }

  /** Performs the operation for all lanes of a mask together. */
  perform(words: LaneWords, lanes: number): void {
    const op = this.#op;
    switch (op.op) {
      case "shfl":
        this.#shuffle(op.mode, words, lanes);
        break;
      case "vote":
        fill(words, warpWait.first, lanes, vote(op.mode, words, lanes));
        break;
      case "match":
        this.#match(op.mode, words, lanes);
        break;
      case "redux":
        fill(words, warpWait.first, lanes, this.#reduce(words, lanes));
        break;
      case "elect":
        elect(words, lanes);
        break;
      case "sync":
        break;
      case "align":
        requireAll(words, lanes, this.#place);
        break;
      case "arrange":
      case "multiply":
        throw new Error("lanes wait at `align`, not at what comes after it");
      default:
        op satisfies never;
    }
  }

  /** A lane that does not take part gives 0. */
  #shuffle(mode: Extract<WarpOp, { op: "shfl" }>["mode"], words: LaneWords, lanes: number): void {
    eachLane(lanes, (lane) => {
      const source = shuffleSource(mode, lane, words.lane(warpWait.b, lane), words.lane(warpWait.c, lane));
      const from = source < 0 ? lane : source;
      words.setLane(warpWait.first, lane, (lanes & (1 << from)) === 0 ? 0 : words.lane(warpWait.a, from));
      words.setLane(warpWait.second, lane, source < 0 ? 0 : -1);
    });
  }

  #match(mode: "any" | "all", words: LaneWords, lanes: number): void {
    const alike = (lane: number): number => lanesAlike(lanes, lane, this.#operand(words));
    const agree = alike(lowestLane(lanes)) === lanes;
    eachLane(lanes, (lane) => {
      words.setLane(warpWait.first, lane, mode === "any" ? alike(lane) : agree ? lanes : 0);
      words.setLane(warpWait.second, lane, agree ? -1 : 0);
    });
  }

  /** What reads operand `a` of a lane. */
  #operand(words: LaneWords): (lane: number) => number | bigint {
    if (!this.#isWide) return (lane) => words.lane(warpWait.a, lane);
    const half = (lane: number, i: 0 | 1): bigint => BigInt(words.lane(warpWait.a, 2 * lane + i));
    return (lane) => (half(lane, 1) << 32n) | BigInt.asUintN(32, half(lane, 0));
  }

  #reduce(words: LaneWords, lanes: number): number {
    const total = reduceLanes(lanes, this.#operand(words), (_, sum, value) => this.#step(sum, value));
    return Number(BigInt.asIntN(32, BigInt(total)));
  }

  #step(...values: readonly Value[]): Value {
    const combine = this.#combine!;
    const leaf: LeafValue = (leaf) => {
      if (leaf.kind !== "old") throw new Error(`a reduction cannot read ${leaf.kind}`);
      return oldValue(leaf.ty, values[leaf.index]!);
    };
    return patternOf(combine.ty, fold(combine, leaf));
  }
}

/** Throws unless the lanes are all of the warp, and wait at one instruction. */
function requireAll(words: LaneWords, lanes: number, place: () => Omit<FaultPlace, "lanes">): void {
  const site = words.lane(warpWait.sites, lowestLane(lanes));
  const here = lanesWhere(lanes, (lane) => words.lane(warpWait.sites, lane) === site);
  if (here !== -1) throw notAligned({ ...place(), lanes: here });
}

type VoteMode = Extract<WarpOp, { op: "vote" }>["mode"];

/** The ballot, or a predicate as a word of ones or zeros. */
function vote(mode: VoteMode, words: LaneWords, lanes: number): number {
  const votes = lanesWhere(lanes, (lane) => ((words.lane(warpWait.a, lane) >>> lane) & 1) !== 0);
  if (mode === "ballot") return votes;
  return votePasses(mode, votes, lanes) ? -1 : 0;
}

function elect(words: LaneWords, lanes: number): void {
  const leader = lowestLane(lanes);
  fill(words, warpWait.first, lanes, leader);
  eachLane(lanes, (lane) => words.setLane(warpWait.second, lane, lane === leader ? -1 : 0));
}

function fill(words: LaneWords, at: number, lanes: number, value: number): void {
  eachLane(lanes, (lane) => words.setLane(at, lane, value));
}
