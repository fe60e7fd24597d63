import type { Scope } from "./scope.ts";

// What blocks of few threads do, each for itself: by their number, and with words of their own in shared memory, of
// which the places follow from the thread's number. Compiled code may run several of them side by side.

/** Bytes that each thread has in an array. */
const bytesOfThread = 16;

/** The number of the block, or one that follows from it. */
function blockNumber({ text }: Scope): string {
  const { random } = text;
  const number = random.pick(["%cx", "%cx", "%cy", "%cta", "%gx"]);
  const [opcode, operand] = random.pick([
    ["and.b32", random.pick([1, 3, 6])],
    ["shr.u32", random.below(3)],
    ["xor.b32", random.below(9)],
    ["mad.lo.u32", `${random.between(1, 9)}, %lt`],
    ["sub.s32", "%gx"],
  ] as const);
  return text.computed(opcode, number, operand);
}

/** A place of the thread's own, or one that any have: below `places`, which are as many as threads at least. */
function place({ text, module }: Scope, places: number): string {
  const { random } = text;
  const last = places - 1;
  switch (random.below(5)) {
    case 0:
      return text.computed("sub.u32", module.threads - 1, "%lt");
    case 1:
      return text.computed(
        "rem.u32",
        text.computed("mad.lo.u32", "%lt", random.between(1, 7), random.below(9)),
        places,
      );
    case 2:
      return text.computed("min.u32", text.computed("xor.b32", "%lt", random.below(8)), last);
    case 3:
      return text.computed("mov.u32", random.below(places));
    default:
      return text.computed("mov.u32", "%lt");
  }
}

/** The address of an element, with 32 bits or 64, and the variable's address before or after the rest. */
function address({ text }: Scope, array: string, index: string, bytes: number): string {
  const { random } = text;
  if (random.chance(0.3)) {
    const [base, at] = [text.temporary(64), text.temporary(64)];
    text.add(`mov.u64 ${base}, ${array};`, `mad.wide.u32 ${at}, ${index}, ${bytes}, ${base};`);
    return at;
  }
  const base = text.computed("mov.u32", array);
  // As people write it, who use a register twice.
  if (random.chance(0.3)) {
    const at = text.computed("mul.lo.u32", index, bytes);
    text.add(`add.u32 ${at}, ${at}, ${base};`);
    return at;
  }
  return text.computed("mad.lo.u32", index, bytes, base);
}

const types = [
  ["b32", 4],
  ["u8", 1],
  ["s16", 2],
  ["v2.b32", 8],
  ["v4.b32", 16],
] as const;

/** Each thread writes to a place of its own, and reads what others of its block have written, or nobody has. */
function exchange(scope: Scope): void {
  const { text, module } = scope;
  const { random } = text;
  const bytes = bytesOfThread * module.threads;
  const array = module.shared(random.pick(["na", "nb"]), bytes + random.pick([0, 0, 4, 52]));
  const access = (own: boolean): void => {
    const [type, size] = random.pick(types);
    const index = own ? text.computed("mov.u32", "%lt") : place(scope, Math.floor(bytes / size));
    const at = address(scope, array, index, own ? bytesOfThread : size);
    const count = type.startsWith("v") ? Number(type[1]) : 1;
    const words = Array.from({ length: count }, () => (own ? text.register(32) : text.temporary(32)));
    const list = count === 1 ? words[0] : `{${words.join(", ")}}`;
    if (own) text.add(`st.shared.${type.replace("s16", "u16")} [${at}], ${list};`);
    else {
      text.add(`ld.shared.${type} ${list}, [${at}];`);
      for (const word of words) text.add(`xor.b32 ${text.register(32)}, ${text.register(32)}, ${word};`);
    }
  };
  text.add("bar.sync 0;");
  access(true);
  text.add("bar.sync 0;");
  for (let i = random.between(1, 3); i > 0; i--) access(false);
}

/** Rounds of what `body` does: as many in all blocks, or as the block's number says. */
function rounds(scope: Scope, count: string | number, body: () => void): void {
  const { text } = scope;
  const [i, p, top] = [text.temporary(32), text.temporary(1), text.label()];
  text.add(`mov.u32 ${i}, 0;`);
  text.place(top);
  body();
  text.add(`add.u32 ${i}, ${i}, 1;`, `setp.lt.u32 ${p}, ${i}, ${count};`, `@${p} bra ${top};`);
}

/** What a block of few threads does. */
export function neighbour(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const number = blockNumber(scope);
  const compute = (): void => {
    const to = text.register(32);
    text.add(`mad.lo.u32 ${to}, ${to}, ${random.pick([3, 5, "%lt"])}, ${random.pick([number, "%cx", "%lt"])};`);
  };
  switch (random.below(8)) {
    case 0:
      compute();
      break;
    case 1: {
      const [p, end] = [text.temporary(1), text.label()];
      text.add(`setp.${random.pick(["lt", "ge", "eq"])}.s32 ${p}, ${number}, ${random.below(5)};`);
      text.add(`@${p} bra ${end};`);
      compute();
      if (random.chance(0.5)) rounds(scope, text.computed("and.b32", number, 3), compute);
      text.place(end);
      break;
    }
    case 2:
      rounds(scope, text.computed("and.b32", number, 7), compute);
      break;
    case 3:
      rounds(scope, random.pick([random.between(1, 4), text.computed("min.u32", "%gx", 3)]), () => {
        exchange(scope);
        compute();
      });
      break;
    case 4:
      // Then blocks do not come to the same barriers equally often.
      if (random.chance(0.1)) rounds(scope, text.computed("and.b32", "%cx", 3), () => exchange(scope));
      else exchange(scope);
      break;
    default:
      exchange(scope);
  }
}
