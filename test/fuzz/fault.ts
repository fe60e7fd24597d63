import { condition } from "./compute.ts";
import type { Scope } from "./scope.ts";

/** Some lanes do what ends the launch with a report, wherever they come by. */
export function fault(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const [at, value] = [text.temporary(64), text.temporary(32)];
  const end = text.label();
  if (random.chance(0.8)) text.add(`@${condition(scope)} bra ${end};`);
  text.add(`mov.b32 ${value}, ${text.register(32)};`);
  const stray = text.register(64);
  const cases = {
    null: () => text.add(`mov.u64 ${at}, 0;`, `ld.global.u32 ${value}, [${at}];`),
    stray: () => text.add(`ld.u32 ${value}, [${stray}];`),
    behind: () => text.add(`mad.wide.u32 ${at}, %gid, 65536, %own;`, `st.global.u32 [${at}+1048576], ${value};`),
    found: () => {
      text.add("st.global.u64 [%own], %own;", `ld.global.u64 ${at}, [%own];`);
      text.add(`mad.wide.u32 ${at}, %lane, ${random.pick([256, 65_536])}, ${at};`, `ld.global.u32 ${value}, [${at}];`);
    },
    misaligned: () => text.add(`mad.wide.u32 ${at}, %lane, 1, %own;`, `ld.global.u64 ${stray}, [${at}];`),
    shared: () => {
      text.add(`mov.u64 ${at}, ${module.shared("xf", 64)};`, `mad.wide.u32 ${at}, %lane, 4, ${at};`);
      text.add(`st.shared.u32 [${at}], ${value};`);
    },
    local: () =>
      text.add(`mov.u64 ${at}, loc;`, `mad.wide.s32 ${at}, ${value}, 4, ${at};`, `ld.local.u32 ${value}, [${at}];`),
    const: () => {
      text.add(`mov.u64 ${at}, ${module.table("const")};`, `mad.wide.s32 ${at}, ${value}, 4, ${at};`);
      text.add(`ld.const.u32 ${value}, [${at}];`);
    },
    call: () => {
      const prototype = text.label();
      text.add(`${prototype}: .callprototype _ ();`, `call ${stray}, (), ${prototype};`);
    },
    atomic: () => text.add(`atom.global.add.u32 ${value}, [%own+-65536], 1;`),
    index: () => {
      const list = text.label();
      text.add(`${list}: .branchtargets ${end};`, `brx.idx ${value}, ${list};`);
    },
    trap: () => text.add("trap;"),
  };
  cases[random.pick(Object.keys(cases) as (keyof typeof cases)[])]();
  text.place(end);
}
