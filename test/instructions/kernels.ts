import { candidateGateProblem } from "../../src/ptx/check/gates.ts";
import type { Candidate, OperandRule } from "../../src/ptx/isa/index.ts";
import { bitsOf, elementRule, elements, formOf, isCarry, plain, selectorOf, type Vector } from "./vectors.ts";

/** Versions and targets that together have all instructions: what one has removed, another has. */
const homes = [
  { version: "9.1", target: "sm_100a", sm: 100, variant: "a" },
  { version: "9.1", target: "sm_120a", sm: 120, variant: "a" },
  { version: "9.1", target: "sm_103a", sm: 103, variant: "a" },
  { version: "9.1", target: "sm_90a", sm: 90, variant: "a" },
  { version: "8.0", target: "sm_80", sm: 80, variant: "" },
  { version: "6.0", target: "sm_60", sm: 60, variant: "" },
  { version: "6.2", target: "sm_70", sm: 70, variant: "" },
  { version: "1.4", target: "sm_13", sm: 13, variant: "" },
  { version: "1.3", target: "sm_13", sm: 13, variant: "" },
] as const;
export type Home = (typeof homes)[number] & { readonly addressSize?: 32 };

/** The module for 32-bit addresses, which are errors in modules with 64-bit ones. */
export const narrow: Home = { ...homes[0], addressSize: 32 };

/** The module that has the form under this opcode, or null. */
export function homeFor(candidate: Candidate, opcode: string): Home | null {
  return (
    homes.find(({ version, target, sm, variant }) => {
      const [major, minor] = version.split(".");
      const number = Number(major) * 100 + Number(minor);
      return candidateGateProblem(candidate, opcode, number, { name: target, sm, variant }) === null;
    }) ?? null
  );
}

/** A module that has the vector's form, or null. */
export function homeOf(vector: Vector): Home | null {
  const candidate = formOf(vector);
  if (typeof candidate === "string") return null;
  return /^cvta\b.*\.u32$/.test(vector.opcode) ? narrow : homeFor(candidate, vector.opcode);
}

/** The number of bytes that the results of one vector may take. */
export const slotBytes = 64;

/** A kernel that executes the vectors in order, each with constants in registers, and stores the results in slots. */
export function kernelText(vectors: readonly Vector[], { version, target, addressSize }: Home): string {
  // Old modules have 32-bit addresses and cannot declare others.
  const old = version.startsWith("1.");
  const pointer = old || addressSize === 32 ? "u32" : "u64";
  return [
    `.version ${version}`,
    `.target ${target}`,
    ...(old ? [] : [`.address_size ${addressSize ?? 64}`]),
    `.visible .entry k(.param .${pointer} out)`,
    "{",
    `  .reg .${pointer} %out;`,
    `  ld.param.${pointer} %out, [out];`,
    ...vectors.map((v, i) => statementOf(v, i * slotBytes)),
    "  ret;",
    "}",
  ].join("\n");
}

class Body {
  readonly lines: string[] = [];
  #next = 0;

  declare(type: string): string {
    const name = `r${this.#next++}`;
    this.lines.push(`.reg .${type} ${name};`);
    return name;
  }

  /** A register that holds the bits. */
  load(bits: bigint, rule: OperandRule): string {
    const size = rule.type?.bits ?? 32;
    if (size === 1) {
      const word = this.declare("b32");
      const p = this.declare("pred");
      this.lines.push(`mov.b32 ${word}, ${bits};`, `setp.ne.u32 ${p}, ${word}, 0;`);
      return p;
    }
    const name = this.declare(`b${size}`);
    if (size === 128) {
      const [low, high] = [this.declare("b64"), this.declare("b64")];
      this.lines.push(`mov.b64 ${low}, ${bits & 0xffff_ffff_ffff_ffffn}U;`, `mov.b64 ${high}, ${bits >> 64n}U;`);
      this.lines.push(`mov.b128 ${name}, {${low}, ${high}};`);
    } else if (size === 8) {
      const word = this.declare("b32");
      this.lines.push(`mov.b32 ${word}, ${bits};`, `cvt.u8.u32 ${name}, ${word};`);
    } else this.lines.push(`mov.b${size} ${name}, ${bits}U;`);
    return name;
  }

