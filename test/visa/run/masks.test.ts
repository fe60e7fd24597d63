import { describe, expect, test } from "vitest";
import type { Program } from "./program.ts";
import { runProgram } from "./run-program.ts";

/*
 * The lanes that a call takes along and a return sends back, for every execution size, mask and form of predicate, in
 * code that only some lanes have reached. Origin: IFCALL ("the call mask will be initialized to the set of active
 * channels that are predicated"), 3_execution_model ("Execution Mask"), 5_operands ("Predication": `.any` and `.all`
 * cover all the channels, and their result is then inverted).
 */
type Width = 8 | 16 | 32;

interface Form {
  readonly size: number;
  readonly offset: number;
  readonly predicate: string;
}

const predicates = ["", "(P1)", "(!P1)", "(P1.any)", "(P1.all)", "(!P1.any)", "(!P1.all)"];

function* formsOf(width: Width): Iterable<Form> {
  for (const size of [2, 4, 8, 16, 32].filter((n) => n <= width)) {
    for (let offset = 0; offset + size <= width; offset += Math.max(4, size)) {
      for (const predicate of predicates) yield { size, offset, predicate };
    }
  }
}

const text = ({ size, offset, predicate }: Form, what: string): string =>
  `${predicate} ${what.replace("(*)", `(M${offset / 4 + 1}, ${size})`)}`;

/** Lanes for which P1 is set, and lanes that reach the calls at all, in several patterns. */
const patterns: readonly { readonly set: (id: number) => boolean; readonly here: (id: number) => boolean }[] = [
  { set: (id) => (id * 5) % 7 < 3, here: (id) => id % 3 !== 1 },
  { set: () => true, here: (id) => id >= 3 },
  { set: (id) => id === 6, here: (id) => id % 2 === 0 },
  { set: () => false, here: () => true },
];

function takes({ size, offset, predicate }: Form, lane: number, set: (id: number) => boolean): boolean {
  if (lane < offset || lane >= offset + size) return false;
  const bits = Array.from({ length: size }, (_, i) => set(offset + i));
  const said = predicate.includes("any")
    ? bits.some(Boolean)
    : predicate.includes("all")
      ? bits.every(Boolean)
      : predicate === "" || set(lane);
  return said !== predicate.includes("!");
}

/** A bit for every lane. */
function wordOf(width: Width, test: (id: number) => boolean): string {
  let word = 0;
  for (let lane = 0; lane < width; lane++) if (test(lane)) word |= 1 << lane;
  return `${word >>> 0}:ud`;
}

/** Each form adds a bit to R in the lanes where it had an effect. */
function program(width: Width, forms: readonly Form[], pattern: (typeof patterns)[number], how: How): Program {
  const word = wordOf(width, pattern.set);
  const steps = forms.map(
    (form, i) => `
      mov (NM) RET! 0:ud
      mov (NM) ARG! ${1 << i}:ud
      ${how.step(form, i)}
      or (E) R! R@ RET@`,
  );
  return {
    title: how.name,
    widths: [width],
    kernel: `
      setp (NM) P1 ${word}
      setp (NM) P2 ${wordOf(width, pattern.here)}
      faddr f F!
      (!P2) goto (E) after
      ${steps.join("\n")}
      after:`,
    functions: [
      { name: "f", takes: 1, returns: 1, body: "mov (E) RET! ARG@\nfret (E)" },
      ...how.functions(forms, word),
    ],
    subroutines: '.function "s"\ns:\nmov (E) RET! ARG@\nret (E)',
    expected: (id) => {
      if (!pattern.here(id)) return 0;
      return forms.reduce((word, form, i) => (takes(form, id, pattern.set) === how.wanted ? word | (1 << i) : word), 0);
    },
  };
}

interface How {
  readonly name: string;
  readonly step: (form: Form, index: number) => string;
  /** `word`: the predicate's bits, which a function must set for itself. */
  readonly functions: (forms: readonly Form[], word: string) => NonNullable<Program["functions"]>;
  /** Whether the lanes that the form takes are those that have the bit. */
  readonly wanted: boolean;
}

const none = () => [];
const hows: readonly How[] = [
  { name: "fcall", step: (form) => text(form, "fcall (*) f # #"), functions: none, wanted: true },
  { name: "ifcall", step: (form) => text(form, "ifcall (*) F$ # #"), functions: none, wanted: true },
  { name: "call", step: (form) => text(form, "call (*) s"), functions: none, wanted: true },
  {
    name: "fret",
    step: (_, index) => `fcall (E) leave${index} # #`,
    functions: (forms, word) =>
      forms.map((form, index) => ({
        name: `leave${index}`,
        takes: 1,
        returns: 1,
        body: `setp (NM) P1 ${word}\n${text(form, "fret (*)")}\nmov (E) RET! ARG@\nfret (E)`,
      })),
    wanted: false,
  },
];

describe.each(hows)("lanes of $name", (how) => {
  test.each([8, 16, 32] as const)("in threads of %d lanes", (width) => {
    const forms = [...formsOf(width)];
    for (const pattern of patterns) {
      for (let from = 0; from < forms.length; from += 28) {
        const some = forms.slice(from, from + 28);
        const p = program(width, some, pattern, how);
        const values = Array.from({ length: width }, (_, id) => p.expected(id, width) >>> 0);
        const outcome = runProgram(p, width, { generate: true, watched: false });
        expect(outcome).toEqual({ reports: [], values });
      }
    }
  });
});
