import { elementType, type OperandRule } from "../isa/operand-spec.ts";
import { type Candidate, type ResolvedOperand, rootOf } from "../isa/resolve.ts";
import type { Expression, Instruction, NameExpr, Operand, VectorOperand } from "../tree/nodes.ts";
import { declarableTypes, type TypeInfo, typeInfo } from "../types.ts";
import { addressMismatch, narrowAddress, spaceFits, spaceOf } from "./address-operand.ts";
import { constantMismatch } from "./constant-operand.ts";
import type { CheckContext } from "./context.ts";
import { constantClass } from "./immediate.ts";
import { elementMismatch } from "./element.ts";
import { baseName, isNameWithOffset, offsetShape } from "./name-with-offset.ts";
import { type Mismatch, mismatch, spaceMismatch, typeMismatch, typeName, vectorSize } from "./operand-mismatch.ts";

/** Instructions whose data operands may be wider than the instruction's type (9.4.1; ptxas adds those of surfaces). */
const relaxed: ReadonlySet<string> = new Set(["ld", "ld.global.nc", "ldu", "st", "cvt", "suld", "sust"]);

/**
 * The operand of each slot of a form, with null for an optional one that is left out. Returns null if there are too few
 * or too many operands. Optional slots are filled in order, so the last ones are left out first; but one that takes a
 * vector in braces is left out where the operand is none.
 */
export function assignOperands(candidate: Candidate, operands: readonly Operand[]): readonly (Operand | null)[] | null {
  const slots = candidate.operands;
  if (operands.length === slots.length) return operands;
  if (operands.length > slots.length) return null;
  let missing = slots.length - operands.length;
  const assigned: (Operand | null)[] = new Array(slots.length).fill(null);
  for (let i = slots.length - 1; i >= 0 && missing > 0; i--) {
    if (slots[i]!.optional) {
      missing--;
      assigned[i] = leftOut;
    }
  }
  if (missing > 0) return null;
  let next = 0;
  let skipped = 0;
  return assigned.map((mark, i) => {
    const { optional, rule } = slots[i]!;
    const takesVector = optional && (rule.braces !== undefined || rule.counts.every((n) => n > 1));
    if (mark === leftOut) return skipped > 0 ? (skipped--, operands[next++]!) : null;
    if (takesVector && operands[next]?.kind !== "vector" && assigned.indexOf(leftOut, i) > 0) {
      skipped++;
      return null;
    }
    return operands[next++]!;
  });
}

const leftOut: Operand = { kind: "sink", start: -1, end: -1 };

/** Whether a register of the declared type fits an operand of the wanted one; `wider`: it may have more bits (9.4). */
export function fits(declared: TypeInfo, wanted: TypeInfo, wider: boolean): boolean {
  if (wanted.kind === "pred" || declared.kind === "pred") return wanted.kind === declared.kind;
  // Integer instructions treat a register of a packed type as plain bits.
  const isBits = declared.kind === "b" || (declared.lanes > 1 && (wanted.kind === "u" || wanted.kind === "s"));
  // Values of types that cannot be declared are held in untyped registers (5.2.3).
  if (!declarableTypes.has(wanted.name)) return isBits && declared.bits === wanted.bits;
  if (declared.bits === wanted.bits) {
    if (isBits || wanted.kind === "b") return true;
    return declared.kind === "f" || wanted.kind === "f"
      ? declared.kind === wanted.kind && declared.lanes === wanted.lanes
      : true;
  }
  if (!wider || declared.bits < wanted.bits) return false;
  if (isBits || wanted.kind === "b") return true;
  return declared.kind !== "f" && wanted.kind !== "f";
}

/** Whether a modifier allows wider operands: these need all types of the opcode to be fundamental (9.4.1). */
const isFundamentalOrNoType = (word: string): boolean => typeInfo(word) === null || declarableTypes.has(word);

/**
 * A mismatch if the elements of a vector in braces are not "similarly typed" (6.4.3): of one size, and no floats among
 * integers.
 */