  store(name: string, size: number, at: number): void {
    if (size === 1) {
      const word = this.declare("b32");
      this.lines.push(`selp.b32 ${word}, 1, 0, ${name};`);
      this.store(word, 32, at);
    } else if (size === 128) {
      const [low, high] = [this.declare("b64"), this.declare("b64")];
      this.lines.push(`mov.b128 {${low}, ${high}}, ${name};`);
      this.store(low, 64, at);
      this.store(high, 64, at + 8);
    } else this.lines.push(`st.global.b${size} [%out+${at}], ${name};`);
  }
}

const braces = (names: readonly string[]): string => (names.length === 1 ? names[0]! : `{${names.join(", ")}}`);

/** The bytes of a slot that each result takes. */
const resultBytes = 16;

function statementOf(vector: Vector, at: number): string {
  const candidate = formOf(vector);
  if (typeof candidate === "string") throw new Error(`${vector.file}:${vector.line}: ${candidate}`);
  const body = new Body();
  const carryIn = vector.operands.find(isCarry);
  const sources = vector.operands.filter((w) => !isCarry(w));
  const results = vector.results.filter((w) => !isCarry(w));
  const stores: (() => void)[] = [];
  let slot = 0;
  const result = (word: string, rule: OperandRule): string => {
    const names = elements(plain(word)).map((_, __, all) => {
      const { type } = elementRule(rule, all.length);
      const size = type?.bits ?? 32;
      const name = body.declare(size === 1 ? "pred" : `b${size}`);
      const place = at + resultBytes * slot++;
      stores.push(() => body.store(name, size, place));
      return name;
    });
    return braces(names) + (selectorOf(word) ? `.${selectorOf(word)}` : "");
  };
  const source = (word: string, rule: OperandRule): string => {
    const sign = word.startsWith("neg:") ? "-" : "";
    const selector = selectorOf(word);
    const names = elements(plain(word)).map((w, _, all) => {
      const each = elementRule(rule, all.length);
      const bits = bitsOf(w, each);
      return rule.immediate === "only" ? `${bits}` : body.load(bits, each);
    });
    return sign + braces(names) + (selector ? `.${selector}` : "");
  };
  let nextSource = 0;
  let nextResult = 0;
  const operands: string[] = [];
  for (const operand of candidate.operands) {
    if (operand.destination) {
      const first = result(results[nextResult++]!, operand.rule);
      const second = operand.second && results[nextResult] !== undefined ? results[nextResult++] : undefined;
      operands.push(second === undefined ? first : `${first}|${result(second, operand.secondRule!)}`);
    } else if (nextSource < sources.length) operands.push(source(sources[nextSource++]!, operand.rule));
  }
  if (carryIn) {
    const sink = body.declare("b32");
    body.lines.push(`add.cc.u32 ${sink}, 0xffffffff, ${carryIn === "carry:1" ? 1 : 0};`);
  }
  body.lines.push(`${vector.opcode} ${operands.join(", ")};`);
  if (vector.results.some(isCarry)) {
    const carry = body.declare("b32");
    body.lines.push(`addc.u32 ${carry}, 0, 0;`);
    stores.push(() => body.store(carry, 32, at + slotBytes - 4));
  }
  for (const store of stores) store();
  return `  { ${body.lines.join(" ")} }`;
}

/** The expected contents of a vector's slot: the bits of the results in order, then the carry. */
export function compareSlot(vector: Vector, slot: DataView): string | null {
  const candidate = formOf(vector);
  if (typeof candidate === "string") return candidate;
  const rules = candidate.operands
    .filter((o) => o.destination)
    .flatMap((o) => (o.second && o.secondRule ? [o.rule, o.secondRule] : [o.rule]));
  const got: string[] = [];
  const want: string[] = [];
  let place = 0;
  let next = 0;
  for (const word of vector.results) {
    if (isCarry(word)) {
      want.push(word);
      got.push(`carry:${slot.getUint32(slotBytes - 4, true)}`);
      continue;
    }
    const rule = rules[next++]!;
    const list = elements(plain(word));
    const each = elementRule(rule, list.length);
    for (const w of list) {
      const bits = each.type?.bits ?? 32;
      const at = resultBytes * place++;
      const low = slot.getBigUint64(at, true);
      const all = low | (slot.getBigUint64(at + 8, true) << 64n);
      want.push(`0x${bitsOf(w, each).toString(16)}`);
      got.push(`0x${BigInt.asUintN(Math.max(bits, 8), all).toString(16)}`);
    }
  }
  return got.join(" ") === want.join(" ") ? null : `got ${got.join(" ")}, want ${want.join(" ")}`;
}
