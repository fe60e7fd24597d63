import type { Row } from "../isa/row.ts";
import { textItems } from "../isa/template.ts";
import { Token } from "../lexer.ts";
import type { ExecSize, Instruction, Name, Operand, Predicate } from "../tree.ts";
import type { Cursor } from "./cursor.ts";
import { smallInteger } from "./expressions.ts";
import { type Candidate, candidatesOf, type SuffixOperand } from "./mnemonics.ts";
import { operand } from "./operands.ts";
import { oneOf } from "./options.ts";

/** `(P1) add.sat (M1, 16) V1(0,0)<1> V2(0,0)<8;8,1> 0x1:ud`; null after an error. */
export function instruction(p: Cursor): Instruction | null {
  const { start } = p;
  const guard = p.at(Token.leftParen) ? predicate(p) : null;
  const mnemonic = mnemonicAt(p);
  if (mnemonic === null) return null;
  const candidates = candidatesOf(p, mnemonic);
  const [only] = candidates;
  if (only === undefined) return null;
  if (candidates.length === 1) return fitting(p, only, start, mnemonic, guard);
  return p.first(candidates.map((candidate) => () => fitting(p, candidate, start, mnemonic, guard)));
}

function mnemonicAt(p: Cursor): Name | null {
  if (p.at(Token.dot)) p.extend("extendDirective");
  else if (p.at(Token.name)) p.extend("extendMnemonic");
  else {
    p.unexpected("an instruction");
    return null;
  }
  const name = { text: p.token, start: p.start, end: p.end };
  p.advance();
  return name;
}

/** Reads an instruction as one of its candidates; null, in a panic, if it does not match. */
function fitting(
  p: Cursor,
  { row, saturate, operands: suffixes }: Candidate,
  start: number,
  mnemonic: Name,
  guard: Predicate | null,
): Instruction | null {
  const operands: Record<string, Operand> = {};
  for (const [name, suffix] of suffixes) operands[name] = suffixAt(suffix, mnemonic.start);
  let exec: ExecSize | null = null;
  let guarded = guard === null;
  for (const item of textItems(row)) {
    switch (item.kind) {
      case "predicate":
        guarded = true;
        break;
      case "mnemonic":
        if (!guarded) {
          p.fail("visa-predicate-not-allowed", guard!, `'${row.mnemonic}' takes no predicate`, {
            help: "branch around it",
          });
        }
        break;
      case "exec":
        exec = execSize(p);
        break;
      case "parenthesised":
      case "tuple":
        p.expect(Token.leftParen, "'('");
        // Block accesses may have a mask, which has no effect on them.
        if (item.kind === "parenthesised") executionMask(p);
        for (const [i, name] of (item.kind === "tuple" ? item.operands : [item.operand]).entries()) {
          if (i > 0) p.expect(Token.comma, "','");
          operands[name] = operand(p, row, name);
        }
        p.expect(Token.rightParen, "')'");
        break;
      case "sized":
        operands[item.operand] = operand(p, row, item.operand);
        p.expect(Token.slash, "'/' and a length");
        operands[item.size] = operand(p, row, item.size);
        break;
      case "operand":
        if (!item.optional) operands[item.operand] = operand(p, row, item.operand);
        else if (!p.atEnd) {
          const found = p.maybe(() => optional(p, row, item.operand));
          if (found !== null) operands[item.operand] = found;
        }
    }
    if (p.panicking) return null;
  }
  if (!p.atEnd) p.unexpected("the end of the line");
  if (p.panicking) return null;
  return {
    kind: "instruction",
    start,
    end: p.previousEnd,
    row,
    mnemonic,
    predicate: guard,
    saturate,
    exec,
    operands,
  };
}

/** An optional operand. A number before a colon is not one: it is an immediate, and belongs to the next operand. */
function optional(p: Cursor, row: Row, name: string): Operand {
  const found = operand(p, row, name);
  if (p.at(Token.colon)) p.unexpected("the next operand");
  return found;
}

/** A suffix with its span moved to where its mnemonic is. */
function suffixAt(suffix: SuffixOperand, at: number): SuffixOperand {
  const start = at + suffix.start;
  const end = at + suffix.end;
  switch (suffix.kind) {
    case "option":
      return { kind: "option", start, end, choice: suffix.choice };
    case "number":
      return { kind: "number", start, end, value: suffix.value };
    case "string":
      return { kind: "string", start, end, text: suffix.text };
  }
}

/** `(!P1.any)` */
function predicate(p: Cursor): Predicate {
  const { start } = p;
  p.advance();
  const inverted = p.accept(Token.not);
  const name = p.name("a predicate");
  let collapse: Predicate["collapse"] = null;
  if (p.accept(Token.dot)) {
    if (p.atWord("any")) collapse = "any";
    else if (p.atWord("all")) collapse = "all";
    if (collapse === null) p.unexpected("'any' or 'all'");
    else p.advance();
  }
  p.expect(Token.rightParen, "')'");
  return { start, end: p.previousEnd, name, inverted, collapse };
}

const sizes = [1, 2, 4, 8, 16, 32];

/** `(M3, 8)`, `(M1_NM, 1)`, `(NoMask, 8)`, `(16)`. */
function execSize(p: Cursor): ExecSize {
  const { start } = p;
  p.expect(Token.leftParen, "'(' and the execution size");
  const mask = executionMask(p);
  const span = p.span;
  const size = smallInteger(p) ?? (p.at(Token.number) ? 0 : 1);
  p.expect(Token.number, "an execution size");
  if (!sizes.includes(size)) {
    p.fail("visa-execution-size", span, `${p.text.slice(span.start, span.end)} is not an execution size`, {
      help: `it is ${oneOf(sizes.map(String))}`,
    });
  }
  p.expect(Token.rightParen, "')'");
  return { start, end: p.previousEnd, size, ...mask };
}

/** `M3,` before a size; M1 if it is left out. */
function executionMask(p: Cursor): Pick<ExecSize, "offset" | "noMask"> {
  if (!p.at(Token.name)) return { offset: 0, noMask: false };
  const mask = /^(?:M([1-8])(_NM)?|NoMask)$/.exec(p.token);
  if (mask === null) {
    p.fail("visa-execution-mask", p, `${p.describe()} is not an execution mask`, {
      help: p.text.startsWith("M", p.start)
        ? "the masks are M1 to M8, with _NM for no mask, and NoMask"
        : "the masks are M1 to M8, M1_NM to M8_NM and NoMask; a predicate comes before the mnemonic",
    });
  }
  p.accept(Token.name);
  p.expect(Token.comma, "','");
  return { offset: (Number(mask?.[1] ?? 1) - 1) * 4, noMask: mask?.[1] === undefined || mask[2] !== undefined };
}
