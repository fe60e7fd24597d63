import type { Instruction } from "../../ir/index.ts";
import { maskOf } from "../../ir/region.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { ChannelRule, GuardWord } from "../../machine/state/code.ts";
import type { DecodedFunction } from "./decoded-function.ts";

/** The guard and the lanes of an instruction, in terms of its function's registers. */
export function guardWord(code: DecodedFunction, { guard, lanes }: Instruction): GuardWord {
  const rule: ChannelRule | null =
    lanes === undefined && guard?.collapse === undefined
      ? null
      : {
          channels: lanes === undefined ? -1 : maskOf(lanes),
          always: lanes?.noMask === true ? -1 : 0,
          decider: lanes?.uniform === true ? lanes.first : null,
          collapse: guard?.collapse ?? null,
        };
  if (guard === null) return { guard: -1, flip: 0, rule };
  return { guard: code.file.slot(guard.register).base, flip: guard.negate ? -1 : 0, rule };
}

/** The lanes of a group that execute an instruction which does not move the group. */
export function lanesOf({ guard, flip, rule }: GuardWord, x: Activation, mask: number): number {
  if (rule === null) return guard < 0 ? mask : mask & (x.i32[guard]! ^ flip);
  const lanes = (mask | rule.always) & rule.channels;
  return guard < 0 ? lanes : lanes & (predicate(x.i32[guard]!, rule) ^ flip);
}

/** The lanes whose predicates decide about an instruction which does not move its group. */
export const guardedLanes = ({ rule }: GuardWord, mask: number): number =>
  rule === null ? mask : (mask | rule.always) & rule.channels;

/** The lanes whose predicates decide about an instruction that moves its group. */
export const moveDeciders = (word: GuardWord, mask: number): number => {
  const { rule } = word;
  if (rule === null) return mask;
  return rule.decider === null ? mask & rule.channels : 1 << rule.decider;
};

/** The lanes of a group that an instruction moves, always a part of the group. */
export function movedLanes(word: GuardWord, x: Activation, mask: number): number {
  const { guard, flip, rule } = word;
  if (rule === null) return guard < 0 ? mask : mask & (x.i32[guard]! ^ flip);
  if (rule.decider === null) return mask & lanesOf(word, x, mask);
  if (guard < 0) return mask;
  return (((predicate(x.i32[guard]!, rule) ^ flip) >>> rule.decider) & 1) === 0 ? 0 : mask;
}

/** The predicate's bits; where the rule asks for any or all of its channels, the same bit everywhere. */
function predicate(bits: number, { channels, collapse }: ChannelRule): number {
  if (collapse === null) return bits;
  const set = bits & channels;
  return (collapse === "any" ? set !== 0 : set === channels) ? -1 : 0;
}
