import { gateProblem } from "../../ptx/check/gates.ts";
import { architectures } from "../../ptx/check/module-header.ts";
import { specialRegisters } from "../../ptx/check/special-registers.ts";
import { fits } from "../../ptx/check/operands.ts";
import { instructionSet, type OperandRule } from "../../ptx/isa/index.ts";
import { gateText } from "../../ptx/isa/describe.ts";
import { type TypeInfo, declarableTypes } from "../../ptx/types.ts";
import type { Completion, CompletionKind } from "../base/results.ts";
import type { Placed, PtxModel } from "./model.ts";
import { nextModifiers } from "./modifiers.ts";
import { type Visible, visibleAt, visibleText } from "./scope.ts";
import { farthest, statementBefore, statementSpaces, type StatementText } from "./words.ts";

/** The ways to go on at an offset of the document. */
export function completionsAt(model: PtxModel, offset: number): readonly Completion[] {
  const statement = statementBefore(model.textBefore(offset, farthest));
  if (statement === null) return [];
  const place = model.itemAround(offset);
  const inside = place !== null && place.item.kind === "function" && isInBody(place, offset);
  const context = new Context(model, statement, offset);
  if (statement.directive !== null) return context.directives(inside);
  if (!inside) return context.words(statement.word);
  if (statement.opcode === null) return context.opcodes(statement.word);
  return context.operands(place);
}

const isInBody = ({ part, item }: Placed, offset: number): boolean => {
  const at = offset - part.start + part.base;
  if (item.kind !== "function" || item.body === null || at <= item.body.start) return false;
  return at < item.body.end || part.source.text[item.body.end - 1] !== "}";
};

class Context {
  readonly #model: PtxModel;
  readonly #statement: StatementText;
  readonly #offset: number;

  constructor(model: PtxModel, statement: StatementText, offset: number) {
    this.#model = model;
    this.#statement = statement;
    this.#offset = offset;
  }

  #item(label: string, kind: CompletionKind, detail: string, documentation = "", rank = 5): Completion {
    const edit = { start: this.#offset - this.#statement.word.length, end: this.#offset, text: label };
    return { label, kind, detail, documentation, edit, order: `${rank}${label}` };
  }

