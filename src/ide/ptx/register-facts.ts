import { type RegisterFact, registerFacts } from "../../ir/uniformity/register-facts.ts";
import type { CheckedModule } from "../../ptx/check/checked-module.ts";
import type { BodyInfo } from "../../ptx/check/context.ts";
import { lowerAlone } from "../../ptx/lower/function-alone.ts";
import type { FunctionDeclaration, RegisterSymbol } from "../../ptx/tree/nodes.ts";
import type { TypeInfo } from "../../ptx/types.ts";
import type { Diagnostic, Span } from "../../source/index.ts";
import { otherSpellings } from "../base/constants.ts";
import { factText, integerText } from "../base/facts.ts";
import type { Part, Placed, PtxModel } from "./model.ts";

type Facts = (symbol: RegisterSymbol) => readonly RegisterFact[];

/**
 * The facts of functions by what the checker found in their bodies. It finds that anew exactly if the text of the body
 * has changed, or a declaration that it names: edits elsewhere leave the facts as they are.
 */
const known = new WeakMap<BodyInfo, Facts | null>();

/** The number of instructions beyond which a function is not analysed: it would take longer than one waits. */
const maxInstructions = 20_000;

/**
 * Says how a register varies over the lanes of a warp, as far as the analysis of its function knows; null if it knows
 * nothing, or if the function has errors.
 */
export function registerText(model: PtxModel, { part, item }: Placed, symbol: RegisterSymbol): string | null {
  if (item.kind !== "function" || item.body === null) return null;
  const [fact, ...more] = factsOf(model, part, item)?.(symbol) ?? [];
  if (fact === undefined || more.length > 0) return null;
  const { type } = symbol;
  const constant = (bits: bigint): string => constantText(bits, type);
  return factText(fact, type.kind === "pred", { together: "a warp", numbered: "the block", constant });
}

function factsOf(model: PtxModel, part: Part, item: FunctionDeclaration): Facts | null {
  const body = model.checked.bodies.get(item);
  if (body === undefined || isWrong(model, part, item)) return null;
  let facts = known.get(body);
  if (facts === undefined) known.set(body, (facts = analysed(model, part, item)));
  return facts;
}

/** Whether something in the text of a function is wrong, its header included. */
function isWrong({ checked }: PtxModel, { source, syntax }: Part, { start, end }: FunctionDeclaration): boolean {
  const isHere = ({ severity, source: of, span }: Diagnostic): boolean =>
    severity === "error" && of === source && span.end >= start && span.start <= end;
  return syntax.some(isHere) || checked.diagnostics.some(isHere);
}

/** Analyses a function of a range of the document, if there is one that has not been. Returns whether there was. */
export function analyseNext(model: PtxModel, { start, end }: Span): boolean {
  const { bodies } = model.checked;
  for (const part of model.parts) {
    const shift = part.start - part.base;
    if (part.start > end) break;
    if (part.start + part.length < start) continue;
    for (const item of part.items) {
      if (item.kind !== "function" || item.start + shift > end || item.end + shift < start) continue;
      const body = bodies.get(item);
      if (body === undefined || known.has(body) || isWrong(model, part, item)) continue;
      factsOf(model, part, item);
      return true;
    }
  }
  return false;
}

function analysed({ parts, checked }: PtxModel, part: Part, item: FunctionDeclaration): Facts | null {
  const symbol = checked.functions.find(({ declarations }) => declarations.includes(item));
  if (symbol === undefined || item.body!.statements.length > maxInstructions) return null;
  // Of the other items of the module only registers and variables at its scope matter.
  const items = parts.flatMap((each) => each.items.filter(({ kind }) => kind === "variable"));
  const { start, end } = item;
  const module: CheckedModule["module"] = {
    ...{ kind: "module", source: part.source, items, comments: [], skipped: [], start, end },
  };
  const lowered = lowerAlone({ ...checked, module }, symbol);
  if (lowered === null) return null;
  const factOf = registerFacts(lowered.ir);
  return (register) => lowered.registersOf(register).map(factOf);
}

function constantText(bits: bigint, { kind, bits: width }: TypeInfo): string {
  if (kind !== "f" || (width !== 32 && width !== 64)) return integerText(bits, width, kind === "s");
  const digits = bits.toString(16).toUpperCase();
  const word = `0${width === 32 ? "f" : "d"}${digits.padStart(width / 4, "0")}`;
  return `\`${otherSpellings(word)[0]}\` (\`${word}\`)`;
}
