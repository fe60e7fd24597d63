import { type Candidate, type Form, type Gate, type Instruction, instructionSet } from "../../ptx/isa/index.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { isas } from "../../runtime/data/isa.ts";
import { usualEngines } from "../../runtime/launch/launch-options.ts";
import { nearest, type Style } from "../../source/index.ts";
import { type Command, type ExitStatus, exitStatus } from "../options/command.ts";
import { printJson, type Terminal } from "../terminal/terminal.ts";
import { findVisa, printVisa, printVisaList, visaRows, visaToJson, visaWords } from "./isa-visa.ts";
import { combinations, describeSemantics, gateText, obstacleOf, opcodesOf } from "../../ptx/isa/describe.ts";
import { modifiersOf } from "../../ptx/isa/resolve.ts";
import { misspeltSuffix } from "../../visa/parser/mnemonics.ts";

const shownMeanings = 12;

/** The meanings of a form, each with all opcodes that have it. */
function meanings(form: Form): { readonly lines: readonly string[]; readonly opcodes: readonly string[] }[] {
  const byText = new Map<string, string[]>();
  for (const opcode of opcodesOf(form, combinations)) {
    const candidate = candidateOf(form, opcode);
    if (!candidate) continue;
    const text = describeSemantics(candidate).join("\n");
    if (text === "") continue;
    const known = byText.get(text);
    if (known) known.push(opcode);
    else byText.set(text, [opcode]);
  }
  return [...byText].map(([text, list]) => ({ lines: text.split("\n"), opcodes: list }));
}

const candidateOf = (form: Form, opcode: string): Candidate | undefined =>
  instructionSet.resolve(opcode).candidates.find((c) => c.form === form);

const obstacle = (form: Form): string | null => obstacleOf(form, (opcode) => candidateOf(form, opcode));
const executable = (form: Form): boolean => obstacle(form) === null;

const formToJson = (form: Form) => ({
  text: form.text,
  gate: { since: form.since, ...(form.target === undefined ? {} : { target: form.target }) },
  modifiers: form.modifiers.map(({ name, optional, choices }) => ({
    name,
    optional,
    ...(choices
      ? { choices: choices.map((choice) => ({ name: choice, ...form.gates[choice] })) }
      : { ...form.gates[name] }),
  })),
  executable: executable(form),
  ...(executable(form) ? { engines: usualEngines } : { reason: obstacle(form) }),
  ...(form.note === null ? {} : { note: form.note }),
});

function printForm(form: Form, terminal: Terminal): void {
  const { style } = terminal;
  const line = (text: string): void => terminal.out(`      ${text}`);
  terminal.out(`\n  ${style("strong", form.text)}`);
  for (const { name, choices } of form.modifiers) {
    if (choices)
      line(`.${name}: ${choices.map((choice) => `.${choice}${gateSuffix(form.gates[choice], style)}`).join(" ")}`);
    else if (form.gates[name]) line(`.${name}: ${gateText(form.gates[name])}`);
  }
  line(`since ${gateText(form)}`);
  const reason = obstacle(form);
  line(reason === null ? `executable: ${usualEngines.join(", ")}` : style("warning", `not executable: ${reason}`));
  if (form.note !== null) line(form.note);
  for (const code of Object.keys(form.undefinedCases)) line(`undefined cases are reported as ${code}`);
  const found = meanings(form);
  for (const { lines, opcodes: list } of found.slice(0, shownMeanings)) {
    const more = list.length > 3 ? `, and ${list.length - 3} more` : "";
    line(style("faint", `${list.slice(0, 3).join(", ")}${more}:`));
    for (const text of lines) line(`  ${text}`);
  }
  if (found.length > shownMeanings) line(style("faint", `and ${found.length - shownMeanings} further meanings`));
}

const gateSuffix = (gate: Gate | undefined, style: Style): string =>
  gate === undefined ? "" : style("faint", ` (${gateText(gate)})`);

/** Whether an instruction is executable in all forms, in some, or in none. */
function mark({ forms }: Instruction, style: Style): string {
  const count = forms.filter(executable).length;
  if (count === forms.length) return style("help", "yes ");
  return count === 0 ? style("warning", "no  ") : style("note", "part");
}

function bySection(instructions: readonly Instruction[]): Instruction[] {
  const key = (section: string): string =>
    section
      .split(".")
      .map((part) => part.padStart(4, "0"))
      .join(".");
  return [...instructions].sort((a, b) =>
    key(a.section) < key(b.section) ? -1 : key(a.section) > key(b.section) ? 1 : 0,
  );
}

function printList(terminal: Terminal): void {
  const { style } = terminal;
  const instructions = bySection(instructionSet.instructions);
  const width = Math.max(...instructions.map((i) => i.name.length));
  terminal.out("executable  section       instruction");
  for (const i of instructions) {
    terminal.out(`${mark(i, style)}        ${i.section.padEnd(12)}  ${i.name.padEnd(width)}  ${i.summary}`);
  }
  const forms = instructions.flatMap((i) => i.forms);
  terminal.out(
    `\n${instructions.length} instructions, ${forms.length} forms, ${forms.filter(executable).length} executable`,
  );
}

/** Finds instructions by the manual's name or by a dotted opcode. */
function findExactly(word: string): readonly Instruction[] {
  const named = instructionSet.instructions.filter((i) => i.name === word);
  return named.length > 0
    ? named
    : [...new Set(instructionSet.resolve(word).candidates.map((candidate) => candidate.instruction))];
}

