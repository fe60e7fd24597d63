import { h } from "../dom.ts";

/** The little of Markdown that the language service writes, as elements: paragraphs, lists, code, emphasis. */
export function markdown(text: string): HTMLElement {
  const root = h("div", { class: "markdown" });
  for (const [i, part] of text.split(/^```\w*\n?/m).entries()) {
    if (i % 2 === 1) root.append(h("pre", {}, part.trimEnd()));
    else for (const block of part.split(/\n{2,}/)) if (block.trim() !== "") root.append(blockOf(block.trim()));
  }
  return root;
}

function blockOf(block: string): HTMLElement {
  const lines = block.split("\n");
  if (lines.every((line) => /^[*-] /.test(line))) {
    return h(
      "ul",
      {},
      lines.map((line) => h("li", {}, inline(line.slice(2)))),
    );
  }
  if (/^-{3,}$/.test(block)) return h("hr");
  return h("p", {}, inline(block.replace(/^#+ /, "")));
}

const inline = (text: string): (string | HTMLElement)[] =>
  text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).map((part) => {
    if (part.startsWith("`") && part.length > 1) return h("code", {}, part.slice(1, -1));
    if (part.startsWith("**") && part.length > 3) return h("strong", {}, part.slice(2, -2));
    if (part.startsWith("*") && part.length > 2) return h("em", {}, part.slice(1, -1));
    return part.replace(/\\([*_`\\])/g, "$1");
  });
