import { expect, test } from "vitest";
import { type Form, type Gate, instructionSet } from "../../../src/ptx/isa/index.ts";
import { versionNumber } from "../../../src/ptx/types.ts";
import { opcodesOf } from "./opcodes.ts";

/** Every version of the PTX ISA, from the manual's release notes (section 13, table of the introduction). */
const versions = new Set(
  [
    "1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 3.0 3.1 3.2 4.0 4.1 4.2 4.3 5.0 6.0 6.1 6.2 6.3 6.4 6.5",
    "7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0 9.1",
  ]
    .join(" ")
    .split(" "),
);
/** The numbers of section 11.1.2. */
const targets = new Set(
  "10 11 12 13 20 30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 100 101 103 110 120 121".split(" "),
);

// Forms of one instruction may share their rules and gates, so a name is only wrong if no form of the instruction has
// it.
const rows = instructionSet.instructions.flatMap((instruction) =>
  instruction.forms.map((form) => ({ instruction, form })),
);
/** The problems of all rows, each with the text of its row. */
const complaints = (complain: (form: Form, siblings: readonly Form[]) => readonly string[]): string[] =>
  rows.flatMap(({ form, instruction }) =>
    complain(form, instruction.forms).map((problem) => `${form.text}: ${problem}`),
  );

const operandNames = (form: Form): string[] =>
  form.operands.flatMap((o) => (o.second ? [o.name, o.second.name] : [o.name]));

test("the text of every form is well formed", () => {
  const modifier = String.raw`\.[A-Za-z0-9_:]+`;
  const head = new RegExp(`^[a-z][a-z0-9_]*(${modifier}|\\{${modifier}\\})*$`);
  expect(
    complaints((form) => {
      const [opcode = ""] = form.text.split(" ");
      const names = operandNames(form);
      return [
        ...(head.test(opcode) ? [] : [`"${opcode}" is not an opcode`]),
        ...names
          .filter((name) => !/^[A-Za-z_][A-Za-z0-9_]*(,[A-Za-z_][A-Za-z0-9_]*)*$/.test(name))
          .map((name) => `"${name}" is not a name`),
        ...names.filter((name, i) => names.indexOf(name) !== i).map((name) => `two operands "${name}"`),
      ];
    }),
  ).toEqual([]);
});

test("every class is used exactly once in its form and has distinct choices", () => {
  expect(
    complaints((form) =>
      Object.entries(form.rules).flatMap(([name, choices]) => [
        ...(form.modifiers.filter((m) => m.name === name).length === 1 ? [] : [`class "${name}" is not used once`]),
        ...(choices.length > 0 && new Set(choices).size === choices.length ? [] : [`choices of "${name}" repeat`]),
      ]),
    ),
  ).toEqual([]);
});

test("every operand rule and selector names an operand", () => {
  expect(
    complaints((form, siblings) =>
      [...Object.keys(form.specs), ...Object.keys(form.selectors)]
        .filter((name) => !siblings.some((other) => operandNames(other).includes(name)))
        .map((name) => `there is no operand "${name}"`),
    ),
  ).toEqual([]);
});

test("every combination of modifiers resolves to its form, and its operand rules can be read", () => {
  expect(
    complaints((form) =>
      opcodesOf(form, 600).flatMap((opcode) => {
        try {
          const { candidates, problem } = instructionSet.resolve(opcode);
          const found = candidates.some((c) => c.form === form);
          return found || problem?.kind === "invalid-combination" || (form.invalid !== null && candidates.length > 0)
            ? []
            : [`${opcode} is not it`];
        } catch (error) {
          return [`${opcode}: ${(error as Error).message}`];
        }
      }),
    ),
  ).toEqual([]);
});

const targetsOf = ({ target, untilTarget }: Gate): string[] =>
  [target ?? [], untilTarget ?? []].flat().filter((t) => t !== undefined);
const gateProblems = (gate: Gate): string[] => [
  ...[gate.since, gate.until].filter((v) => v !== undefined && !versions.has(v)).map((v) => `no version ${v}`),
  ...targetsOf(gate).flatMap((t) => {
    const number = /^sm_(\d+)[af]?$/.exec(t)?.[1];
    return number !== undefined && targets.has(number) ? [] : [`no target ${t}`];
  }),
];

test("gates name known versions and targets", () => {
  expect(complaints((form) => [form, ...Object.values(form.gates)].flatMap(gateProblems))).toEqual([]);
});

/** The names in the key of a gate: `a+b` (both are written), `!c` (`c` is left out). */
const gatedWords = (key: string): string[] => key.split("+").map((word) => word.replace(/^!/, ""));

test("gates name existing choices and are not older than their form", () => {
  expect(
    complaints((form, siblings) => {
      const words = siblings.flatMap((other) => other.modifiers.flatMap((m) => [m.name, ...(m.choices ?? [])]));
      return Object.entries(form.gates).flatMap(([key, gate]) => [
        ...gatedWords(key).flatMap((word) => (words.includes(word) ? [] : [`there is no "${word}"`])),
        ...(gate.since !== undefined && versionNumber(gate.since) < versionNumber(form.since)
          ? [`"${key}" is older than the form`]
          : []),
      ]);
    }),
  ).toEqual([]);
});

test("no two forms of an instruction are identical", () => {
  const twice = instructionSet.instructions.flatMap(({ name, forms }) => {
    const keys = forms.map((form) => `${form.text} ${JSON.stringify([form.rules, form.specs])}`);
    return keys.filter((key, i) => keys.indexOf(key) !== i).map((key) => `${name}: ${key}`);
  });
  expect(twice).toEqual([]);
});

test("every instruction has one section, a summary and forms", () => {
  // `add` has a section each for integers, floats, half and mixed precision.
  const names = instructionSet.instructions.map((i) => `${i.name} in ${i.section}`);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  const wrong = instructionSet.instructions.flatMap(({ name, summary, section, forms }) => [
    ...(/^[a-z0-9`].*[^.]$/.test(summary) ? [] : [`${name}: summary "${summary}"`]),
    ...(/^9\.7(\.\d+)+$/.test(section) ? [] : [`${name}: section "${section}"`]),
    ...(forms.length > 0 ? [] : [`${name}: no forms`]),
  ]);
  expect(wrong).toEqual([]);
});

test("every form computes, has an effect, is control flow, or says why it does not run", () => {
  expect(
    complaints((form) => {
      const moves = form.control !== null && form.control !== "exit" && form.control !== "stop";
      const ways = [form.sem !== null, form.effect !== null, moves, form.unimplemented !== null];
      return ways.filter(Boolean).length === 1 ? [] : ["not exactly one"];
    }),
  ).toEqual([]);
});

test("all forms of a root move control in the same way, as do the operations that they have as their effects", () => {
  const controlled = instructionSet.instructions
    .flatMap(({ forms }) => forms)
    .filter(({ control }) => control !== null);
  const roots = new Map(controlled.map(({ text, control }) => [/^[a-z]+/.exec(text)![0], control]));
  expect(Object.fromEntries(roots)).toEqual({
    bra: "branch",
    brx: "branch-indexed",
    call: "call",
    ret: "return",
    exit: "exit",
    trap: "stop",
  });
  for (const { forms } of instructionSet.instructions) {
    for (const { text, control } of forms)
      expect([text, control]).toEqual([text, roots.get(/^[a-z0-9]+/.exec(text)![0]) ?? null]);
  }
});
