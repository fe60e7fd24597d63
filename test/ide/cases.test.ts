import { type Place, type SymbolNode, type TextEdit, Workspace } from "../../src/ide/index.ts";
import { testTextCases } from "../text-cases.ts";

/*
 * What the language service says of small programs. `‹1›` in a program is a cursor; the sections name what is asked at
 * it. The expectations were read from the program and the manuals of PTX and vISA, sentence by sentence.
 */

const uri = "file:///case";
const other = "file:///other";
/** What a hover says of how a register varies over lanes. */
const facts = /^(Always|The same|Grows|Falls)/;

/** A program without its cursors, and where they were. */
function withoutCursors(text: string): { readonly program: string; readonly cursors: ReadonlyMap<string, number> } {
  const cursors = new Map<string, number>();
  let program = "";
  let at = 0;
  for (const match of text.matchAll(/‹(\w+)›/g)) {
    program += text.slice(at, match.index);
    cursors.set(match[1]!, program.length);
    at = match.index + match[0].length;
  }
  return { program: program + text.slice(at), cursors };
}

function results(text: string): ReadonlyMap<string, string> {
  // A second document of the program stands after a line of its own.
  const [first = "", second] = text.split("\n#### other\n");
  const { program, cursors } = withoutCursors(first);
  const language = /^\.(kernel|global_function)/m.test(program) ? "visa" : "ptx";
  const workspace = new Workspace();
  workspace.openDocument(uri, program, language);
  if (second !== undefined) workspace.openDocument(other, second, language);
  const position = (of: string, offset: number): string => {
    const lines = workspace.text(of).slice(0, offset).split("\n");
    return `${of === other ? "other " : ""}${lines.length}:${lines.at(-1)!.length + 1}`;
  };
  const word = ({ uri: of, start, end }: Place): string =>
    `${position(of, start)} ${workspace.text(of).slice(start, end)}`;
  const here = ({ start, end }: { readonly start: number; readonly end: number }): Place => ({ uri, start, end });
  const edited = (edits: readonly TextEdit[], of = uri): string =>
    edits.map(({ start, end, text: now }) => `${word({ uri: of, start, end })} -> ${JSON.stringify(now)}`).join("\n");
  const tree = (nodes: readonly SymbolNode[], depth = 0): string =>
    nodes
      .map(
        ({ name, kind, detail, children }) =>
          `${"  ".repeat(depth)}${kind} ${name}${detail === "" ? "" : `  ${detail}`}\n${tree(children, depth + 1)}`,
      )
      .join("");
  const found = new Map<string, string>();
  const add = (name: string, value: readonly string[] | string): void => {
    found.set(name, (typeof value === "string" ? value : value.join("\n")).replace(/\n+$/, ""));
  };
  add(
    "diagnostics",
    workspace.diagnostics(uri).map((each) => `${word({ uri, ...each })}: ${each.code}`),
  );
  add("symbols", tree(workspace.symbols(uri)));
  add(
    "tokens",
    workspace
      .semanticTokens(uri)
      .map(({ type, declaration, ...span }) => `${word(here(span))} ${type}${declaration ? " declared" : ""}`),
  );
  add(
    "folds",
    workspace
      .foldingRanges(uri)
      .map(({ start, end, kind }) => `${position(uri, start)} to ${position(uri, end)} ${kind}`),
  );
  add(
    "hints",
    workspace.inlayHints(uri).map(({ offset, text: hint }) => `${position(uri, offset)} ${hint}`),
  );
  add(
    "lenses",
    workspace.codeLenses(uri).map(({ title, kernel, start }) => `${position(uri, start)} ${title} ${kernel}`),
  );
  add("format", edited(workspace.format(uri)));
  for (const [cursor, offset] of cursors) {
    const hover = workspace.hover(uri, offset);
    add(`hover ${cursor}`, hover === null ? "nothing" : `${word(here(hover))}\n${hover.text}`);
    add(`known ${cursor}`, hover?.text.split("\n\n").find((line) => facts.test(line)) ?? "nothing");
    add(`definition ${cursor}`, workspace.definition(uri, offset).map(word));
    add(`references ${cursor}`, workspace.references(uri, offset).map(word));
    add(
      `highlights ${cursor}`,
      workspace.highlights(uri, offset).map((each) => `${word(here(each))}${each.write ? " write" : ""}`),
    );
    const renamed = workspace.rename(uri, offset, "renamed");
    add(
      `rename ${cursor}`,
      "problem" in renamed ? renamed.problem : [...renamed.edits].map(([of, edits]) => edited(edits, of)),
    );
    add(
      `completions ${cursor}`,
      workspace.completions(uri, offset).map(({ label, detail }) => `${label}  ${detail}`.trim()),
    );
    const signature = workspace.signatureHelp(uri, offset);
    const active = signature?.parameters[signature.active];
    add(
      `signature ${cursor}`,
      signature === null
        ? "nothing"
        : [signature.label, active === undefined ? "" : signature.label.slice(active.start, active.end)],
    );
    add(
      `actions ${cursor}`,
      workspace
        .codeActions(uri, { start: offset, end: offset })
        .map(({ title, edits }) => `${title}\n  ${edited(edits).replaceAll("\n", "\n  ")}`),
    );
    const item = workspace.callHierarchy(uri, offset);
    if (item !== null) {
      add(
        `callers ${cursor}`,
        workspace
          .incomingCalls(item)
          .map(
            (edge) =>
              `${edge.item.name}: ${edge.calls.map((call) => word({ ...call, uri: edge.item.place.uri })).join(", ")}`,
          ),
      );
      add(
        `callees ${cursor}`,
        workspace
          .outgoingCalls(item)
          .map((edge) => `${edge.item.name}: ${edge.calls.map((call) => word(here(call))).join(", ")}`),
      );
    }
    const line = workspace.sourceLine(uri, offset);
    add(
      `source ${cursor}`,
      line === null
        ? "nothing"
        : [`${line.file}:${line.line}:${line.column}`, ...workspace.compiledFrom(line.file, line.line).map(word)],
    );
  }
  return found;
}

testTextCases(new URL("cases/", import.meta.url), results);
