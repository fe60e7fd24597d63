import { nearest, type Span } from "../../source/index.ts";
import type { ControlKind } from "../isa/define.ts";
import type {
  Expression,
  Initializer,
  Instruction,
  NameExpr,
  Operand,
  PtxSymbol,
  RegisterSymbol,
} from "../tree/nodes.ts";
import type { BodyInfo, Writable } from "./context.ts";
import type { ModuleContext } from "./module-context.ts";
import type { Scope } from "./scope.ts";
import { specialRegisters } from "./special-registers.ts";

/** The predefined constants (4.5.1). */
const constants: ReadonlyMap<string, PtxSymbol> = new Map([
  ["WARP_SZ", { kind: "constant", name: "WARP_SZ", span: { start: 0, end: 0 }, value: 32n }],
]);

/** How many unknown names get a suggestion: each costs a search through all names in scope. */
export const suggestionLimit = 20;

/** How many names such a search considers. */
const searchLimit = 2000;

/** Binds names to their meaning: sets `symbol` of every name in operands, initializers and lists. */
export class Binder {
  scope: Scope;
  /** The body whose registers are counted; null at module scope. */
  body: BodyInfo | null = null;
  /** How many unknown names got a suggestion so far. */
  suggestions = 0;
  readonly #context: ModuleContext;
  readonly #unknown = new Set<string>();

  constructor(context: ModuleContext, scope: Scope) {
    this.#context = context;
    this.scope = scope;
  }

  /** Begins a body, or returns to module scope. Each function reports its unknown names anew. */
  enter(body: BodyInfo | null): void {
    this.body = body;
    this.#unknown.clear();
  }

  /** `control`: how instructions with its opcode move control. */
  instruction(node: Instruction, control: ControlKind | null): void {
    if (node.guard !== null) this.name(node.guard.register);
    const { operands } = node;
    if (control === "branch" && operands[0]?.kind === "name") {
      this.target(operands[0]);
      return;
    }
    for (const operand of operands) this.operand(operand);
  }

  operand(operand: Operand): void {
    switch (operand.kind) {
      case "name":
        this.name(operand);
        return;
      case "address":
        for (const part of operand.parts) this.operand(part);
        return;
      case "vector":
      case "list":
        for (const element of operand.elements) this.operand(element);
        return;
      case "negated":
        this.operand(operand.operand);
        return;
      case "pair":
        this.operand(operand.first);
        this.operand(operand.second);
        return;
      case "indexed":
        this.operand(operand.base);
        this.operand(operand.index);
        return;
      case "sink":
      case "bad":
        return;
      default:
        this.expression(operand);
    }
  }

  /** Recursion is bounded: the parser limits the depth of expressions. */
  expression(expr: Expression): void {
    switch (expr.kind) {
      case "name":
        this.name(expr);
        return;
      case "unary":
        this.expression(expr.operand);
        return;
      case "binary":
        this.expression(expr.left);
        this.expression(expr.right);
        return;
      case "parenthesized":
        this.expression(expr.inner);
        return;
      case "conditional":
        this.expression(expr.condition);
        this.expression(expr.then);
        this.expression(expr.otherwise);
        return;
      case "operator-call":
        for (const list of expr.argumentLists) for (const argument of list) this.expression(argument);
    }
  }

  initializer(node: Initializer): void {
    if (node.kind === "initializer-list") for (const element of node.elements) this.initializer(element);
    else if (node.kind !== "initializer-field") this.expression(node);
  }

  /** Binds a name that stands for a value, an address or a function. */
  name(node: NameExpr): void {
    const symbol = this.scope.find(node.text) ?? this.#predefined(node);
    if (symbol === undefined) this.#reportUnknown(node, "name");
    else this.#bind(node, symbol);
  }

  /** Binds a name that stands for a label. */
  target(node: NameExpr): void {
    const symbol = this.scope.findTarget(node.text) ?? this.#predefined(node);
    if (symbol === undefined) this.#reportUnknown(node, "label");
    else this.#bind(node, symbol);
  }

  /** Gives a register its number in the body. The registers of formal parameters come first. */
  count(register: RegisterSymbol): void {
    if (register.index >= 0 || this.body === null) return;
    (register as Writable<RegisterSymbol>).index = this.body.registers.length;
    this.body.registers.push(register);
  }

  #bind(node: NameExpr, symbol: PtxSymbol): void {
    node.symbol = symbol;
    if (symbol.kind === "register" && symbol.index < 0) this.count(symbol);
    if (node.component !== null) this.#component(node, symbol);
  }

  #predefined(node: NameExpr): PtxSymbol | undefined {
    const special = specialRegisters.get(node.text);
    if (special === undefined) return constants.get(node.text);
    this.#context.require(special.gate, `'${node.text}'`, node);
    return special.symbol;
  }

  /**
   * Checks that a vector has the element that a name selects (6.4.3). The selectors of video instructions apply to
   * scalars.
   */
  #component(node: NameExpr, symbol: PtxSymbol): void {
    const component = node.component!;
    const at = "xyzw".indexOf(component) & 3;
    const colour = "rgba".indexOf(component) & 3;
    const isElement = /^[xyzwrgba]$/.test(component);
    if (!isElement && /^[bh][0-7]{1,4}$/.test(component)) return;
    const span: Span = { start: node.end - component.length - 1, end: node.end };
    const vector = symbol.kind === "register" || symbol.kind === "special" ? symbol.vector : 1;
    if (!isElement) {
      this.#context.sink.error("unknown-component", span, `there is no component '.${component}'`, {
        help: "the elements of a vector are .x .y .z .w, or .r .g .b .a",
      });
    } else if (vector === 1) {
      this.#context.sink.error("unknown-component", span, `'${node.text}' is not a vector and has no '.${component}'`);
    } else if (("xyzw".includes(component) ? at : colour) >= vector) {
      this.#context.sink.error(
        "unknown-component",
        span,
        `'${node.text}' has ${vector} elements and no '.${component}'`,
      );
    }
  }

  /** Reports each unknown name once per function, rather than at every use. */
  #reportUnknown(node: NameExpr, what: "name" | "label"): void {
    // A tree may be checked again, when other declarations have changed.
    node.symbol = null;
    if (this.#unknown.has(node.text)) return;
    this.#unknown.add(node.text);
    this.#context.sink.error("unknown-name", node, `unknown ${what} '${node.text}'`, {
      help: this.#suggestion(node.text),
    });
  }

  #suggestion(name: string): string | undefined {
    if (this.suggestions >= suggestionLimit) return undefined;
    this.suggestions++;
    const names: string[] = [];
    for (let scope: Scope | null = this.scope; scope !== null; scope = scope.parent) {
      for (const candidate of scope.names()) {
        if (names.length >= searchLimit) break;
        names.push(candidate);
      }
    }
    if (name.startsWith("%")) names.push(...specialRegisters.keys());
    const near = nearest(name, names);
    return near === null ? "names must be declared before they are used" : `did you mean '${near}'?`;
  }
}
