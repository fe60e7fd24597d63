import type { Catalogue } from "../source/index.ts";

/** The diagnostics of the lexer and the parser. */
export const syntaxCodes = {
  "ptx-missing-semicolon": { title: "x", page: "" },
  "ptx-unexpected-token": { title: "x", page: "" },
  "ptx-unclosed-bracket": { title: "x", page: "" },
  "ptx-unclosed-brace": { title: "x", page: "" },
  "ptx-unmatched-brace": { title: "x", page: "" },
  "ptx-empty-statement": { title: "x", page: "" },
  "ptx-statement-outside-function": { title: "x", page: "" },
  "ptx-unknown-directive": { title: "x", page: "" },
  "ptx-missing-label": { title: "x", page: "" },
  "ptx-malformed-label": { title: "x", page: "" },
  "ptx-guard-without-instruction": { title: "x", page: "" },
  "ptx-nesting-too-deep": { title: "x", page: "" },
  "ptx-too-many-tokens": { title: "x", page: "" },
  "ptx-malformed-number": { title: "x", page: "" },
  "ptx-number-too-large": { title: "x", page: "" },
  "ptx-unknown-character": { title: "x", page: "" },
  "ptx-unterminated-string": { title: "x", page: "" },
  "ptx-unterminated-comment": { title: "x", page: "" },
} satisfies Catalogue;
export type SyntaxCode = keyof typeof syntaxCodes;
