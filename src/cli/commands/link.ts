import { UsageError } from "../../runtime/data/errors.ts";
import { textOf } from "../../runtime/data/source-file.ts";
import { linkToText } from "../../runtime/device/compile.ts";
import { hasErrors, placedDiagnosticToJson, renderDiagnostic, SourceText } from "../../source/index.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { requirePtx } from "../options/isa-of-file.ts";
import { moduleOption, packedFiles } from "../options/program-options.ts";
import { allProgramTexts } from "../runs/program-files.ts";
import { writeBytes } from "../terminal/files.ts";
import { printJson } from "../terminal/terminal.ts";

export const link: Command = {
  name: "link",
  summary: "make one PTX module out of several",
  usage: ["link A.ptx B.ptx… -o OUT.ptx", "link PROGRAM [--module NAME] -o OUT.ptx"],
  options: [
    { name: "output", short: "o", value: "FILE", file: "written", help: "where the module goes (default: stdout)" },
    moduleOption,
  ],
  common: ["target"],
  details: `Also takes PTX out of ${packedFiles.split(";")[0]}: the program of a file, or one of its modules.`,
  async run(options, terminal) {
    if (options.positionals.length === 0) throw new UsageError("link: no file given");
    requirePtx(options, "only PTX modules are linked; the files of a vISA program stay apart");
    const target = options.target ?? undefined;
    const sources = (await allProgramTexts(options)).map((file) => new SourceText(file.path, textOf(file)));
    const { text, diagnostics } = linkToText(sources, { target });
    for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
    const output = options.value("output");
    if (text !== null && output !== null) writeBytes(output, text);
    if (options.has("json")) {
      printJson(
        {
          ok: text !== null,
          diagnostics: diagnostics.map(placedDiagnosticToJson),
          ...(output === null ? { text } : { output }),
        },
        terminal,
      );
    } else if (text !== null && output === null) terminal.out(text.replace(/\n$/, ""));
    return text === null || hasErrors(diagnostics) ? exitStatus.failed : exitStatus.ok;
  },
};
