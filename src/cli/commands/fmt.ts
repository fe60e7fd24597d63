import { isContainer } from "../../container/sniff.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { isCisaName } from "../../runtime/data/isa.ts";
import { type Diagnostic, hasErrors, renderDiagnostic, type SourceText } from "../../source/index.ts";
import { type Command, type ExitStatus, exitStatus } from "../options/command.ts";
import { isCudaSource } from "../options/cuda-source.ts";
import { isOpenCl } from "../options/is-opencl.ts";
import { isaOfFile } from "../options/isa-of-file.ts";
import { readBytes, readSource, stdin, writeBytes } from "../terminal/files.ts";
import { printJson } from "../terminal/terminal.ts";

interface Formatted {
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

async function formatPtx(source: SourceText): Promise<Formatted> {
  const { parsePtx } = await import("../../ptx/parser/index.ts");
  const { printPtx } = await import("../../ptx/printer.ts");
  const { tree, diagnostics } = parsePtx(source);
  return { text: printPtx(tree), diagnostics };
}

async function formatVisa(source: SourceText): Promise<Formatted> {
  const { parseVisa } = await import("../../visa/parser/index.ts");
  const { printVisa } = await import("../../visa/printer/index.ts");
  const { tree, diagnostics } = parseVisa(source);
  return { text: printVisa(tree), diagnostics };
}

export const fmt: Command = {
  name: "fmt",
  summary: "rewrite files in canonical form",
  usage: ["fmt FILE…", "fmt --check FILE…"],
  options: [
    { name: "check", help: "only list files that are not in canonical form" },
    { name: "stdout", help: "print the text instead of writing the files" },
    { name: "isa", value: "NAME", help: "ptx or visa (default: by the file's name)" },
  ],
  common: [],
  details:
    "PTX, and vISA text in the form of IGC's dumps. A file with syntax errors is left as it is. Text from stdin (-) is printed.",
  async run(options, terminal) {
    if (options.positionals.length === 0) throw new UsageError("fmt: no file given");
    const binary = options.positionals.find(isCisaName);
    if (binary) throw new UsageError(`${binary} is binary; \`lanewise disasm\` gives its text`);
    const json = options.has("json");
    const checkOnly = options.has("check");
    let status: ExitStatus = exitStatus.ok;
    const files: { path: string; ok: boolean; changed: boolean; text?: string }[] = [];
    for (const path of options.positionals) {
      if (isCudaSource(path)) throw new UsageError(`fmt: ${path} is CUDA C++; clang-format is for that`);
      const packed = isOpenCl(path) || isContainer(readBytes(path));
      if (packed)
        throw new UsageError(`fmt: ${path} holds programs; \`lanewise link ${path} -o OUT.ptx\` takes PTX out`);
      const source = readSource(path);
      const visa = isaOfFile(options, path) === "visa";
      const { text, diagnostics } = await (visa ? formatVisa : formatPtx)(source);
      if (hasErrors(diagnostics)) {
        status = exitStatus.failed;
        for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
        files.push({ path, ok: false, changed: false });
        continue;
      }
      const changed = text !== source.text;
      const print = !checkOnly && (options.has("stdout") || path === stdin);
      files.push({ path, ok: !(changed && checkOnly), changed, ...(print && { text }) });
      if (print) {
        if (!json) terminal.out(text.replace(/\n$/, ""));
      } else if (changed && checkOnly) {
        status = exitStatus.failed;
        if (!json) terminal.out(`${source.path} is not in canonical form`);
      } else if (changed) {
        writeBytes(path, text);
        if (!json) terminal.out(`${path} rewritten`);
      }
    }
    if (json) printJson({ files }, terminal);
    return status;
  },
};