/** Finds instructions like `findExactly`, or else all that begin with the first word of an opcode. */
function find(word: string): readonly Instruction[] {
  const exactly = findExactly(word);
  const [root] = word.split(".");
  return exactly.length > 0 ? exactly : instructionSet.instructions.filter((i) => i.name.split(".")[0] === root);
}

/** What is likely meant by an opcode with a modifier that its instruction does not have there. */
interface Misspelt {
  readonly meant: string | null;
}

/** Null if nothing is misspelt, but perhaps something is missing at the end. */
function misspeltOpcode(word: string): Misspelt | null {
  const { problem } = instructionSet.resolve(word);
  const begins = instructionSet.instructions.some(({ name }) => `${name}.`.startsWith(`${word}.`));
  if (begins || problem?.kind !== "modifier") return null;
  if (problem.inOrder !== null) return { meant: problem.inOrder };
  const others = modifiersOf(problem.forms).filter((name) => name !== problem.modifier);
  const near = nearest(problem.modifier, others);
  const parts = word.split(".");
  return { meant: near === null ? null : parts.with(problem.at + 1, near).join(".") };
}

function refuseMisspelt(word: string, misspelt: Misspelt | null): void {
  if (misspelt === null) return;
  const { meant } = misspelt;
  const [root] = word.split(".");
  const help = meant === null ? `\`lanewise isa ${root}\` shows its forms` : `did you mean "${meant}"?`;
  throw new UsageError(`there is no opcode "${word}"; ${help}`);
}

const ptxWords = (): readonly string[] => instructionSet.instructions.map((i) => i.name);

function unknown(word: string, words: readonly string[]): never {
  const meant = nearest(word, words);
  throw new UsageError(
    `there is no instruction "${word}"; ${meant ? `did you mean "${meant}"?` : "`lanewise isa` lists all"}`,
  );
}

function ptx(words: readonly string[], json: boolean, terminal: Terminal): ExitStatus {
  const chosen = words.length === 0 ? bySection(instructionSet.instructions) : [...new Set(words.flatMap(find))];
  if (json) {
    const instructions = chosen.map(({ name, section, summary, forms }) => ({
      name,
      section,
      summary,
      forms: forms.map(formToJson),
    }));
    printJson({ instructions }, terminal);
  } else if (words.length === 0) {
    printList(terminal);
    terminal.out("These are PTX's; `lanewise isa --isa visa` lists those of vISA.");
  } else {
    for (const word of words) {
      if (word.includes(".") && findExactly(word).length === 0)
        terminal.err(`lanewise: "${word}" is not a whole opcode; these begin in the same way:`);
    }
    chosen.forEach((instruction, i) => {
      const { name, summary, section } = instruction;
      terminal.out(`${i > 0 ? "\n" : ""}${terminal.style("strong", name)}: ${summary} (section ${section})`);
      for (const form of instruction.forms) printForm(form, terminal);
    });
  }
  return exitStatus.ok;
}

function visa(words: readonly string[], json: boolean, terminal: Terminal): ExitStatus {
  const chosen = words.length === 0 ? visaRows : [...new Set(words.flatMap(findVisa))];
  if (json) printJson({ instructions: chosen.map(visaToJson) }, terminal);
  else if (words.length === 0) printVisaList(terminal);
  else {
    [...new Set(chosen.map(({ mnemonic }) => mnemonic))].forEach((mnemonic, i) => {
      terminal.out(`${i > 0 ? "\n" : ""}${terminal.style("strong", mnemonic)} (vISA)`);
      for (const row of chosen.filter((r) => r.mnemonic === mnemonic)) printVisa(row, terminal);
    });
  }
  return exitStatus.ok;
}

export const isa: Command = {
  name: "isa",
  summary: "show instructions: forms, versions, semantics, whether executable",
  usage: ["isa [--isa visa]", "isa OPCODE… [--isa visa]"],
  options: [{ name: "isa", value: "NAME", help: "ptx or visa (default: ptx, or whichever has the instruction)" }],
  common: [],
  details: "An OPCODE is a mnemonic, with or without modifiers; for vISA also a number, as in 0x4f.",
  run(options, terminal) {
    const words = options.positionals;
    const json = options.has("json");
    const wanted = options.oneOf("isa", isas);
    if (wanted === "visa") {
      for (const word of words) {
        if (findVisa(word).length === 0) unknown(word, visaWords());
        refuseMisspelt(word, misspeltSuffix(word));
      }
      return visa(words, json, terminal);
    }
    const isVisa = (word: string): boolean => find(word).length === 0 && findVisa(word).length > 0;
    if (words.length > 0 && wanted === null && words.every(isVisa)) {
      for (const word of words) refuseMisspelt(word, misspeltSuffix(word));
      return visa(words, json, terminal);
    }
    for (const word of words) {
      if (find(word).length === 0) unknown(word, wanted === null ? [...ptxWords(), ...visaWords()] : ptxWords());
      refuseMisspelt(word, misspeltOpcode(word));
    }
    const status = ptx(words, json, terminal);
    const both = wanted === null ? words.filter((word) => findVisa(word).length > 0) : [];
    if (both.length > 0 && !json) {
      const list = both.map((word) => `"${word}"`).join(", ");
      terminal.out(`\nvISA has ${list} too: lanewise isa --isa visa ${both.join(" ")}`);
    }
    return status;
  },
};