function unlikeElement(elements: readonly Operand[]): Mismatch | null {
  let like: TypeInfo | null = null;
  for (const element of elements) {
    if (element.kind !== "name" || element.symbol?.kind !== "register") continue;
    const { type } = element.symbol;
    if (like !== null && (type.bits !== like.bits || !mixable(type, like))) {
      return mismatch(
        "operand-type",
        element,
        `a ${typeName(type)} register cannot be in one vector with a ${typeName(like)} register`,
      );
    }
    if (like === null || like.kind === "b") like = type;
  }
  return null;
}

const notAnElement = "an element of a vector must be a register or a constant";

const registerType = (operand: Operand): TypeInfo | null =>
  operand.kind === "name" && operand.symbol?.kind === "register" && operand.component === null
    ? operand.symbol.type
    : null;

/** A mismatch if nothing of a vector is used (ptxas: "Unable to infer type of vector elements"). */
const allSinks = (vector: VectorOperand): Mismatch | null =>
  vector.elements.every((element) => element.kind === "sink")
    ? mismatch("operand-kind", vector, "at least one element of a vector must not be '_'")
    : null;

const mixable = (a: TypeInfo, b: TypeInfo): boolean =>
  a.kind === "b" || b.kind === "b" || (a.kind === "f") === (b.kind === "f");

/** Checks operands against the rules of one form. */
export class OperandMatcher {
  readonly #node: Instruction;
  readonly #context: CheckContext;
  readonly #root: string;
  readonly #candidate: Candidate;
  readonly #relaxed: boolean;
  /** Whether the operands may be variables, whose addresses are taken: those of mov and cvta. */
  readonly #takesAddress: boolean;

  constructor(node: Instruction, candidate: Candidate, context: CheckContext) {
    this.#node = node;
    this.#candidate = candidate;
    this.#context = context;
    const text = node.opcode.text;
    this.#root = rootOf(text);
    this.#relaxed = relaxed.has(candidate.instruction.name) && candidate.written.every(isFundamentalOrNoType);
    this.#takesAddress = this.#root === "mov" || (this.#root === "cvta" && !text.startsWith("cvta.to."));
  }

  /** The first mismatch, or null if all operands fit. */
  match(): Mismatch | null {
    const assigned = assignOperands(this.#candidate, this.#node.operands);
    if (assigned === null) return this.#countMismatch();
    const slots = this.#candidate.operands;
    for (let i = 0; i < slots.length; i++) {
      const operand = assigned[i];
      if (!operand) continue;
      const mismatch = this.#slot(operand, slots[i]!);
      if (mismatch) return mismatch;
    }
    const packed = assigned.filter((operand, i) => operand?.kind === "vector" && slots[i]!.rule.split);
    if (packed.length > 1)
      return mismatch("operand-kind", packed[1]!, "a vector is packed into a scalar or unpacked from one, not both");
    const isNarrow = this.#root === "cvta" && this.#candidate.mods["size"] === "u32";
    return isNarrow ? narrowAddress(this.#node.opcode, 32, this.#context) : null;
  }

  #countMismatch(): Mismatch {
    const slots = this.#candidate.operands;
    const max = slots.length;
    const min = slots.filter((s) => !s.optional).length;
    const wanted = min === max ? `${max}` : `${min} to ${max}`;
    const extra = this.#node.operands[max];
    return {
      code: "operand-count",
      span: extra ?? this.#node.opcode,
      message: `'${this.#root}' takes ${wanted} operand${wanted === "1" ? "" : "s"}, but this has ${this.#node.operands.length}`,
    };
  }

  #slot(operand: Operand, slot: ResolvedOperand): Mismatch | null {
    if (operand.kind === "pair") {
      if (!slot.second) return mismatch("operand-kind", operand, "this instruction has one result here, not a pair");
      return this.#value(operand.first, slot.rule, slot) ?? this.#value(operand.second, slot.secondRule!, slot);
    }
    if (slot.second && !slot.second.optional)
      return mismatch("operand-kind", operand, `two results are expected here: '${slot.name}|${slot.second.name}'`);
    return this.#value(operand, slot.rule, slot);
  }

