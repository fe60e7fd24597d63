import type { LocDirective } from "../../ptx/tree/leaves.ts";
import type { Instruction, PtxSymbol } from "../../ptx/tree/nodes.ts";
import { specialRegisters } from "../../ptx/check/special-registers.ts";
import { type Candidate, instructionSet } from "../../ptx/isa/index.ts";
import { describeSemantics, gateText } from "../../ptx/isa/describe.ts";
import { literalAt, otherSpellings } from "../base/constants.ts";
import type { Hover } from "../base/results.ts";
import {
  type Entity,
  declarationText,
  entityOf,
  hitAt,
  type NameHit,
  nameSpan,
  occurrencesOf,
  sourceName,
} from "./entities.ts";
import { type Placed, type PtxModel, toDocument } from "./model.ts";
import { type Declares, eachName } from "./occurrences.ts";
import { signatureBlock } from "./outline.ts";
import { registerText } from "./register-facts.ts";
import { fileNamed, locationAt } from "./locations.ts";
import { instructionAt } from "./statements.ts";

/** Says what is known about the word at an offset. */
export function hoverAt(model: PtxModel, offset: number): Hover | null {
  const hit = hitAt(model, offset);
  if (hit !== null) {
    const text = nameText(model, hit);
    return text === null ? null : { ...toDocument(hit.part, nameSpan(hit.occurrence.name)), text };
  }
  const place = model.itemAt(offset);
  if (place === null) return null;
  const found = instructionAt(place.item, place.at);
  if (found?.kind === "instruction" && place.at <= found.opcode.end && place.at >= found.opcode.start)
    return { ...toDocument(place.part, found.opcode), text: opcodeText(model, place, found) };
  if (found?.kind === "loc") return { ...toDocument(place.part, found), text: locText(model, found) };
  const literal = literalAt(place.part.source.text, place.at);
  const spellings = literal === null ? [] : otherSpellings(place.part.source.text.slice(literal.start, literal.end));
  return literal === null || spellings.length === 0
    ? null
    : { ...toDocument(place.part, literal), text: spellings.map((each) => `\`${each}\``).join(" · ") };
}

const code = (text: string): string => `\`\`\`ptx\n${text}\n\`\`\``;

const locText = (model: PtxModel, { file, line, column }: LocDirective): string =>
  `${fileNamed(model, file) ?? `file ${file}`}:${line}:${column}`;

/** What an instruction is, where it exists, and what it computes. */
function opcodeText(model: PtxModel, place: Placed, node: Instruction): string {
  const { candidates } = instructionSet.resolve(node.opcode.text);
  const candidate = (node.resolved as Candidate | null) ?? candidates[0];
  if (candidate === undefined) {
    const known = instructionSet.instructions.find(({ name }) => name === node.opcode.text.split(".")[0]);
    return known === undefined
      ? `There is no instruction \`${node.opcode.text}\`.`
      : `**${known.name}**: ${known.summary}`;
  }
  const { instruction, form } = candidate;
  const meaning = meaningOf(candidate);
  const line = locationAt(model, place, node);
  return [
    `**${instruction.name}**: ${instruction.summary} (PTX manual, ${instruction.section})`,
    code(form.text),
    ...(meaning.length === 0 ? [] : [code(meaning.join("\n"))]),
    `Since ${gateText(form)}${gatesOf(candidate)}`,
    ...(form.unimplemented === null ? [] : [`Not executable: ${form.unimplemented}`]),
    ...(form.note === null ? [] : [form.note]),
    ...(line === null ? [] : [`From ${line.file}:${line.line}`]),
  ].join("\n\n");
}

function meaningOf(candidate: Candidate): readonly string[] {
  const lines = describeSemantics(candidate);
  return lines.length > 24 ? [...lines.slice(0, 24), "..."] : lines;
}

/** The gates of the modifiers that are written. */
function gatesOf({ form, written }: Candidate): string {
  const gated = written.filter((word) => form.gates[word] !== undefined);
  return gated.map((word) => `; \`.${word}\`: ${gateText(form.gates[word]!)}`).join("");
}

