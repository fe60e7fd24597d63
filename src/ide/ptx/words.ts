/** The directives that can begin a statement, at module scope and in a body. */
export const statementSpaces = {
  module: [
    ".version",
    ".target",
    ".address_size",
    ".visible",
    ".extern",
    ".weak",
    ".common",
    ".entry",
    ".func",
    ".global",
    ".const",
    ".shared",
    ".alias",
    ".file",
    ".section",
    ".pragma",
  ],
  body: [".reg", ".local", ".shared", ".param", ".loc", ".pragma", ".branchtargets", ".calltargets", ".callprototype"],
} as const;

/** What is written of a statement before the cursor. */
export interface StatementText {
  /** The word at the cursor so far: an opcode with its modifiers, or a name. */
  readonly word: string;
  /** The opcode, if the cursor is past it. */
  readonly opcode: string | null;
  /** The directive that the statement begins with, "" if the cursor is in it; null if it is an instruction. */
  readonly directive: string | null;
  /** The number of the operand. */
  readonly index: number;
  /** Whether the cursor is between brackets. */
  readonly brackets: boolean;
  /** Whether the cursor is in a list in parentheses, and the number of the element in it. */
  readonly list: boolean;
  readonly element: number;
  /** The names before an open parenthesis, as the function's in `call (r), f, (`. */
  readonly names: readonly string[];
}

/** The farthest that a statement is looked for before the cursor. */
export const farthest = 4000;

/** Reads the statement before the cursor; null in a comment or string. `text`: the end of the text before it. */
export function statementBefore(text: string): StatementText | null {
  const window = text;
  const line = window.slice(window.lastIndexOf("\n") + 1);
  if (/\/\//.test(line.replace(/"[^"]*"/g, "")) || (line.match(/"/g)?.length ?? 0) % 2 === 1) return null;
  if (window.lastIndexOf("/*") > window.lastIndexOf("*/")) return null;
  const code = window.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (comment) => comment.replace(/[^\n]/g, " "));
  const begun = code.slice(statementStart(code)).replace(/^\s*(?:[\w$%]+:(?!:)\s*)*/, "");
  if (begun.startsWith(".")) {
    const directive = /^\.\w*$/.test(begun) ? "" : (/^\.\w+/.exec(begun)?.[0] ?? ".");
    return { ...nothing, word: /[.\w$%]*$/.exec(begun)![0], directive };
  }
  const [, guard = "", rest = ""] = /^(@!?[\w$%]*\s*)?([\s\S]*)$/.exec(begun)!;
  if (guard !== "" && !/\s$/.test(guard)) return { ...nothing, word: /[\w$%]*$/.exec(guard)![0], opcode: "@" };
  const opcode = /^[\w.:]*/.exec(rest)![0];
  if (opcode.length === rest.length) return { ...nothing, word: opcode };
  return { ...operandsOf(rest.slice(opcode.length)), opcode };
}

const nothing: StatementText = {
  word: "",
  opcode: null,
  directive: null,
  index: 0,
  brackets: false,
  list: false,
  element: 0,
  names: [],
};

/** Where the last statement begins: after a `;`, a brace of a block, or a directive that ends with its line. */
function statementStart(code: string): number {
  let depth = 0;
  for (let at = code.length - 1; at >= 0; at--) {
    const c = code[at]!;
    if (c === ")" || c === "]") depth++;
    else if (c === "(" || c === "[") depth--;
    else if (c === ";") return at + 1;
    else if (c === "{" || c === "}") {
      // Braces of a vector stand in a line with other text.
      const before = code.slice(code.lastIndexOf("\n", at) + 1, at).trim();
      if (before === "" || before === ")") return at + 1;
    } else if (c === "\n") {
      const next = code.slice(at + 1);
      const [previous = ""] = /[^\n]*$/.exec(code.slice(0, at)) ?? [];
      if (/^\s*\.(loc|file|version|target|address_size)\b/.test(previous)) return at + 1;
      if (depth <= 0 && /^\s*[@.\w$%]/.test(next) && !/[,([|]\s*$/.test(previous) && !isOpcodeAlone(previous))
        return at + 1;
    }
  }
  return 0;
}

const isOpcodeAlone = (line: string): boolean => /^\s*(@!?[\w$%]+\s+)?[a-z][\w]*\.[\w.:]*\s*$/.test(line);

function operandsOf(rest: string): StatementText {
  let index = 0;
  let element = 0;
  let list = 0;
  let brackets = 0;
  let braces = 0;
  for (const c of rest) {
    if (c === "(") {
      list++;
      element = 0;
    } else if (c === ")") list--;
    else if (c === "[") brackets++;
    else if (c === "]") brackets--;
    else if (c === "{") braces++;
    else if (c === "}") braces--;
    else if (c === ",") {
      if (list > 0) element++;
      else if (brackets === 0 && braces === 0) index++;
    }
  }
  const names = rest.match(/[\w$%]+(?=\s*,\s*\()/g) ?? [];
  return {
    ...nothing,
    word: /[\w$%.]*$/.exec(rest)![0],
    index,
    brackets: brackets > 0,
    list: list > 0,
    element,
    names,
  };
}