  /**
   * Checks a value. As in ptxas floats may follow an untyped register in a vector, since the first says what it is of.
   */
  #value(operand: Operand, rule: OperandRule, slot: ResolvedOperand): Mismatch | null {
    if (operand.kind === "bad" || rule.shape === "any") return null;
    if (rule.shape === "address") return addressMismatch(operand, slot, this.#candidate, this.#root, this.#context);
    if (rule.shape === "name") {
      return operand.kind === "name" ? null : mismatch("operand-kind", operand, "a name is expected here");
    }
    if (operand.kind === "vector") {
      if (!rule.braces || !rule.counts.includes(operand.elements.length)) {
        return vectorSize(operand, rule, operand.elements.length);
      }
      const wanted = elementType(rule, operand.elements.length);
      if (wanted === null) return vectorSize(operand, rule, operand.elements.length);
      const first = registerType(operand.elements[0]!);
      for (const [i, element] of operand.elements.entries()) {
        const type = registerType(element);
        if (i > 0 && first?.kind === "b" && type?.kind === "f" && type.bits === first.bits) continue;
        const wrong = this.#scalar(element, wanted, rule, slot, true);
        if (wrong) return wrong;
      }
      return allSinks(operand) ?? unlikeElement(operand.elements);
    }
    const needsBraces =
      rule.counts.length === 1 && (rule.counts[0] === 1 ? rule.braces === "required" : operand.kind !== "name");
    return needsBraces ? vectorSize(operand, rule, 1) : this.#scalar(operand, rule.type!, rule, slot, false);
  }

