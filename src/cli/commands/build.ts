import { displayName, signatureOf } from "../../names/index.ts";
import { basename } from "node:path";
import { LoadError, NotExecutableError, UsageError } from "../../runtime/data/errors.ts";
import { textOf } from "../../runtime/data/source-file.ts";
import { buildKernel } from "../../runtime/standalone/standalone.ts";
import { parseDim } from "../options/argument-syntax.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { isaOfProgram } from "../options/isa-of-file.ts";
import { isOpenCl } from "../options/is-opencl.ts";
import type { Options } from "../options/options.ts";
import { moduleOption } from "../options/program-options.ts";
import { allProgramTexts } from "../runs/program-files.ts";
import { SourceText } from "../../source/index.ts";
import { readText, writeBytes } from "../terminal/files.ts";
import { printLoadError } from "../terminal/load-error.ts";
import { printJson } from "../terminal/terminal.ts";

const descriptionOf = (module: string): string => module.replace(/\.wasm$/, ".json");

/** The section `.ze_info` of a program of vISA; null for PTX. */
async function zeinfoOf(options: Options): Promise<unknown> {
  if (isaOfProgram(options, options.positionals) === "ptx") return null;
  const { parseYaml } = await import("../terminal/yaml.ts");
  const path = options.value("zeinfo");
  if (path !== null) return parseYaml(readText(path).text);
  const whole = options.positionals.find(isOpenCl);
  const { openOpenCl } = await import("../options/opencl-files.ts");
  const found = whole === undefined ? null : openOpenCl(whole, options.value("module")).zeinfo;
  if (found === null)
    throw new UsageError("build: a kernel of vISA needs its .ze_info: --zeinfo FILE, or what ocloc writes");
  return parseYaml(new TextDecoder().decode(found.bytes));
}

export const build: Command = {
  name: "build",
  summary: "compile a kernel to WebAssembly that stands alone",
  usage: [
    "build FILE… -o OUT.wasm [--kernel K] [--block SIZE]",
    "build FILE.visaasm… --zeinfo FILE -o OUT.wasm [--kernel K] [--block SIZE]",
  ],
  options: [
    {
      name: "output",
      short: "o",
      value: "FILE.wasm",
      file: "written",
      alsoWritten: descriptionOf,
      help: "where the module goes; its description is FILE.json",
    },
    { name: "kernel", value: "NAME", help: "the kernel (default: the only one)" },
    moduleOption,
    {
      name: "zeinfo",
      value: "FILE",
      file: "read",
      help: "vISA: the section .ze_info of the compiled program, as YAML",
    },
    { name: "block", value: "X[,Y,Z]", help: "specialize for blocks of this size (default: any size)" },
  ],
  common: ["target"],
  details:
    "The files are linked into one program. docs/build.md says what the description holds, and how the module is launched: " +
    "lanewise/loader (examples/standalone/loader.mjs) does it in Node and in the browser, without the compiler. Kernels that need more than a simple launcher can do are refused: " +
    "allocating memory, assertions, alloca, lanes that wait for others of their warp, products of matrices, and barriers with a number or a count.",
  async run(options, terminal) {
    const output = options.value("output");
    if (options.positionals.length === 0) throw new UsageError("build: no file given");
    if (output === null) throw new UsageError("build: -o says where the module goes");
    if (!output.endsWith(".wasm")) throw new UsageError(`build: -o ${output}: the name of a module ends in .wasm`);
    const zeinfo = await zeinfoOf(options);
    const size = options.value("block");
    const kernel = options.value("kernel");
    const descriptionPath = descriptionOf(output);
    const sources = (await allProgramTexts(options)).map((file) => new SourceText(file.path, textOf(file)));
    const json = options.has("json");
    try {
      const { wasm, description } = buildKernel(sources, {
        ...(kernel === null ? {} : { kernel }),
        ...(size === null ? {} : { block: parseDim("block", size) }),
        target: options.target ?? undefined,
        ...(zeinfo === null ? {} : { zeinfo }),
      });
      writeBytes(output, wasm);
      writeBytes(descriptionPath, `${JSON.stringify({ module: basename(output), ...description }, null, 1)}\n`);
      if (json)
        printJson(
          {
            ok: true,
            output,
            description: descriptionPath,
            kernel: description.kernel,
            kernelName: signatureOf(description.kernel),
          },
          terminal,
        );
      else {
        const kilobytes = (wasm.length / 1000).toFixed(1);
        terminal.err(
          `${displayName(description.kernel)}: ${kilobytes} KB in ${output}, described in ${descriptionPath}`,
        );
      }
      return exitStatus.ok;
    } catch (error) {
      if (error instanceof LoadError) printLoadError(error, json, terminal);
      else if (!(error instanceof NotExecutableError)) throw error;
      else {
        terminal.err(`lanewise: ${error.message}`);
        if (json) printJson({ ok: false, error: error.message }, terminal);
      }
      return exitStatus.failed;
    }
  },
};
