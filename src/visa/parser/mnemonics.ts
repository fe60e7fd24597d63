import { nearest } from "../../source/index.ts";
import type { Row } from "../isa/row.ts";
import { rowsByMnemonic } from "../isa/table.ts";
import { mnemonicItem } from "../isa/template.ts";
import { Token } from "../lexer.ts";
import type { Name, NumberOperand, OptionOperand, StringOperand } from "../tree.ts";
import type { Cursor } from "./cursor.ts";
import { choiceOfText, mean, meantBy, oneOf } from "./options.ts";

/** A row that a mnemonic with its suffixes may mean. */
export interface Candidate {
  readonly row: Row;
  readonly saturate: boolean;
  /** The operands among the suffixes, with spans relative to the mnemonic's start. */
  readonly operands: readonly (readonly [string, SuffixOperand])[];
}

export type SuffixOperand = NumberOperand | OptionOperand | StringOperand;

interface Word {
  readonly segments: readonly string[];
  readonly rows: readonly Row[];
}

let words: ReadonlyMap<string, readonly Word[]> | null = null;

/** Mnemonics by their first segment: `nbarrier` has `nbarrier.signal` and `nbarrier.wait`. The longest come first. */
const wordsByFirst = (): ReadonlyMap<string, readonly Word[]> => (words ??= groupedByFirst());

function groupedByFirst(): ReadonlyMap<string, readonly Word[]> {
  const groups = new Map<string, Word[]>();
  for (const [word, rows] of rowsByMnemonic()) {
    const segments = word.split(".");
    const list = groups.get(segments[0]!);
    if (list === undefined) groups.set(segments[0]!, [{ segments, rows }]);
    else list.push({ segments, rows });
  }
  for (const list of groups.values()) list.sort((a, b) => b.segments.length - a.segments.length);
  return groups;
}

/** A part of a mnemonic between dots, with its span in the mnemonic. */
interface Segment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Candidates of the mnemonics seen so far. */
const known = new Map<string, readonly Candidate[]>();
/** The most entries of `known`. Programs use a few hundred mnemonics, but malicious text can have any number. */
const knownLimit = 4096;

/** The rows that a mnemonic may mean, in the order of the table; none after an error. */
export function candidatesOf(p: Cursor, mnemonic: Name): readonly Candidate[] {
  let found = known.get(mnemonic.text);
  if (found === undefined) {
    found = findCandidates(mnemonic.text);
    if (found.length === 0) {
      reportUnknown(p, mnemonic);
      return found;
    }
    if (known.size < knownLimit) known.set(mnemonic.text, found);
  }
  return found;
}

function findCandidates(text: string): readonly Candidate[] {
  const segments = segmentsOf(text);
  const found: Candidate[] = [];
  for (const word of wordsOf(segments)) {
    for (const row of word.rows) {
      const match = matchSuffixes(row, segments, word.segments.length);
      if (match.candidate !== null) found.push(match.candidate);
    }
  }
  return found;
}

function segmentsOf(text: string): readonly Segment[] {
  const segments: Segment[] = [];
  let start = 0;
  for (const piece of text.split(".")) {
    const blank = piece.length - piece.trimStart().length;
    segments.push({ text: piece.trim(), start: start + blank, end: start + Math.max(blank, piece.trimEnd().length) });
    start += piece.length + 1;
  }
  return segments;
}

const wordsOf = (segments: readonly Segment[]): readonly Word[] =>
  (wordsByFirst().get(segments[0]!.text) ?? []).filter((word) =>
    word.segments.every((segment, i) => segments[i]?.text === segment),
  );

interface Match {
  readonly candidate: Candidate | null;
  /** Number of segments that fit. */
  readonly fitting: number;
  /** Suffixes that could follow them. */
  readonly wanted: readonly string[];
  /** Whether all suffixes that must be there are. */
  readonly complete: boolean;
}

/** Matches the suffixes of a row in order; optional ones are taken if they fit. */
function matchSuffixes(row: Row, segments: readonly Segment[], from: number): Match {
  let at = from;
  let saturate = false;
  let missing = false;
  const operands: [string, SuffixOperand][] = [];
  let wanted: string[] = [];
  let before = false;
  for (const suffix of mnemonicItem(row).suffixes) {
    if (suffix.kind === "sat") {
      saturate = segments[at]?.text === "sat";
      if (saturate) at++;
      else wanted.push("sat");
      continue;
    }
    if (suffix.paired && !before) continue;
    const read = readSuffix(row, suffix.operand, segments, at);
    before = read.operand !== null;
    if (read.operand !== null) {
      operands.push([suffix.operand, read.operand]);
      at += read.taken;
      wanted = [];
    } else {
      wanted.push(...read.wanted);
      missing = !suffix.optional || suffix.paired;
      if (missing) break;
    }
  }
  const complete = !missing;
  const candidate = complete && at === segments.length ? { row, saturate, operands } : null;
  return { candidate, fitting: at, wanted, complete };
}

interface Read {
  readonly operand: SuffixOperand | null;
  readonly taken: number;
  readonly wanted: readonly string[];
}

