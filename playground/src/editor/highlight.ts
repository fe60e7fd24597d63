import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

interface State {
  inComment: boolean;
}

/**
 * Colours of assembly that need no analysis, so that they are there with the first picture; the language service adds
 * what names mean.
 */
const assembly = (comment: RegExp | null) =>
  StreamLanguage.define<State>({
    name: "assembly",
    startState: () => ({ inComment: false }),
    token(stream, state) {
      if (state.inComment) {
        state.inComment = !stream.match(/^.*?\*\//);
        if (state.inComment) stream.skipToEnd();
        return "comment";
      }
      if (stream.eatSpace()) return null;
      if (stream.match(/^\/\/.*/) || (comment !== null && stream.match(comment))) return "comment";
      if (stream.match("/*")) {
        state.inComment = true;
        return "comment";
      }
      if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
      if (stream.match(/^[\w$]+:(?!:)/)) return "labelName";
      if (stream.match(/^%[\w$.]+/)) return "variableName";
      if (stream.match(/^\.[a-z][\w:]*/i)) return "typeName";
      if (stream.match(/^(0[xfd][\da-f]+|-?\d[\d.]*(e[-+]?\d+)?u?)/i)) return "number";
      if (stream.match(/^@!?/)) return "operator";
      if (stream.match(/^[A-Za-z_$][\w$]*/))
        return stream.pos === stream.indentation() + stream.current().length ? "keyword" : "name";
      stream.next();
      return null;
    },
    languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
  });

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.typeName, color: "var(--code-type)" },
  { tag: tags.variableName, color: "var(--code-register)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.labelName, color: "var(--code-label)" },
  { tag: tags.operator, color: "var(--code-label)" },
]);

/** How a file is coloured. */
export const coloursOf = (path: string) => [assembly(path.endsWith(".json") ? null : null), syntaxHighlighting(style)];
