import { nearest } from "../../source/index.ts";
import type { Attribute, Statement } from "../tree.ts";
import type { RoutineContext } from "./routine-context.ts";

/** The values that an attribute may have. A `flag` has none, or 0 or 1. */
type Value = "flag" | "string" | readonly [min: number, max: number] | { readonly of: readonly (number | string)[] };

const any32: Value = [-0x8000_0000, 0xffff_ffff];

/** Attributes of kernels and functions (4_visa_header.md, "Kernel"). IGC knows more than the manual. */
const routineAttributes: Readonly<Record<string, Value>> = {
  Target: { of: ["cm", "3d", 0, 1] },
  SimdSize: { of: [0, 1, 8, 16, 32] },
  SLMSize: any32,
  SpillMemOffset: any32,
  ArgSize: [0, 32],
  RetValSize: [0, 12],
  PerThreadInputSize: any32,
  perThreadInputSize: any32,
  CrossThreadInputSize: any32,
  crossThreadInputSize: any32,
  NBarrierCnt: [0, 32],
  NumGRF: any32,
  MaxRegThreadDispatch: any32,
  ScratchInlineOffset: any32,
  ScratchIndirectRegOffset: any32,
  ScratchIndirectMemOffset: any32,
  Extern: "flag",
  NoBarrier: "flag",
  Callable: "flag",
  Caller: "flag",
  Composable: "flag",
  Entry: "flag",
  SepSpillPvtSS: "flag",
  LTO_InvokeOptTarget: "flag",
  AllLaneActive: "flag",
  DisableLoadThreadPayloadWA: "flag",
  OutputAsmPath: "string",
  AsmName: "string",
};

/** Attributes of variables. */
const variableAttributes: Readonly<Record<string, Value>> = {
  Scope: [0, 1],
  SurfaceUsage: any32,
  Input: "flag",
  Output: "flag",
  Input_Output: "flag",
  PayloadLiveOut: "flag",
  NoWidening: "flag",
  DoNotSpill: "flag",
  ForceSpill: "flag",
  ExclusiveLoad: "flag",
};

/** Checks the attributes of a routine and of its variables: known names, allowed values, the sizes of a function. */
export function checkAttributes(context: RoutineContext): void {
  const { kind, attributes, routine } = context.routine;
  const own = [...attributesOf(routine.statements)];
  const missing = kind === "function" ? ["ArgSize", "RetValSize"].filter((name) => !attributes.has(name)) : [];
  const misspelt = new Map(own.map((attribute) => [meantBy(attribute, routineAttributes), attribute]));
  const first = new Map<string, Attribute>();
  for (const attribute of own) {
    const before = first.get(attribute.name.text);
    if (before === undefined) first.set(attribute.name.text, attribute);
    else {
      const message = `the attribute \`${attribute.name.text}\` is given twice; the last one counts`;
      context.warning("visa-duplicate-attribute", attribute.name, message, context.note("the first one", before.name));
    }
    // A misspelt size is reported below, as an error.
    if (missing.includes(meantBy(attribute, routineAttributes) ?? "")) continue;
    check(context, attribute, routineAttributes);
  }
  for (const [declaration] of context.binding.declared) {
    for (const attribute of declaration.attributes)
      check(context, { kind: "attribute", ...attribute }, variableAttributes);
  }
  // The parser skipped a statement, which may be the missing attribute.
  if (context.binding.skipped.between(routine.start, context.binding.end)) return;
  for (const name of missing) {
    const found = misspelt.get(name);
    const message = `the function does not say its ${name}`;
    if (found === undefined) {
      const help = `write \`.kernel_attr ${name}=\` and its size in registers`;
      context.error("visa-missing-attribute", routine.name, message, help);
    } else context.error("visa-missing-attribute", found.name, message, `did you mean \`${name}\`?`);
  }
}

/** The known attribute whose name is nearest to an unknown one; null for a known one, and where none is near. */
const meantBy = ({ name }: Attribute, known: Readonly<Record<string, Value>>): string | null =>
  Object.hasOwn(known, name.text) ? null : nearest(name.text, Object.keys(known));

function* attributesOf(statements: readonly Statement[]): Iterable<Attribute> {
  for (const statement of statements) {
    if (statement.kind === "attribute") yield statement;
    else if (statement.kind === "scope") yield* attributesOf(statement.statements);
  }
}

function check(context: RoutineContext, attribute: Attribute, known: Readonly<Record<string, Value>>): void {
  const { name, value } = attribute;
  if (!Object.hasOwn(known, name.text)) {
    const meant = meantBy(attribute, known);
    const message = `the attribute \`${name.text}\` is not known and has no effect`;
    context.warning("visa-unknown-attribute", name, message, meant === null ? {} : `did you mean \`${meant}\`?`);
    return;
  }
  const wanted = wrong(value, known[name.text]!);
  if (wanted === null) return;
  context.error("visa-attribute-value", name, `\`${name.text}\` cannot be ${shown(value)}`, wanted);
}

const shown = (value: number | string | null): string =>
  value === null ? "empty" : typeof value === "string" ? `"${value}"` : String(value);

/** Help on what the value may be, or null if it is allowed. */
function wrong(value: number | string | null, wanted: Value): string | null {
  if (wanted === "flag") return value === null || value === 0 || value === 1 ? null : "write the name alone";
  if (wanted === "string") return value === null ? "it needs a value" : null;
  if ("of" in wanted) {
    const choices = wanted.of.filter((choice) => typeof choice === "string" || choice > 1);
    return value !== null && wanted.of.includes(value) ? null : `it may be ${choices.map(shown).join(", ")}`;
  }
  const [min, max] = wanted;
  const fits = typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
  return fits ? null : `it may be ${min} to ${max}`;
}
