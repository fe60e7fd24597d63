import type { Scope } from "./scope.ts";

// Steps of eliminations in shared memory: in each, some rows and columns take part, as the number of the step says.

/** The rows and columns of a warp's lanes, words from one row to the next, and words of each warp. */
const [rows, columns, pitch, words] = [4, 8, 9, 64];

/** A rectangle of each warp, of which lanes update what lies beyond a step's row and column, or at them. */
export function elimination({ text, module }: Scope): void {
  const { random } = text;
  const start = text.computed("mov.u32", module.shared("el", 4 * words * module.warps));
  const warp = text.computed("shr.u32", "%lt", 5);
  const base = text.computed("mad.lo.u32", warp, 4 * words, start);
  const lane = text.computed("and.b32", "%lt", 31);
  const [row, column] = [text.computed("shr.u32", lane, 3), text.computed("and.b32", lane, columns - 1)];
  const ofRow = text.computed("mad.lo.u32", row, 4 * pitch, base);
  const ofColumn = text.computed("mad.lo.u32", column, 4, base);
  const own = text.computed("mad.lo.u32", column, 4, ofRow);
  const first = text.computed("mad.lo.u32", lane, 4, base);
  text.add(`st.shared.b32 [${first}], ${text.register(32)};`, `st.shared.b32 [${first}+128], ${text.register(32)};`);
  const [step, again] = [text.temporary(32), text.temporary(1)];
  const [top, next] = [text.label(), text.label()];
  text.add(`mov.u32 ${step}, 0;`, "bar.sync 0;");
  text.place(top);
  const [below, right, takesPart] = [text.temporary(1), text.temporary(1), text.temporary(1)];
  const beyond = (): string => random.pick(["gt", "gt", "gt", "ge", "ne", "lt"]);
  text.add(`setp.${beyond()}.u32 ${below}, ${row}, ${step};`, `setp.${beyond()}.u32 ${right}, ${column}, ${step};`);
  text.add(
    `${random.pick(["and", "and", "or"])}.pred ${takesPart}, ${below}, ${right};`,
    `@!${takesPart} bra ${next};`,
  );
  const inRow = text.computed("mad.lo.u32", step, 4, ofRow);
  const inColumn = text.computed("mad.lo.u32", step, 4 * pitch, ofColumn);
  const [a, b, c] = [text.temporary(32), text.temporary(32), text.temporary(32)];
  text.add(`ld.shared.b32 ${a}, [${inRow}];`, `ld.shared.b32 ${b}, [${inColumn}];`, `ld.shared.b32 ${c}, [${own}];`);
  text.add(`mul.lo.u32 ${a}, ${a}, ${b};`, `sub.u32 ${c}, ${c}, ${a};`);
  const guard = random.chance(0.3) ? `@${random.pick([below, right])} ` : "";
  text.add(`${guard}st.shared.b32 [${own}], ${c};`);
  text.place(next);
  text.add("bar.sync 0;", `add.u32 ${step}, ${step}, ${random.pick([1, 1, 1, 2])};`);
  text.add(`setp.lt.u32 ${again}, ${step}, ${random.pick([2, 3, rows])};`, `@${again} bra ${top};`);
  text.add(`ld.shared.b32 ${text.register(32)}, [${own}];`, "bar.sync 0;");
}
