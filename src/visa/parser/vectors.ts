import type { OperandSpec, VectorForm } from "../isa/row.ts";
import { Token } from "../lexer.ts";
import type { Name, NameOperand, Region, SourceModifier, VectorOperand } from "../tree.ts";
import type { Cursor } from "./cursor.ts";
import { constant, count } from "./expressions.ts";
import { immediate, typeSuffix } from "./literals.ts";

type VectorSpec = OperandSpec & { readonly class: "vector" };
/** A vector operand, or the plain name of a predicate where it may be one. */
type Vector = VectorOperand | NameOperand;

const formNames: Readonly<Record<VectorForm, string>> = {
  general: "a general variable",
  indirect: "an indirect operand",
  immediate: "an immediate",
  address: "an address variable",
  "address-of": "the address of a variable",
  predicate: "a predicate",
  state: "a surface or sampler",
};

const none: Region = { vertical: null, width: null, horizontal: null };
const maxOffset = 0xffff;

/** `V(0,0)<1>`, `V<1>`, `A0(0)<8>`, `r[A0(0),4]<1>:f`, `T6(0)`, `P1`. */
export function destination(p: Cursor, spec: VectorSpec): Vector {
  const { start } = p;
  if (atIndirect(p)) {
    const at = indirectAddress(p);
    const region = destinationRegion(p);
    const type = typeSuffix(p);
    return allowed(p, spec, { kind: "indirect", start, end: p.previousEnd, ...at, region, type, modifier: null });
  }
  const variable = p.name(`${wantedOf(spec)}, as the destination`);
  return variableOperand(p, spec, variable, start, null);
}

/** A source operand with its modifier, as in `(-)V(0,0)<8;8,1>`. */
export function source(p: Cursor, spec: VectorSpec): Vector {
  const { start } = p;
  const modifier = p.at(Token.leftParen) && spec.plain !== true ? sourceModifier(p) : null;
  if (atIndirect(p)) {
    const at = indirectAddress(p);
    const region = indirectRegion(p);
    const type = typeSuffix(p);
    return allowed(p, spec, { kind: "indirect", start, end: p.previousEnd, ...at, region, type, modifier });
  }
  if (p.at(Token.name) && !p.atWord("%sizeof") && !p.atWord("%DispatchSimd")) {
    return variableOperand(p, spec, p.name("a variable"), start, modifier);
  }
  if (modifier !== null) p.unexpected("a variable");
  if (p.at(Token.and)) return addressOf(p, spec);
  if (!startsNumber(p)) p.unexpected(wantedOf(spec));
  return allowed(p, spec, immediate(p));
}

const startsNumber = (p: Cursor): boolean =>
  p.at(Token.number) ||
  p.at(Token.float) ||
  p.at(Token.minus) ||
  p.at(Token.complement) ||
  p.at(Token.not) ||
  p.at(Token.leftParen) ||
  p.at(Token.name);