  /** Checks one register, immediate or name; `inVector`: it is an element of a vector. */
  #scalar(
    operand: Operand,
    type: TypeInfo,
    rule: OperandRule,
    slot: ResolvedOperand,
    inVector: boolean,
  ): Mismatch | null {
    if (rule.sink && operand.kind !== "sink") {
      return mismatch("operand-kind", operand, "this result cannot be kept", "write `_`");
    }
    switch (operand.kind) {
      case "name":
        return this.#name(operand, type, rule, slot, inVector);
      case "sink":
        if (inVector && rule.sinks) return null;
        if (!slot.destination) return mismatch("operand-kind", operand, "'_' can only stand for a result");
        if (!inVector && !slot.second && (this.#candidate.form.sem !== null || this.#relaxed)) {
          return mismatch("operand-kind", operand, `the result of '${this.#root}' cannot be discarded`);
        }
        return null;
      case "negated":
        if (!slot.negatable || type.kind !== "pred")
          return mismatch("operand-kind", operand, "this operand cannot be negated");
        return this.#scalar(operand.operand, type, rule, slot, inVector);
      case "address":
        return mismatch("operand-kind", operand, `'${slot.name}' is a value, not an address in brackets`);
      case "vector":
      case "pair":
      case "list":
        return mismatch("operand-kind", operand, "a register or a constant is expected here");
      case "bad":
        return null;
      case "indexed":
        // The address of an element (6.4.2), which only mov takes; ld and st take the element as an address.
        return this.#takesAddress && type.kind !== "f" && type.kind !== "pred" && type.bits >= 16
          ? elementMismatch(operand)
          : mismatch("operand-kind", operand, "the address of an element can only be the source of mov");
      default:
        return inVector && constantClass(operand) === "address"
          ? mismatch("operand-kind", operand, notAnElement)
          : this.#immediate(operand, type, rule, slot);
    }
  }

  #name(
    operand: NameExpr,
    type: TypeInfo,
    rule: OperandRule,
    slot: ResolvedOperand,
    inVector: boolean,
  ): Mismatch | null {
    const symbol = operand.symbol;
    if (symbol === null) return null;
    switch (symbol.kind) {
      case "register": {
        if (rule.immediate === "only") return mismatch("operand-kind", operand, `'${slot.name}' must be a constant`);
        const wider = this.#relaxed && slot.name !== "cache_policy";
        if (operand.component !== null && !this.#selects(operand.component, symbol.vector, slot)) {
          return mismatch("operand-kind", operand, `'.${operand.component}' cannot be selected here`);
        }
        if (symbol.vector > 1 && operand.component === null) {
          if (inVector || !rule.counts.includes(symbol.vector)) return vectorSize(operand, rule, symbol.vector);
          const element = elementType(rule, symbol.vector) ?? type;
          return fits(symbol.type, element, wider) ? null : typeMismatch(operand, symbol.type, element);
        } else if (!rule.counts.includes(1) && !inVector) return vectorSize(operand, rule, 1);
        return fits(symbol.type, type, wider) ? null : typeMismatch(operand, symbol.type, type);
      }
      case "special":
        if (slot.destination) return mismatch("operand-kind", operand, "a special register cannot be written");
        if (this.#root !== "mov" && this.#root !== "cvt") {
          return mismatch(
            "operand-kind",
            operand,
            "a special register can only be read by mov and cvt",
            `copy it first: \`mov.${symbol.type.name} r, ${operand.text};\``,
          );
        }
        if (symbol.vector > 1 && operand.component === null && !rule.counts.includes(symbol.vector))
          return vectorSize(operand, rule, symbol.vector);
        if (type.kind === "f") return typeMismatch(operand, symbol.type, type);
        // In PTX 1.x these registers had 16 bits, so a 16-bit read of a 32-bit one gives its low half (10.1).
        return type.bits === symbol.type.bits || (type.bits === 16 && symbol.type.bits === 32) || this.#root === "cvt"
          ? null
          : typeMismatch(operand, symbol.type, type);
      case "constant":
        return rule.immediate === "never" || type.kind === "f" || type.kind === "pred"
          ? mismatch("operand-kind", operand, "an integer constant does not fit here")
          : null;
      case "variable":
      case "parameter":
      case "function":
        if (symbol.kind === "parameter" && symbol.parameter.space === "reg") return null;
        if (inVector) return mismatch("operand-kind", operand, notAnElement);
        if (this.#root === "cvta" && symbol.kind !== "function") {
          const space = symbol.kind === "variable" ? symbol.space : "param";
          if (!spaceFits(spaceOf(this.#candidate), space))
            return spaceMismatch(operand, spaceOf(this.#candidate), space);
        }
        if (!this.#takesAddress || slot.destination || type.kind === "f" || type.kind === "pred") {
          return mismatch(
            "operand-kind",
            operand,
            `'${operand.text}' is not a register`,
            "take its address with mov first, or use brackets in ld and st",
          );
        }
        if (type.bits < 16) return typeMismatch(operand, type, type);
        return symbol.kind === "variable" && symbol.space === "global"
          ? narrowAddress(operand, type.bits, this.#context)
          : null;
      default:
        return mismatch("operand-kind", operand, `'${operand.text}' cannot be an operand of '${this.#root}'`);
    }
  }

  /** Whether `.component` is an element of a vector register, or a part that this operand may select. */
  #selects(component: string, vector: number, slot: ResolvedOperand): boolean {
    if (vector > 1 && "xyzwrgba".includes(component)) return true;
    return this.#candidate.form.selectors[slot.name]?.test(component) ?? false;
  }

  #immediate(operand: Expression, type: TypeInfo, rule: OperandRule, slot: ResolvedOperand): Mismatch | null {
    const kind = constantClass(operand);
    if (slot.destination) return mismatch("operand-kind", operand, "a result needs a register");
    if (kind === "negated-register") {
      return slot.signed && operand.kind === "unary" && operand.operator === "-"
        ? this.#scalar(operand.operand, type, rule, slot, false)
        : mismatch("operand-kind", operand, "this operand cannot be negated");
    }
    if (kind === "address") return this.#sum(operand, type, rule, slot);
    return constantMismatch(operand, type, rule, slot.name, this.#context);
  }

  /** Checks `variable+4`, and `register+4`, which ptxas accepts wherever it accepts an integer register. */
  #sum(operand: Expression, type: TypeInfo, rule: OperandRule, slot: ResolvedOperand): Mismatch | null {
    const base = baseName(operand);
    if (type.kind === "f" || type.kind === "pred" || (base?.symbol?.kind !== "register" && !this.#takesAddress)) {
      return mismatch("operand-kind", operand, "an address expression can only be the source of mov");
    }
    if (base === null || !isNameWithOffset(operand)) return mismatch("operand-kind", operand, ...offsetShape);
    return base.symbol?.kind === "register" ? this.#name(base, type, rule, slot, false) : null;
  }
}
