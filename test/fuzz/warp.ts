import type { Scope } from "./scope.ts";

/**
 * An operation of the lanes that are here: those that `activemask` names, which may be fewer than could be. Engines
 * order the groups of a warp alike, so that they agree on who is here.
 */
export function warpOperation(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const mask = text.temporary(32);
  const full = scope.converged && scope.module.threads % 32 === 0 && random.chance(0.5);
  text.add(full ? `mov.b32 ${mask}, -1;` : `activemask.b32 ${mask};`);
  const r = (): string => text.register(32);
  const p = (): string => `${random.chance(0.3) ? "!" : ""}${text.register(1)}`;
  const second = (): string => (random.chance(0.5) ? `|${text.register(1)}` : "");
  const operation = random.weighted({
    shfl: 6,
    vote: 3,
    ballot: 2,
    match: 2,
    redux: 3,
    reduxFloat: text.target.sm === 100 ? 1 : 0,
    elect: 1,
    sync: 1,
  });
  switch (operation) {
    case "shfl": {
      const mode = random.pick(["up", "down", "bfly", "idx"]);
      const lane = random.chance(0.6) ? `${random.below(32)}` : r();
      const clamp = random.pick([mode === "up" ? "0" : "31", "0x1f", "0x181c", "0x100f", "0x1c03", r()]);
      text.add(`shfl.sync.${mode}.b32 ${r()}${second()}, ${r()}, ${lane}, ${clamp}, ${mask};`);
      break;
    }
    case "vote":
      text.add(`vote.sync.${random.pick(["all", "any", "uni"])}.pred ${text.register(1)}, ${p()}, ${mask};`);
      break;
    case "ballot":
      text.add(`vote.sync.ballot.b32 ${r()}, ${p()}, ${mask};`);
      break;
    case "match": {
      const bits = random.pick([32, 64] as const);
      const all = random.chance(0.5);
      const value = random.chance(0.5) ? text.register(bits, true) : text.register(bits);
      text.add(`match.${all ? "all" : "any"}.sync.b${bits} ${r()}${all ? second() : ""}, ${value}, ${mask};`);
      break;
    }
    case "redux": {
      const bitwise = random.chance(0.4);
      const op = bitwise
        ? `${random.pick(["and", "or", "xor"])}.b32`
        : `${random.pick(["add", "min", "max"])}.${random.pick(["u32", "s32"])}`;
      text.add(`redux.sync.${op} ${r()}, ${r()}, ${mask};`);
      break;
    }
    case "reduxFloat": {
      const modifiers = `${random.chance(0.5) ? ".abs" : ""}${random.chance(0.5) ? ".NaN" : ""}`;
      text.add(`redux.sync.${random.pick(["min", "max"])}${modifiers}.f32 ${r()}, ${r()}, ${mask};`);
      break;
    }
    case "elect":
      text.add(`elect.sync ${r()}|${text.register(1)}, ${mask};`);
      break;
    case "sync":
      text.add(`bar.warp.sync ${mask};`, `mov.b32 ${r()}, ${mask};`);
  }
}
