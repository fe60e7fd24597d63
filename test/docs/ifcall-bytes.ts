import { SourceText } from "../../src/source/index.ts";
import { bindVisa, parseVisa, readCisa, writeCisa } from "../../src/visa/index.ts";

/** A field: how many bytes it has, and what its number means. */
type Field = readonly [bytes: number, meaning: (value: number) => string];

const strides = ["null", 0, 1, 2, 4, 8, 16, 32];
const collapses = ["", ", .any", ", .all"];

const mask = (code: number): string => `M${(code % 8) + 1}${code < 8 ? "" : "_NM"}`;

/** An ifcall of vISA 3.6 whose address is an element of a variable, as the manual's pages have it. */
const fields: readonly Field[] = [
  [1, () => "opcode"],
  [1, (v) => `execution size: 2 to the power of ${v & 7}, ${mask(v >> 4)}`],
  [2, (v) => `predicate ${v & 0xfff}${collapses[(v >> 13) & 3]}${v >> 15 ? ", inverted" : ""}`],
  [1, (v) => `operand of class ${v & 7} (a variable), modifier ${v >> 3}`],
  [4, (v) => `variable ${v}: number ${v - 31} of those that are declared`],
  [1, () => "row"],
  [1, () => "column"],
  [2, (v) => `region <${strides[v & 15]};${strides[(v >> 4) & 15]},${strides[v >> 8]}>`],
  [1, () => "registers of %arg"],
  [1, () => "registers of %retval"],
];

/** The first ifcall of a program, as it is written into a CISA file. */
export function annotatedCall(path: string, text: string): string {
  const { bytes } = writeCisa(bindVisa(parseVisa(new SourceText(path, text)).tree));
  const { tree } = readCisa(bytes!, "program.isa");
  const call = tree!.routines
    .flatMap(({ statements }) => statements)
    .find((s) => s.kind === "instruction" && s.row.name === "IFCALL")!;
  const digits = tree!.source.slice(call).split(" ");
  let at = 0;
  const rows = fields.map(([length, meaning]) => {
    const field = digits.slice(at, (at += length));
    return `| \`${field.join(" ")}\` | ${meaning(Number.parseInt([...field].reverse().join(""), 16))} |`;
  });
  if (at !== digits.length) throw new Error(`the ifcall has ${digits.length} bytes`);
  return ["| bytes | |", "| --- | --- |", ...rows].join("\n");
}