  /** Words at module scope, where a directive is begun without its dot. */
  words(word: string): readonly Completion[] {
    return statementSpaces.module
      .filter((each) => each.slice(1).startsWith(word))
      .map((each) => this.#item(each, "directive", ""));
  }

  directives(inside: boolean): readonly Completion[] {
    const { directive } = this.#statement;
    if (directive === "") {
      const all = inside ? statementSpaces.body : statementSpaces.module;
      return all.map((word) => this.#item(word, "directive", ""));
    }
    if (directive === ".target") return this.#targets();
    const spaces = [
      ".reg",
      ".global",
      ".const",
      ".shared",
      ".local",
      ".param",
      ".extern",
      ".visible",
      ".weak",
      ".common",
    ];
    if (!spaces.includes(directive!)) return [];
    const types = [...declarableTypes].map((type) => this.#item(`.${type}`, "type", ""));
    const more = [".align", ".v2", ".v4"].map((word) => this.#item(word, "directive", "", "", 6));
    const after = [".extern", ".visible", ".weak", ".common"].includes(directive!)
      ? [".func", ".entry", ".global", ".const", ".shared"].map((word) => this.#item(word, "directive", "", "", 4))
      : [];
    return this.#statement.word.startsWith(".") ? [...after, ...types, ...more] : [];
  }

  #targets(): readonly Completion[] {
    return architectures.map((target) => this.#item(target, "constant", "target"));
  }

  /** Opcodes, or after a dot the modifiers that can follow. */
  opcodes(word: string): readonly Completion[] {
    const [root = "", ...modifiers] = word.split(".");
    if (modifiers.length === 0) {
      const roots = new Map<string, string>();
      for (const { name, summary } of instructionSet.instructions) {
        const first = name.split(".")[0]!;
        if (!roots.has(first)) roots.set(first, summary);
      }
      const visible = [...instructionSet.roots].filter((each) => each.startsWith(root));
      return visible.map((each) => this.#item(each, "instruction", roots.get(each) ?? "", "", each === root ? 1 : 5));
    }
    const written = modifiers.slice(0, -1);
    const typed = modifiers.at(-1)!;
    const start = this.#offset - typed.length - 1;
    const { version, target } = this.#model.checked;
    return nextModifiers(root, written)
      .filter(({ word: next }) => next.startsWith(typed))
      .map(({ word: next, forms }) => {
        const closed = forms.every((form) => {
          const gate = form.gates[next];
          const problem = gateProblem(form, next, version, target);
          return problem !== null || (gate !== undefined && gateProblem(gate, next, version, target) !== null);
        });
        const gate = forms[0]!.gates[next] ?? forms[0]!;
        return {
          label: `.${next}`,
          kind: "modifier" as const,
          detail: closed ? `needs ${gateText(gate)}` : "",
          documentation: `\`\`\`ptx\n${forms
            .slice(0, 6)
            .map(({ text }) => text)
            .join("\n")}\n\`\`\``,
          edit: { start, end: this.#offset, text: `.${next}` },
          order: `${closed ? 9 : 5}${next}`,
        };
      });
  }

  /** Names of a fitting kind and type. */
  operands(place: Placed): readonly Completion[] {
    const { opcode, index, brackets, word } = this.#statement;
    const at = this.#offset - place.part.start + place.part.base;
    const names = visibleAt(this.#model, place, at);
    if (opcode === "@") return names.filter(({ type }) => type?.kind === "pred").map((visible) => this.#name(visible));
    const { candidates, control } = instructionSet.resolve(opcode!);
    const wanted = this.#wanted(
      candidates.map(({ operands }) => operands[index]?.rule),
      control,
      brackets,
    );
    const found = names.filter(wanted).map((visible) => this.#name(visible));
    const reads = /^(mov|cvt)\./.test(opcode!) && index > 0;
    if (!reads && !word.startsWith("%")) return found;
    const types = candidates.map(({ operands }) => operands[index]?.rule.type ?? null);
    const specials = reads ? this.#specials(types) : [];
    return [...found, ...specials];
  }

  #specials(types: readonly (TypeInfo | null)[]): readonly Completion[] {
    return [...specialRegisters.values()].flatMap(({ symbol }) => {
      const fitting = types.some((type) => type === null || type.bits === symbol.type.bits);
      if (!fitting) return [];
      const names = symbol.vector > 1 ? ["x", "y", "z"].map((part) => `${symbol.name}.${part}`) : [symbol.name];
      return names.map((name) => this.#item(name, "special", `.${symbol.type.name}`, "", 6));
    });
  }

  #wanted(
    rules: readonly (OperandRule | undefined)[],
    control: string | null,
    brackets: boolean,
  ): (visible: Visible) => boolean {
    const { opcode, index, list } = this.#statement;
    if (control === "branch") return ({ kind }) => kind === "label" || kind === "targets";
    if (control === "branch-indexed") return ({ kind, type }) => kind === "targets" || (index === 0 && type !== null);
    if (control === "call") {
      if (list) return ({ space, kind }) => space === "param" || kind === "register";
      return ({ kind, type }) =>
        kind === "function" ||
        kind === "prototype" ||
        kind === "targets" ||
        (kind === "register" && (type?.bits ?? 0) >= 32);
    }
    if (brackets) return (visible) => this.#addresses(visible, opcode!);
    return (visible) =>
      rules.some((rule) => rule !== undefined && ruleFits(rule, visible, opcode!)) ||
      (index > 0 && /^(mov|cvta)\b/.test(opcode!) && ["variable", "function", "parameter"].includes(visible.kind));
  }

  /** Names that can stand in brackets: variables of the opcode's state space, and registers of an address's size. */
  #addresses({ kind, type, space }: Visible, opcode: string): boolean {
    if (kind === "register") return type !== null && type.kind !== "f" && (type.bits === 32 || type.bits === 64);
    const named = opcode
      .split(".")
      .find((word) => ["param", "shared", "global", "local", "const"].includes(word.split("::")[0]!));
    return (kind === "variable" || kind === "parameter") && (named === undefined || space === named.split("::")[0]);
  }

  #name(visible: Visible): Completion {
    const rank = visible.kind === "register" ? 2 : visible.kind === "label" ? 1 : 3;
    return this.#item(visible.name, visible.kind, visibleText(visible), "", rank);
  }
}

/** Opcodes whose operands may be wider than their type. */
const relaxed = /^(ld|ldu|st|cvt|suld|sust)\./;

function ruleFits(rule: OperandRule, { kind, type }: Visible, opcode: string): boolean {
  if (kind !== "register" || type === null) return rule.shape === "name" && kind !== "function";
  if (rule.shape === "any") return true;
  if (rule.shape !== "value" || rule.type === null || rule.immediate === "only") return rule.shape === "address";
  return fits(type, rule.type, relaxed.test(opcode));
}
