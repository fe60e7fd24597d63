// Writes the grammars that editors colour PTX and vISA with, out of the instruction tables.
//
//     node scripts/grammars.mjs            after a build
//     node scripts/grammars.mjs --check    only tells whether they are up to date
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../editors/vscode/syntaxes/", import.meta.url);

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** Longer words first: of two that fit, a grammar takes the one that stands first. */
const anyOf = (words) =>
  [...new Set(words)]
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .map(escaped)
    .join("|");

const comments = [
  { name: "comment.line.double-slash", match: "//.*$" },
  { name: "comment.block", begin: "/\\*", end: "\\*/" },
];
const strings = {
  name: "string.quoted.double",
  begin: '"',
  end: '"',
  patterns: [{ name: "constant.character.escape", match: "\\\\." }],
};

/** What is left over: names, and what stands between them. */
const rest = (name) => [
  { name: "variable.other", match: name },
  { name: "punctuation.separator", match: "[,;:.]" },
  { name: "punctuation.section", match: "[(){}\\[\\]]" },
  { name: "keyword.operator", match: "[-+*/%&|^~!<>=?@#]+" },
];

const functionName = { name: "entity.name.function" };

const instruction = (match, more = {}) => ({
  match,
  captures: { 1: { name: "keyword.control.instruction" }, 2: { name: "storage.modifier" }, ...more },
});

export function ptxGrammar({ instructionSet, declarableTypes }) {
  const types = anyOf([...declarableTypes]);
  return {
    name: "PTX",
    scopeName: "source.ptx",
    fileTypes: ["ptx"],
    patterns: [
      ...comments,
      strings,
      {
        name: "variable.language",
        match:
          "%(?:tid|ntid|ctaid|nctaid|laneid|warpid|nwarpid|smid|nsmid|gridid|clock(?:64|_hi)?|globaltimer(?:_lo|_hi)?|lanemask_\\w+|pm\\d+|envreg\\d+|dynamic_smem_size|total_smem_size)(?:\\.[xyzw])?\\b",
      },
      { name: "variable.other.register", match: "%[A-Za-z_$][\\w$]*" },
      { name: "entity.name.label", match: "^\\s*[A-Za-z_$][\\w$]*(?=\\s*:(?!:))" },
      {
        match: "(@!?)(%?[\\w$]+)",
        captures: { 1: { name: "keyword.operator.guard" }, 2: { name: "variable.other.register" } },
      },
      instruction("(?<![\\w$.%])(call)((?:\\.uni)?)\\s+([A-Za-z_$][\\w$]*)", { 3: functionName }),
      instruction("(?<![\\w$.%])(call)((?:\\.uni)?)\\s*(\\([^()]*\\)\\s*,)\\s*([A-Za-z_$][\\w$]*)", {
        3: { patterns: [{ include: "$self" }] },
        4: functionName,
      }),
      instruction(`(?<![\\w$.%])(${anyOf(instructionSet.roots)})((?:(?:\\.|::)[\\w]+)*)\\b`),
      { name: "storage.type", match: `\\.(?:${types})\\b` },
      {
        match: "(\\.(?:entry|func))\\s+([A-Za-z_$][\\w$]*)",
        captures: { 1: { name: "keyword.other.directive" }, 2: functionName },
      },
      { match: "(?<=\\))\\s*([A-Za-z_$][\\w$]*)\\s*(?=\\(|$)", captures: { 1: functionName } },
      { name: "keyword.other.directive", match: "\\.[A-Za-z_]\\w*" },
      { name: "constant.numeric.float", match: "\\b0[fFdD][0-9a-fA-F]+\\b|\\b\\d+\\.\\d*(?:[eE][+-]?\\d+)?" },
      { name: "constant.numeric", match: "(?<![\\w$])(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\\d+)U?\\b" },
      ...rest("[A-Za-z_$][\\w$]*"),
    ],
  };
}

export function visaGrammar({ rows, dataTypes }) {
  const words = [...new Set(rows.map((row) => row.mnemonic))].filter((word) => /^[A-Za-z]/.test(word));
  return {
    name: "vISA",
    scopeName: "source.visa",
    fileTypes: ["visaasm", "isaasm"],
    patterns: [
      ...comments,
      strings,
      { name: "entity.name.label", match: "^\\s*[A-Za-z_$][\\w$.]*(?=\\s*:)" },
      { match: "^\\s*(\\([!]?P\\w+[^)]*\\))", captures: { 1: { name: "keyword.operator.guard" } } },
      instruction(`(?<![\\w$.%])(${anyOf(words)})((?:\\.[\\w]+)*)(?=\\s|$)`),
      { name: "storage.modifier.mask", match: "\\(M[1-8](?:_NM)?,\\s*\\d+\\)" },
      { name: "keyword.other.directive", match: "^\\s*\\.[A-Za-z_]\\w*" },
      {
        match: "(:)(" + anyOf(dataTypes) + ")\\b",
        captures: { 1: { name: "punctuation.separator" }, 2: { name: "storage.type" } },
      },
      { match: "\\b(v_type|type|num_elts|align|alias|offset|size|simd)(?==)", name: "variable.parameter" },
      { name: "variable.language", match: "%\\w+" },
      { name: "variable.other.register", match: "\\b[A-Za-z_]\\w*(?=[(<])" },
      { name: "constant.numeric", match: "(?<![\\w$])(?:0[xX][0-9a-fA-F]+|\\d+\\.\\d+(?:[eE][+-]?\\d+)?|\\d+)\\b" },
      ...rest("[A-Za-z_$][\\w$.]*"),
    ],
  };
}

/** The files as they should be. */
export const grammars = (ptx, visa) => ({
  "ptx.tmLanguage.json": `${JSON.stringify(ptxGrammar(ptx), null, 2)}\n`,
  "visa.tmLanguage.json": `${JSON.stringify(visaGrammar(visa), null, 2)}\n`,
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [ptx, visa] = await Promise.all([import("../dist/ptx/index.js"), import("../dist/visa/index.js")]);
  for (const [name, text] of Object.entries(grammars(ptx, visa))) {
    const file = new URL(name, folder);
    if (!process.argv.includes("--check")) writeFileSync(file, text);
    else if (readFileSync(file, "utf8") !== text) {
      console.error(`${name} is out of date: npm run build && node scripts/grammars.mjs`);
      process.exitCode = 1;
    }
  }
}