function wantedOf({ forms }: VectorSpec): string {
  const names = forms.map((form) => formNames[form]);
  return names.length < 2 ? (names[0] ?? "an operand") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

const formOf = (operand: Vector): VectorForm => (operand.kind === "name" ? "predicate" : operand.kind);

function allowed(p: Cursor, spec: VectorSpec, operand: Vector): Vector {
  const form = formOf(operand);
  if (!spec.forms.includes(form)) {
    p.fail("visa-operand-form", operand, `${formNames[form]} cannot stand here; expected ${wantedOf(spec)}`);
  }
  return operand;
}

/** An operand that begins with the name of a variable; its kind depends on what follows. */
function variableOperand(
  p: Cursor,
  spec: VectorSpec,
  variable: Name,
  start: number,
  modifier: SourceModifier | null,
): Vector {
  const isSource = spec.role === "src";
  const mayBePredicate = modifier === null && spec.forms.includes("predicate");
  // After a predicate, the modifier of the next operand may follow.
  if (p.at(Token.leftParen) && !(mayBePredicate && modifierAt(p) !== null)) {
    p.advance();
    const first = count(p, 0, maxOffset, "the offset");
    if (p.accept(Token.comma)) {
      const column = count(p, 0, maxOffset, "the offset");
      p.expect(Token.rightParen, "')'");
      const region = isSource ? sourceRegion(p, spec) : destinationRegion(p);
      const at = { variable, row: first, column };
      return allowed(p, spec, { kind: "general", start, end: p.previousEnd, ...at, region, modifier });
    }
    p.expect(Token.rightParen, "',' or ')'");
    if (modifier !== null && !p.panicking) {
      p.fail("visa-operand-form", variable, "only general and indirect operands have a modifier");
    }
    if (!p.at(Token.less)) {
      return allowed(p, spec, { kind: "state", start, end: p.previousEnd, variable, element: first });
    }
    p.advance();
    const width = count(p, 0, 32, "the width", true);
    if (p.at(Token.semicolon)) {
      const { text } = variable;
      p.fail("visa-operand-form", { start, end: p.start }, `\`${text}\` has only one number here, but a region`, {
        help: `a general variable has a row and a column: ${text}(${first},0)<...>`,
      });
    }
    p.expect(Token.greater, "'>'");
    return allowed(p, spec, { kind: "address", start, end: p.previousEnd, variable, element: first, width });
  }
  if (p.at(Token.less) && !isSource) {
    const region = destinationRegion(p);
    const at = { variable, row: 0, column: 0 };
    return allowed(p, spec, { kind: "general", start, end: p.previousEnd, ...at, region, modifier: null });
  }
  if (mayBePredicate) {
    return { kind: "name", start, end: p.previousEnd, name: variable };
  }
  p.unexpected(
    isSource || spec.forms.includes("state") ? "'(' and an offset" : "'(' or '<'",
    spec.forms.includes("general")
      ? `a variable is written ${variable.text}(0,0)<${isSource ? "0;1,0" : "1"}>`
      : undefined,
  );
  return { kind: "state", start, end: p.previousEnd, variable, element: 0 };
}

/** `&V`, `&V[16]`. */
function addressOf(p: Cursor, spec: VectorSpec): Vector {
  const { start } = p;
  p.advance();
  const variable = p.name("the name of a variable");
  let offset = 0;
  if (p.accept(Token.leftBracket)) {
    offset = count(p, -0x8000, 0x7fff, "the offset");
    p.expect(Token.rightBracket, "']'");
  }
  return allowed(p, spec, { kind: "address-of", start, end: p.previousEnd, variable, offset });
}

const modifierText = /\((-abs|-|abs|~)\)/y;
const modifiers: Readonly<Record<string, SourceModifier>> = { "-": "neg", abs: "abs", "-abs": "neg-abs", "~": "not" };

/** `(-)`, `(abs)`, `(-abs)` or `(~)`, without blanks; null for another parenthesis. */
function modifierAt(p: Cursor): SourceModifier | null {
  modifierText.lastIndex = p.start;
  const found = modifierText.exec(p.text);
  return found === null ? null : modifiers[found[1]!]!;
}

function sourceModifier(p: Cursor): SourceModifier | null {
  const modifier = modifierAt(p);
  if (modifier !== null) while (!p.accept(Token.rightParen)) p.advance();
  return modifier;
}

const atIndirect = (p: Cursor): boolean => p.atWord("r") && p.lexer.following === 0x5b;

/** `r[A0(2),16]`. */
function indirectAddress(p: Cursor): { readonly variable: Name; readonly element: number; readonly offset: number } {
  p.advance();
  p.advance();
  const variable = p.name("an address variable");
  p.expect(Token.leftParen, "'('");
  const element = count(p, 0, 0xff, "the element");
  p.expect(Token.rightParen, "')'");
  const offset = p.accept(Token.comma) ? count(p, -0x8000, 0x7fff, "the offset") : 0;
  p.expect(Token.rightBracket, "']'");
  return { variable, element, offset };
}

/** A stride or width. A `>` ends the region; as an operator it must be in parentheses. */
const stride = (p: Cursor): number => count(p, 0, 32, "a stride or width", true);

/** `<1>`. */
function destinationRegion(p: Cursor): Region {
  p.expect(Token.less, "'<' and the stride");
  const horizontal = stride(p);
  p.expect(Token.greater, "'>'");
  return { ...none, horizontal };
}

/** `<8;8,1>`; some operands are written without it. */
function sourceRegion(p: Cursor, spec: VectorSpec): Region {
  if (spec.plain === true) return { vertical: 1, width: 1, horizontal: 0 };
  p.expect(Token.less, "'<' and the region");
  const vertical = stride(p);
  if (!p.at(Token.semicolon)) p.unexpected("';'", "the region of a source is <vertical;width,horizontal>");
  p.accept(Token.semicolon);
  const width = stride(p);
  p.expect(Token.comma, "','");
  const horizontal = stride(p);
  p.expect(Token.greater, "'>'");
  return { vertical, width, horizontal };
}

/** `<8;8,1>`, `<1,0>` or `<1>`. */
function indirectRegion(p: Cursor): Region {
  p.expect(Token.less, "'<' and the region");
  const first = Number(constant(p, true));
  let region: Region = { ...none, horizontal: first };
  if (p.accept(Token.semicolon)) {
    const width = stride(p);
    p.expect(Token.comma, "','");
    region = { vertical: first, width, horizontal: stride(p) };
  } else if (p.accept(Token.comma)) region = { vertical: null, width: first, horizontal: stride(p) };
  p.expect(Token.greater, "'>'");
  return region;
}
