import { UsageError } from "../../runtime/data/errors.ts";
import type { ListedImage, ListedKernel, Listing } from "../../runtime/device/listing.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { moduleOption, packedFiles } from "../options/program-options.ts";
import { listFile } from "../runs/listed-file.ts";
import { grouped, plural } from "../terminal/numbers.ts";
import { alignColumns } from "../terminal/columns.ts";
import { printJson, type Terminal } from "../terminal/terminal.ts";

/** The options of the compiler that a file has noted down need not be shown at such length. */
const maxOptions = 40;

const codeNames: Readonly<Record<ListedImage["kind"], string>> = { ptx: "PTX", "machine code": "machine code" };

function printModules({ modules }: Listing, { out }: Terminal): void {
  const rows = modules.flatMap(({ name, relocatable, images }) =>
    images.map((image, i) => [
      i === 0 ? `${name}${relocatable ? " (linked)" : ""}` : "",
      codeNames[image.kind],
      image.target,
      image.version ?? "",
      image.compression === "none" ? "" : image.compression,
      grouped(image.bytes),
      image.options.length > maxOptions ? `${image.options.slice(0, maxOptions)}...` : image.options,
      image.taken && images.filter(({ kind }) => kind === "ptx").length > 1 ? "taken" : "",
    ]),
  );
  const titles = ["module", "code", "target", "version", "compressed", "bytes", "options", ""];
  for (const line of alignColumns(titles, rows, [5])) out(line === "" ? "" : `  ${line}`);
}

function printKernels({ kernels, modules }: Listing, terminal: Terminal): void {
  const { style, out } = terminal;
  const several = modules.length > 1;
  const rows = kernels.map((kernel) => [
    kernel.obstacle === null ? style("help", "yes") : style("warning", "no"),
    sharedText(kernel),
    kernel.registers === null ? "" : String(kernel.registers),
    several ? kernel.module : "",
    // Names of C++ have any length, so they come last.
    kernel.signature,
  ]);
  const titles = ["runs here", "shared", "registers", "module", "kernel"];
  const [heading, ...lines] = alignColumns(titles, rows, [1, 2]);
  out(`  ${heading}`);
  lines.forEach((line, i) => {
    out(`  ${line}`);
    const { obstacle } = kernels[i]!;
    // What keeps one kernel of a module from running often keeps all.
    if (obstacle !== null && obstacle !== kernels[i - 1]?.obstacle) out(`             ${style("faint", obstacle)}`);
  });
}

const sharedText = ({ sharedBytes, dynamicShared }: ListedKernel): string =>
  sharedBytes === null ? "" : `${grouped(sharedBytes)}${dynamicShared ? "+" : ""}`;

function printListing(listing: Listing, terminal: Terminal): void {
  const { style, out, err } = terminal;
  const { path, format, modules, kernels, problems } = listing;
  const counts = [...(modules.length > 1 ? [plural(modules.length, "module")] : []), plural(kernels.length, "kernel")];
  out(`${style("strong", path)}: ${format}, ${counts.join(", ")}`);
  if (modules.length > 0) {
    out("");
    printModules(listing, terminal);
  }
  if (kernels.length > 0) {
    out("");
    printKernels(listing, terminal);
  }
  for (const problem of problems) err(`lanewise: ${problem}`);
}

export const list: Command = {
  name: "list",
  summary: "show what is in programs: kernels, modules, targets, what can be run",
  usage: ["list FILE… [--module NAME]"],
  options: [{ name: "isa", value: "NAME", help: "ptx or visa (default: by the file's name)" }, moduleOption],
  common: ["target"],
  details: `Files: PTX and vISA; ${packedFiles}.

Where a module has PTX for several targets, "taken" marks the one that is run: the one for --target, or else the newest of which all kernels can be executed. Modules that are "linked" are one program (nvcc -rdc=true), others a program each. Shared memory is what a kernel declares; with + a launch adds more (--shared). Registers are those of the machine code, if there is some.

Exit status: 0; 1 if a file holds no kernel or is damaged in part; 2 for wrong usage and files that cannot be read.`,
  async run(options, terminal) {
    if (options.positionals.length === 0) throw new UsageError("list: no file given");
    const json = options.has("json");
    const listings: Listing[] = [];
    const errors: string[] = [];
    for (const path of options.positionals) {
      try {
        const listing = await listFile(path, options);
        if (!json) {
          if (listings.length > 0) terminal.out("");
          printListing(listing, terminal);
        }
        listings.push(listing);
      } catch (error) {
        // One file that cannot be read must not hide the others.
        if (!(error instanceof UsageError) || options.positionals.length === 1) throw error;
        errors.push(error.message);
        terminal.err(`lanewise: ${error.message}`);
      }
    }
    if (json) printJson({ files: listings, ...(errors.length > 0 && { errors }) }, terminal);
    if (errors.length > 0) return exitStatus.usage;
    return listings.every(({ kernels, problems }) => kernels.length > 0 && problems.length === 0)
      ? exitStatus.ok
      : exitStatus.failed;
  },
};