function nameText(model: PtxModel, hit: NameHit): string | null {
  const entity = entityOf(model, hit.occurrence);
  if (entity === null) return null;
  const { symbol } = entity;
  if (symbol?.kind === "special") return specialText(symbol.name);
  if (symbol?.kind === "constant") return `${code(`${symbol.name} = ${symbol.value}`)}\n\nThe lanes of a warp.`;
  if (entity.global !== null) return globalText(entity);
  const declares = declaresOf(hit, entity);
  if (declares === null) return null;
  return [code(declarationText(hit.part, declares.declares)), ...localText(model, hit, entity, symbol)].join("\n\n");
}

function specialText(name: string): string {
  const special = specialRegisters.get(name);
  if (special === undefined) return "";
  const { symbol, gate, meaning } = special;
  const type = `${symbol.vector > 1 ? `.v${symbol.vector} ` : ""}.${symbol.type.name}`;
  const what = meaning.kind === "unavailable" ? `Not available here: ${meaning.reason}` : `Since ${gateText(gate)}`;
  return `${code(`.sreg ${type} ${name}`)}\n\nA special register, which is only read. ${what}`;
}

function globalText(entity: Entity): string {
  const { places, name } = entity.global!;
  const { part, item } = places.find(({ item: each }) => each.kind === "function" && each.body !== null) ?? places[0]!;
  const lines: string[] = [];
  if (item.kind === "function") lines.push(signatureBlock(part, item));
  else {
    const declarator = item.declarators.find((each) => each.name.text === name)!;
    lines.push(code(declarationText(part, { kind: "variable", node: item, declarator })));
  }
  const shown = sourceName(name);
  if (shown !== null) lines.push(`\`${shown}\``);
  if (item.kind === "function" && item.body === null) lines.push("Declared here, and defined elsewhere.");
  return lines.join("\n\n");
}

/** Where a local entity is declared, in the function of a hit. */
function declaresOf(hit: NameHit, { declared }: Entity): { readonly declares: Declares } | null {
  let found: Declares | null = null;
  eachName(hit.item, ({ name, declares }) => {
    if (declares !== null && name === declared) found = declares;
  });
  return found === null ? null : { declares: found };
}

/** How often a local entity is written and read, and where; who jumps to a label. */
function localText(model: PtxModel, hit: NameHit, entity: Entity, symbol: PtxSymbol | null): string[] {
  const lines: string[] = [];
  const shown = sourceName(entity.name);
  if (shown !== null) lines.push(`\`${shown}\``);
  const all = [...occurrencesOf(model, entity, hit)].filter(({ occurrence }) => occurrence.use !== null);
  const line = ({ part, occurrence }: NameHit): number => model.line(toDocument(part, occurrence.name).start);
  const listed = (hits: readonly NameHit[]): string => {
    const numbers = [...new Set(hits.map(line))];
    return `${numbers.slice(0, 8).join(", ")}${numbers.length > 8 ? ", ..." : ""}`;
  };
  const isLabel = symbol?.kind === "label" || (symbol === null && isLabelHit(hit));
  if (isLabel) {
    lines.push(all.length === 0 ? "Nothing jumps here." : `Jumps from line ${listed(all)}.`);
    return lines;
  }
  const writes = all.filter(({ occurrence }) => occurrence.write);
  const reads = all.filter(({ occurrence }) => !occurrence.write);
  if (symbol?.kind === "register") {
    if (entity.member) lines.push(`\`${entity.name}\` is one of this set.`);
    const fact = registerText(model, hit, symbol);
    if (fact !== null) lines.push(fact);
  }
  if (writes.length > 0) lines.push(`Written in line ${listed(writes)}.`);
  lines.push(reads.length === 0 ? "Not read." : `Read in line ${listed(reads)}.`);
  return lines;
}

const isLabelHit = ({ occurrence }: NameHit): boolean => occurrence.declares?.kind === "label";
