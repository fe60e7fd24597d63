import { maskName } from "../exec-mask.ts";
import type { OperandSpec, Row } from "../isa/row.ts";
import { isMnemonic } from "../isa/table.ts";
import { mnemonicItem, textItems } from "../isa/template.ts";
import type {
  ExecSize,
  GeneralOperand,
  Immediate,
  Instruction,
  LscAddress,
  LscAddressPart,
  LscData,
  NameOperand,
  Operand,
  Predicate,
  RawOperand,
  Region,
  SourceModifier,
  VectorOperand,
} from "../tree.ts";

const modifiers: Readonly<Record<SourceModifier, string>> = {
  neg: "(-)",
  abs: "(abs)",
  "neg-abs": "(-abs)",
  not: "(~)",
};

/** An instruction without its indentation: `(P1) add.sat (M1, 16) V1(0,0)<1> V2(0,0)<8;8,1> 0x1:ud`. */
export function instruction(node: Instruction): string {
  const { row, operands } = node;
  const words: string[] = [];
  const shown = (name: string): string => {
    const operand = operands[name];
    return operand === undefined ? "" : operandText(operand, row.operands[name]!);
  };
  for (const item of textItems(row)) {
    switch (item.kind) {
      case "predicate":
        if (node.predicate !== null) words.push(predicate(node.predicate));
        break;
      case "mnemonic":
        words.push(item.word + suffixes(node, row));
        break;
      case "exec":
        if (node.exec !== null) words.push(execSize(node.exec));
        break;
      case "parenthesised":
        words.push(`(${shown(item.operand)})`);
        break;
      case "tuple":
        words.push(`(${item.operands.map(shown).join(", ")})`);
        break;
      case "sized":
        words.push(`${shown(item.operand)}/${shown(item.size)}`);
        break;
      case "operand":
        if (operands[item.operand] !== undefined) words.push(shown(item.operand));
    }
  }
  return words.filter((word) => word !== "").join(" ");
}

function suffixes({ operands, saturate }: Instruction, row: Row): string {
  const all = mnemonicItem(row).suffixes;
  let text = "";
  for (const [i, suffix] of all.entries()) {
    if (suffix.kind === "sat") text += saturate ? ".sat" : "";
    else {
      const operand = operands[suffix.operand];
      const other = all[suffix.paired ? i - 1 : i + 1];
      if (operand !== undefined) text += `.${operand.kind === "string" ? operand.text : operandText(operand)}`;
      else if (other?.kind === "operand" && (suffix.paired || other.paired) && operands[other.operand] !== undefined) {
        text += `.${byDefault(row, suffix.operand)}`;
      }
    }
  }
  return text;
}

/** The text of an option that is left out although its pair is not. */
function byDefault(row: Row, operand: string): string {
  const spec = row.operands[operand];
  return spec?.class === "option" ? (spec.byDefault ?? "") : "";
}

const predicate = ({ name, inverted, collapse }: Predicate): string =>
  `(${inverted ? "!" : ""}${name.text}${collapse === null ? "" : `.${collapse}`})`;

const execSize = (exec: ExecSize): string => `(${maskName(exec)}, ${exec.size})`;

function operandText(operand: Operand, spec: OperandSpec | null = null): string {
  switch (operand.kind) {
    case "raw":
      return raw(operand, spec?.class === "raw" && spec.bare === true);
    case "name":
      return nameText(operand, spec);
    case "names":
      return `(${operand.names.map(({ text }) => reference(text)).join(", ")})`;
    case "string":
      return quoted(operand.text);
    case "number":
      return spec?.class === "number" && spec.radix === 16 ? hexadecimal(BigInt(operand.value)) : String(operand.value);
    case "option":
      return operand.choice;
    case "list":
      return operand.items.map((item) => operandText(item)).join(" ");
    case "lsc-address":
      return lscAddress(operand);
    case "lsc-data":
      return raw(operand.register, true) + shape(operand, spec?.class === "lsc-data" && spec.shape === "typed-block");
    default:
      return vector(operand, spec);
  }
}

function nameText({ name }: NameOperand, spec: OperandSpec | null): string {
  return spec?.class === "label" || spec?.class === "routine" ? reference(name.text) : name.text;
}

/** A label or routine, in quotes if a reader could take it for something else. */
const reference = (text: string): string =>
  /^[A-Za-z_]\w*$/.test(text) && !isMnemonic(text) && !reserved.has(text) ? text : quoted(text);

