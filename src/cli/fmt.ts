import { printPtx } from "../ptx/printer.ts";
import { parsePtx } from "../ptx/parser/index.ts";
import { UsageError } from "../runtime/errors.ts";
import { hasErrors, renderDiagnostic } from "../source/index.ts";
import { type Command, type ExitStatus, exitStatus } from "./command.ts";
import { readSource, writeBytes } from "./files.ts";
import { requirePtx } from "./isa-of-file.ts";
import { printJson } from "./terminal.ts";

export const fmt: Command = {
  name: "fmt",
  summary: "rewrite files in canonical form",
  usage: ["fmt FILE…", "fmt --check FILE…"],
  options: [
    { name: "check", help: "only tell which files are not in canonical form" },
    { name: "stdout", help: "print the text instead of writing the files" },
    { name: "isa", value: "NAME", help: "ptx or visa, whatever the file's name says" },
  ],
  details: "A file with syntax errors is left as it is.",
  run(options, terminal) {
    if (options.positionals.length === 0) throw new UsageError("fmt: no file given");
    requirePtx(options);
    const json = options.has("json");
    const checkOnly = options.has("check");
    let status: ExitStatus = exitStatus.ok;
    const files = options.positionals.map((path) => {
      const source = readSource(path);
      const { tree, diagnostics } = parsePtx(source);
      if (hasErrors(diagnostics)) {
        status = exitStatus.failed;
        for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
        return { path, ok: false, changed: false };
      }
      const text = printPtx(tree);
      const changed = text !== source.text;
      if (options.has("stdout")) terminal.out(text.replace(/\n$/, ""));
      else if (changed && checkOnly) {
        status = exitStatus.failed;
        if (!json) terminal.out(`${path} is not in canonical form`);
      } else if (changed) {
        writeBytes(path, text);
        if (!json) terminal.out(`${path} rewritten`);
      }
      return { path, ok: !(changed && checkOnly), changed };
    });
    if (json && !options.has("stdout")) printJson({ files }, terminal);
    return status;
  },
};
