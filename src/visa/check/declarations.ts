import { typeBytes } from "../types.ts";
import type { BoundInput, Variable } from "../symbols.ts";
import type { Declaration } from "../tree.ts";
import { alignmentBytes } from "./alignment.ts";
import type { RoutineContext } from "./routine-context.ts";

/** The most elements that a variable may have, by its kind (4_visa_header.md). */
const maxElements = { G: 4096, A: 16, P: 32, S: 128, T: 128 } as const;

/**
 * Predefined variables that may have aliases. IGC's code contains aliases of all of these; the manual's table allows
 * only those of %r0, %arg, %retval and the buffer pointers.
 */
const aliasable = new Set(["%r0", "%arg", "%retval", "%sp", "%fp", "%hw_id", "%impl_arg_buf_ptr", "%local_id_buf_ptr"]);

/** Checks the number of elements, type, alignment and alias of every declaration. */
export function checkDeclarations(context: RoutineContext): void {
  for (const [node, variable] of context.binding.declared) {
    elements(context, node);
    if (node.align !== null && alignmentBytes(node.align.text, context.grfBytes) === null) {
      context.error(
        "visa-alignment",
        node.align,
        `\`${node.align.text}\` is not an alignment`,
        "write byte, word, dword, qword, oword, hword, GRF, wordx32, wordx64 or GRFx2",
      );
    }
    if (node.alias !== null) alias(context, node, variable);
  }
}

function elements(context: RoutineContext, { name, variable, type, elements: count }: Declaration): void {
  const max = maxElements[variable];
  const whole = Number.isInteger(count) && count >= 1 && count <= max;
  if (!whole || (variable === "P" && !Number.isInteger(Math.log2(count)))) {
    const wanted = variable === "P" ? "1, 2, 4, 8, 16 or 32" : `1 to ${max}`;
    context.error("visa-element-count", name, `\`${name.text}\` has ${count} elements`, `it may have ${wanted}`);
    return;
  }
  if (variable !== "G" || type === null) return;
  if (["v", "uv", "vf", "bool"].includes(type)) {
    context.error("visa-variable-type", name, `a variable cannot have the type ${type}`, "only immediates can");
  }
  // The manual's 4 KiB are the 128 registers of its time. With 256 registers of 64 bytes the limit is 16 KiB.
  const maxBytes = context.grfBytes === 32 ? 4096 : 16_384;
  if (count * typeBytes(type) > maxBytes) {
    context.error(
      "visa-element-count",
      name,
      `\`${name.text}\` has ${count * typeBytes(type)} bytes`,
      `a variable has at most ${maxBytes}`,
    );
  }
}

function alias(context: RoutineContext, node: Declaration, variable: Variable): void {
  const { of: name, offset } = node.alias!;
  const base = context.variable(name);
  if (base === null) return;
  if (base.name === "%null") {
    if (offset !== 0) context.error("visa-alias", name, "an alias of %null has no storage, and no offset");
    return;
  }
  if (node.variable !== "G" || base.kind !== "G") {
    context.error(
      "visa-alias",
      name,
      `\`${name.text}\` is not a general variable`,
      "only general variables have aliases",
    );
    return;
  }
  if (base.predefined && !aliasable.has(base.name)) {
    context.error("visa-alias", name, `\`${base.name}\` cannot have an alias`, "name it in the instruction itself");
  }
  if (offset < 0 || offset + variable.bytes > base.bytes) {
    context.error(
      "visa-alias",
      name,
      `bytes ${offset} to ${offset + variable.bytes - 1} are not inside \`${name.text}\`, which has ${base.bytes}`,
      context.note("declared here", base.span),
    );
  }
  if (offset % typeBytes(variable.type) !== 0) {
    context.error("visa-alignment", name, `the offset ${offset} is not aligned to the type ${variable.type}`);
  }
}

/**
 * Checks inputs: they lie side by side in the payload, each at its natural alignment (4_visa_header.md, "Input
 * Variables").
 */
export function checkInputs(context: RoutineContext): void {
  const { inputs, kind } = context.routine;
  const placed = new Map<Variable, BoundInput>();
  for (const input of inputs) {
    if (kind === "function") {
      context.error("visa-input", input.span, "a function has no inputs", "its arguments are in %arg");
      continue;
    }
    const first = placed.get(input.variable);
    if (first !== undefined) {
      const message = `\`${input.variable.name}\` is declared as an input twice`;
      context.error("visa-input", input.span, message, context.note("the first time", first.span));
      continue;
    }
    placed.set(input.variable, input);
    inputPlace(context, input);
  }
  const sorted = [...placed.values()].sort((a, b) => a.offset - b.offset);
  let last: BoundInput | null = null;
  for (const input of sorted) {
    if (last !== null && input.offset < last.offset + last.size) {
      const message = `the input \`${input.variable.name}\` overlaps \`${last.variable.name}\``;
      context.error("visa-input", input.span, message, context.note("the other one", last.span));
    }
    if (last === null || input.offset + input.size > last.offset + last.size) last = input;
  }
}

function inputPlace(context: RoutineContext, { variable, offset, size, span }: BoundInput): void {
  const { grfBytes } = context;
  const state = variable.kind !== "G";
  if (variable.kind === "A" || variable.kind === "P" || variable.predefined) {
    context.error(
      "visa-input",
      span,
      `\`${variable.name}\` cannot be an input`,
      "general variables, samplers and surfaces can",
    );
    return;
  }
  if (variable.alias !== null) {
    context.error("visa-input", span, `\`${variable.name}\` is an alias, and cannot be an input`);
  }
  const bytes = state ? variable.elements * 4 : variable.bytes;
  if (size !== bytes) {
    context.error("visa-input", span, `the input has ${size} bytes, but \`${variable.name}\` has ${bytes}`);
  }
  const natural = state ? 4 : size >= grfBytes ? grfBytes : typeBytes(variable.type);
  if (offset < 0 || offset % natural !== 0) {
    context.error("visa-input", span, `the offset ${offset} is not a multiple of ${natural}`);
  } else if (
    size > 0 &&
    size < grfBytes &&
    Math.floor(offset / grfBytes) !== Math.floor((offset + size - 1) / grfBytes)
  ) {
    context.error("visa-input", span, `the input crosses from one register (${grfBytes} bytes) into the next`);
  }
}
