import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { UsageError } from "../../runtime/data/errors.ts";
import { diagnosticToJson, hasErrors, renderDiagnostic } from "../../source/index.ts";
import { readCisa } from "../../visa/cisa/index.ts";
import { printVisa } from "../../visa/printer/index.ts";
import type { VisaFile } from "../../visa/tree.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { readBytes, writeBytes } from "../terminal/files.ts";
import { printJson } from "../terminal/terminal.ts";

const isDirectory = (path: string): boolean =>
  path.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * The text of each routine, with file names like IGC's dumps: X.visaasm for the kernel, X_f0.visaasm for its first
 * function.
 */
function textsOf(tree: VisaFile, input: string): readonly { readonly name: string; readonly text: string }[] {
  const base = basename(input).replace(/\.isa$/i, "");
  let kernels = 0;
  let functions = 0;
  return tree.routines.map((routine) => {
    const isKernel = routine.kind === "kernel";
    const number = isKernel ? kernels++ : functions++;
    const suffix = isKernel ? (number === 0 ? "" : `_k${number}`) : `_f${number}`;
    return { name: `${base}${suffix}.visaasm`, text: printVisa({ ...tree, routines: [routine] }) };
  });
}

function writeTexts(tree: VisaFile, input: string, output: string): readonly string[] {
  if (!isDirectory(output)) {
    writeBytes(output, printVisa(tree));
    return [output];
  }
  return textsOf(tree, input).map(({ name, text }) => {
    const path = join(output, name);
    writeBytes(path, text);
    return path;
  });
}

export const disasm: Command = {
  name: "disasm",
  summary: "disassemble a CISA file into vISA text",
  usage: ["disasm IN.isa", "disasm IN.isa -o OUT.isaasm", "disasm IN.isa -o DIRECTORY"],
  options: [
    {
      name: "output",
      short: "o",
      value: "PATH",
      file: "written",
      orFolder: true,
      help: "a file, or an existing directory (default: stdout)",
    },
  ],
  common: [],
  details:
    "Stdout and a file get all routines in one text, as an .isaasm has them: kernels first, then functions. A directory gets one file per routine: IN.visaasm for the kernel (IN_k1.visaasm for a second one), IN_f0.visaasm, IN_f1.visaasm … for its functions, as IGC names its dumps.\n\nNative code in the file is skipped. If the file is damaged, everything readable is printed, and the exit status is 1.",
  run(options, terminal) {
    const [input, ...more] = options.positionals;
    if (input === undefined || more.length > 0) throw new UsageError("disasm: give one CISA file");
    const output = options.value("output");
    const { tree, diagnostics } = readCisa(readBytes(input), input);
    for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
    const outputs = tree !== null && output !== null ? writeTexts(tree, input, output) : null;
    const text = tree !== null && output === null ? printVisa(tree) : null;
    const ok = tree !== null && !hasErrors(diagnostics);
    if (options.has("json")) {
      const routines = (tree?.routines ?? []).map(({ kind, name }) => ({ kind, name: name.text }));
      const found = diagnostics.map(diagnosticToJson);
      printJson({ ok, routines, diagnostics: found, ...(outputs && { outputs }), ...(text && { text }) }, terminal);
    } else if (text !== null) terminal.out(text.replace(/\n$/, ""));
    return ok ? exitStatus.ok : exitStatus.failed;
  },
};