/** Reserved words of the grammar besides mnemonics. */
const reserved: ReadonlySet<string> = new Set(["flat", "bss", "ss", "bti", "arg", "surf", "nbarrier", "sbarrier"]);

const raw = ({ variable, offset }: RawOperand, bare: boolean): string =>
  bare && offset === 0 ? variable.text : `${variable.text}.${offset}`;

function vector(node: VectorOperand, spec: OperandSpec | null): string {
  const isSource = spec?.class !== "vector" || spec.role === "src";
  switch (node.kind) {
    case "general": {
      const at = `${modifier(node.modifier)}${node.variable.text}(${node.row},${node.column})`;
      if (spec?.class === "vector" && spec.plain === true) return at;
      return at + (isSource ? sourceRegion(node.region) : destinationRegion(node.region));
    }
    case "indirect": {
      const at = `${modifier(node.modifier)}r[${node.variable.text}(${node.element}),${node.offset}]`;
      return `${at}${isSource ? indirectRegion(node.region) : destinationRegion(node.region)}:${node.type}`;
    }
    case "immediate":
      return `${hexadecimal(node.bits)}:${node.type}`;
    case "address":
      return `${node.variable.text}(${node.element})<${node.width}>`;
    case "address-of":
      return `&${node.variable.text}${node.offset === 0 ? "" : `[${node.offset}]`}`;
    case "state":
      return `${node.variable.text}(${node.element})`;
  }
}

const modifier = (node: SourceModifier | null): string => (node === null ? "" : modifiers[node]);
const destinationRegion = ({ horizontal }: Region): string => `<${horizontal ?? 1}>`;
const sourceRegion = ({ vertical, width, horizontal }: Region): string =>
  `<${vertical ?? 0};${width ?? 1},${horizontal ?? 0}>`;

function indirectRegion(region: Region): string {
  if (region.vertical !== null) return sourceRegion(region);
  return region.width === null ? destinationRegion(region) : `<${region.width},${region.horizontal ?? 0}>`;
}

/** A number as IGC prints immediates, whatever their type. */
const hexadecimal = (bits: bigint): string => `0x${bits.toString(16)}`;

function lscAddress({ model, surface, surfaceOffset, scale, base, size, ...rest }: LscAddress): string {
  let text: string = model;
  if (surface !== null) text += `(${scalar(surface)}${surfaceOffset === null ? "" : `, ${surfaceOffset}`})`;
  // An append counter has no address in brackets.
  if (base.length === 0) return text;
  const parts = base.map(addressPart).join(", ");
  const offsets = rest.blockOffsets === undefined ? "" : `+(${rest.blockOffsets.join(", ")})`;
  text += `[${scale === 1 ? "" : `${scale}*`}${parts}${offsets}]`;
  return size === null ? text : `${text}:a${size}${rest.extension ?? ""}`;
}

function addressPart({ operand, offset }: LscAddressPart): string {
  const text = operand.kind === "raw" ? raw(operand, true) : scalar(operand);
  if (offset === 0) return text;
  return `${text}${offset < 0 ? "-" : "+"}${hexadecimal(BigInt(Math.abs(offset)))}`;
}

/** An element of a variable, or a number, without type or region. */
function scalar(node: VectorOperand): string {
  if (node.kind === "immediate") return immediate(node);
  if (node.kind === "general") return element(node);
  return vector(node, null);
}

const immediate = ({ bits }: Immediate): string => hexadecimal(bits);

const element = ({ variable, row, column }: GeneralOperand): string =>
  row === 0 && column === 0 ? variable.text : `${variable.text}(${row},${column})`;

function shape({ size, vector: elements, transposed, channels, block }: LscData, typed: boolean): string {
  if (block !== null) {
    const { blocks, width, height } = block;
    if (typed) return `:${width}x${height}`;
    return `:${size}.${blocks}x${width}x${height}${block.transposed ? "t" : "n"}${block.vnni ? "t" : "n"}`;
  }
  if (channels !== null) return `:${size}.${[..."xyzw"].filter((_, bit) => (channels >> bit) & 1).join("")}`;
  return `:${size}${elements === 1 ? "" : `x${elements}`}${transposed ? "t" : ""}`;
}

const escaped: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\x1b": "\\e",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

/** A string in quotes. */
export function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
  const inside = text.replace(/[\x00-\x1f"\\\x7f]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, "0");
    return escaped[character] ?? `\\x${hex}`;
  });
  return `"${inside}"`;
}
