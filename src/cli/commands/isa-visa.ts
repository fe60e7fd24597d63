import { usualEngines } from "../../runtime/launch/launch-options.ts";
import type { Style } from "../../source/index.ts";
import { gateText } from "../../visa/isa/describe.ts";
import type { OperandSpec, Row } from "../../visa/isa/row.ts";
import { rows } from "../../visa/isa/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { hang } from "../terminal/wrap.ts";

const executable = ({ execution }: Row): boolean => execution.kind !== "none";
const reasonOf = ({ execution }: Row): string | null => (execution.kind === "none" ? execution.reason : null);

/** "0x4f", or "0x4e, sub-opcode 3". */
const opcodeOf = ({ opcode, sub }: Row): string =>
  `0x${opcode.toString(16).padStart(2, "0")}${sub === null ? "" : `, sub-opcode ${sub}`}`;

const hexadecimal = /^0x[0-9a-f]{1,2}$/i;

/**
 * Finds the rows of an instruction: by its mnemonic or the first part of it, by the manual's name, or by its opcode
 * ("0x4f").
 */
export function findVisa(word: string): readonly Row[] {
  const by = (fits: (row: Row) => boolean): readonly Row[] => rows.filter(fits);
  if (hexadecimal.test(word)) return by(({ opcode }) => opcode === Number(word));
  const exact = by(({ mnemonic, name }) => mnemonic === word || name.toLowerCase() === word.toLowerCase());
  if (exact.length > 0) return exact;
  const [root] = word.split(".");
  const longest = by(({ mnemonic }) => mnemonic === root);
  return longest.length > 0 ? longest : by(({ mnemonic }) => mnemonic.split(/[._]/)[0] === word);
}

export const visaRows: readonly Row[] = [...rows].sort((a, b) => a.opcode - b.opcode || (a.sub ?? 0) - (b.sub ?? 0));

/** The mnemonics of all instructions. */
export const visaWords = (): readonly string[] => [...new Set(rows.map(({ mnemonic }) => mnemonic))];

export const visaToJson = (row: Row) => {
  const { name, mnemonic, opcode, sub, title, page, text, file, operands, sizes, since, from, until, only } = row;
  return {
    isa: "visa",
    name,
    mnemonic,
    opcode,
    ...(sub === null ? {} : { sub }),
    title,
    ...(page === null ? {} : { page }),
    text,
    ...(file === null ? {} : { file }),
    operands,
    ...(sizes === null ? {} : { sizes }),
    gate: { since, from, until, only },
    executable: executable(row),
    ...(executable(row) ? { engines: usualEngines } : { reason: reasonOf(row) }),
  };
};

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

/** The most choices of an option to list. */
const maxChoices = 24;

function describeOperand(spec: OperandSpec): string {
  switch (spec.class) {
    case "vector": {
      const role = spec.role === "dst" ? "written" : "read";
      const modifiers =
        spec.modifiers === "arithmetic" ? "; (-), (abs)" : spec.modifiers === "logic" ? "; (~), or (-), (abs)" : "";
      const shape = spec.scalar ? "one element" : "a region";
      return `${role}, ${shape}: ${listed(spec.forms)}; ${spec.types.join(" ")}${modifiers}`;
    }
    case "raw":
      return `${spec.role === "dst" ? "written" : "read"}, whole registers${spec.types ? `: ${spec.types.join(" ")}` : ""}`;
    case "predicate":
      return `a predicate that is ${spec.role === "dst" ? "written" : "read"}`;
    case "number":
      return `a number from ${spec.from} to ${spec.to}`;
    case "option": {
      const names = Object.keys(spec.choices).map((name) => (name === "" ? "(nothing)" : name));
      const more = names.length > maxChoices ? `, and ${names.length - maxChoices} more` : "";
      const absent = spec.byDefault === undefined ? "" : ` (left out: ${spec.byDefault})`;
      return `${names.slice(0, maxChoices).join(" ")}${more}${absent}`;
    }
    case "kernel":
      return "the name of a kernel of another program";
    case "label":
      return spec.of === "block" ? "a label" : "the name of a subroutine";
    case "labels":
      return "labels in parentheses";
    case "routine":
      return "the name of a function, or of data";
    case "lsc-address":
      return "an address, as in flat[V.0]:a64 or bti(3)[V.0]:a32";
    case "lsc-data":
      return `${spec.role === "dst" ? "written" : "read"}, registers with the size of an element, as in V:d32x2`;
    case "list":
      return "all further operands";
    case "surface":
    case "sampler":
    case "string":
    case "variable":
      return `a ${spec.class}`;
  }
}

const exampleSize = (sizes: readonly number[]): string => (sizes.includes(16) ? "(M1, 16)" : `(M1, ${sizes.at(-1)})`);

/** Prints one form of an instruction: its syntax, its operands, where it exists, and its encoding in a file. */
export function printVisa(row: Row, terminal: Terminal): void {
  const { style, width: columns } = terminal;
  const margin = 6;
  const line = (text: string, paint = (shown: string): string => shown): void =>
    terminal.out(" ".repeat(margin) + paint(hang(text, columns, margin)));
  const { text, title, operands, sizes, file, page } = row;
  const manual = page === null ? "" : `, manual page ${page}`;
  terminal.out(`\n  ${style("strong", text)}`);
  line(`${title} (opcode ${opcodeOf(row)}${manual})`);
  const described = [
    ...(text.startsWith("(P)") ? [["P", "a predicate, which may be left out, as in (P1) or (!P1.any)"] as const] : []),
    ...(sizes === null ? [] : [["E", `${listed(sizes.map(String))} channels, as in ${exampleSize(sizes)}`] as const]),
    ...Object.entries(operands).map(([name, spec]) => [name, describeOperand(spec)] as const),
  ];
  const width = Math.max(...described.map(([name]) => name.length));
  for (const [name, description] of described) {
    const heading = " ".repeat(margin) + name.padEnd(width + 2);
    terminal.out(heading + hang(description, columns, heading.length));
  }
  const gate = gateText(row);
  if (gate !== null) line(gate);
  line(file === null ? "in a file: not known" : `in a file: ${file === "" ? "nothing more" : file}`, (shown) =>
    style("faint", shown),
  );
  const reason = reasonOf(row);
  if (reason === null) line(`executable: ${usualEngines.join(", ")}`);
  else line(`not executable: ${reason}`, (shown) => style("warning", shown));
}

const mark = (row: Row, style: Style): string => (executable(row) ? style("help", "yes") : style("warning", "no "));

/** The width of the columns before the mnemonic in the list. */
const opcodeColumns = 20;

export function printVisaList(terminal: Terminal): void {
  const width = Math.max(...visaRows.map(({ mnemonic }) => mnemonic.length));
  terminal.out("executable  opcode  instruction");
  for (const row of visaRows) {
    const opcode = `0x${row.opcode.toString(16).padStart(2, "0")}`;
    const title = hang(row.title, terminal.width, opcodeColumns + width + 2);
    terminal.out(`${mark(row, terminal.style)}         ${opcode}    ${row.mnemonic.padEnd(width)}  ${title}`);
  }
  const opcodes = new Set(visaRows.map(({ opcode }) => opcode)).size;
  const count = visaRows.filter(executable).length;
  terminal.out(`\n${opcodes} opcodes, ${visaRows.length} forms, ${count} executable`);
}