function readSuffix(row: Row, name: string, segments: readonly Segment[], at: number): Read {
  const spec = row.operands[name];
  const first = segments[at];
  if (spec?.class === "number") {
    const value =
      first !== undefined && /^[0-9]{1,10}$|^0x[0-9a-fA-F]{1,8}$/.test(first.text) ? Number(first.text) : -1;
    const fits = value >= spec.from && value <= spec.to;
    const wanted = [`a number from ${spec.from} to ${spec.to}`];
    if (first === undefined || !fits) return { operand: null, taken: 0, wanted };
    return { operand: { kind: "number", start: first.start, end: first.end, value }, taken: 1, wanted };
  }
  if (spec?.class === "string") {
    const operand: StringOperand | null =
      first !== undefined && /^(?:<[A-Za-z]+>)+$/.test(first.text)
        ? { kind: "string", start: first.start, end: first.end, text: first.text }
        : null;
    return { operand, taken: 1, wanted: ["<RTI>"] };
  }
  if (spec?.class !== "option") throw new Error(`${row.name}: a suffix is neither an option nor a number: ${name}`);
  const wanted = Object.keys(spec.choices);
  // A choice may itself contain dots: `ca.ca`, `uniform.noreturn`. The longest is meant.
  for (let taken = Math.min(segments.length - at, 4); taken > 0; taken--) {
    const pieces = segments.slice(at, at + taken);
    const choice = choiceOfText(spec, pieces.map(({ text }) => text).join("."));
    if (choice === null) continue;
    const operand: OptionOperand = { kind: "option", start: pieces[0]!.start, end: pieces.at(-1)!.end, choice };
    return { operand, taken, wanted };
  }
  return { operand: null, taken: 0, wanted };
}

function reportUnknown(p: Cursor, mnemonic: Name): void {
  const segments = segmentsOf(mnemonic.text);
  const first = segments[0]!;
  const span = (segment: Segment) => ({ start: mnemonic.start + segment.start, end: mnemonic.start + segment.end });
  const matching = wordsOf(segments);
  if (matching.length > 0) {
    reportSuffix(p, mnemonic, segments, matching);
    return;
  }
  const words = wordsByFirst();
  const sameFirst = words.get(first.text);
  if (sameFirst !== undefined) {
    const wanted = sameFirst.map((word) => word.segments.join("."));
    const named = { start: mnemonic.start, end: mnemonic.start + (segments[1]?.end ?? first.end) };
    p.fail("visa-unknown-mnemonic", named, `no instruction is called '${p.text.slice(named.start, named.end)}'`, {
      help: `did you mean ${oneOf(wanted)}?`,
    });
    return;
  }
  const lower = first.text.toLowerCase();
  if (words.has(lower)) {
    p.fail("visa-mnemonic-case", span(first), `mnemonics are written in lower case`, { help: mean(lower) });
    return;
  }
  // No suggestion is looked up for an error that will not be kept.
  const meant = p.sink.full ? null : nearest(lower, words.keys());
  // A mnemonic follows: this may be a predicate without its parentheses.
  const predicate =
    p.at(Token.name) && words.has(p.token) ? `a predicate is written in parentheses: (${first.text})` : null;
  p.fail("visa-unknown-mnemonic", span(first), `no instruction is called '${first.text.slice(0, 60)}'`, {
    help: predicate ?? (meant === null ? undefined : mean(meant)),
  });
}

interface WrongSuffix {
  /** The first segment that does not fit; undefined if the mnemonic only lacks further ones. */
  readonly wrong: Segment | undefined;
  /** The suffixes that could stand there. */
  readonly wanted: readonly string[];
}

function wrongSuffix(segments: readonly Segment[], matching: readonly Word[]): WrongSuffix {
  const matches = matching.flatMap((word) =>
    word.rows.map((row) => matchSuffixes(row, segments, word.segments.length)),
  );
  const fitting = Math.max(...matches.map((match) => match.fitting));
  const wanted = [...new Set(matches.flatMap((match) => (match.fitting === fitting ? match.wanted : [])))].filter(
    Boolean,
  );
  return { wrong: segments[fitting], wanted };
}

/**
 * What is wrong with the suffixes of a mnemonic whose instruction exists: `meant` is the mnemonic with the suffix that
 * was likely meant, if one is near. Null if they fit, or if only further ones are missing.
 */
export function misspeltSuffix(text: string): { readonly meant: string | null } | null {
  const segments = segmentsOf(text);
  const matching = wordsOf(segments);
  if (matching.length === 0 || findCandidates(text).length > 0) return null;
  const { wrong, wanted } = wrongSuffix(segments, matching);
  if (wrong === undefined) return null;
  const meant = meantBy(wrong.text, wanted);
  return { meant: meant === null ? null : `${text.slice(0, wrong.start)}${meant}${text.slice(wrong.end)}` };
}

/** Reports suffixes that an existing instruction does not have, at the first one that does not fit. */
function reportSuffix(p: Cursor, mnemonic: Name, segments: readonly Segment[], matching: readonly Word[]): void {
  const { wrong, wanted } = wrongSuffix(segments, matching);
  const word = matching[0]!.segments.join(".");
  const shown = wanted.map((choice) => (choice.startsWith("a number") ? choice : `'.${choice}'`));
  const list = shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
  const help = wanted.length === 0 ? `nothing can follow here` : wanted.length > 20 ? undefined : `expected ${list}`;
  if (wrong === undefined) {
    const end = mnemonic.start + segments.at(-1)!.end;
    p.fail("visa-unknown-suffix", { start: mnemonic.start, end }, `'${mnemonic.text}' lacks a suffix`, { help });
    return;
  }
  const meant = meantBy(wrong.text, wanted);
  const span = { start: mnemonic.start + wrong.start - 1, end: mnemonic.start + wrong.end };
  p.fail("visa-unknown-suffix", span, `'${word}' has no suffix '.${wrong.text.slice(0, 60)}' here`, {
    help: meant === null ? help : `did you mean '.${meant}'?`,
  });
}
