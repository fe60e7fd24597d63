import {
  type Container,
  ContainerError,
  type CodeImage,
  type MachineKernel,
  readMachineCode,
} from "../../container/index.ts";
import type { IrFunction, IrModule } from "../../ir/index.ts";
import { signatureOf } from "../../names/index.ts";
import { findObstacle } from "../../program/obstacle.ts";
import { renderPlace, type SourceText } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";
import { isProvided } from "../launch/provided-names.ts";
import { compile } from "./compile.ts";
import { kernelSignature, sharedNeeds } from "./kernel-needs.ts";
import { neededModules } from "./needed-modules.ts";
import { isDeviceRuntime, kernelNames, type PtxModule, ptxModules } from "./ptx-programs.ts";
import { chooseForm } from "./unpack.ts";

/** A form of a module, as it is listed. */
export interface ListedImage
  extends Pick<CodeImage, "kind" | "version" | "options" | "compression" | "storedBytes" | "bytes"> {
  /** "sm_90a" */
  readonly target: string;
  /** Whether it is the one that is run. */
  readonly taken: boolean;
}

/** A kernel, as it is listed. */
export interface ListedKernel {
  readonly name: string;
  /** The name with the types of the parameters, as far as they are known. */
  readonly signature: string;
  /** The name of its module. */
  readonly module: string;
  /** The shared memory that it declares, in bytes; null if it is not known. */
  readonly sharedBytes: number | null;
  /** Whether a launch gives the size of more shared memory. */
  readonly dynamicShared: boolean;
  /** The registers of each thread, by the machine code that the file has too; null if there is none. */
  readonly registers: number | null;
  /** Why it cannot be run here; null if it can be. */
  readonly obstacle: string | null;
}

/** A module, as it is listed. */
interface ListedModule {
  readonly name: string;
  /** Whether it is linked with the others of its kind. */
  readonly relocatable: boolean;
  readonly images: readonly ListedImage[];
}

/** What a file holds. */
export interface Listing {
  readonly path: string;
  /** The kind of file, as in "ELF executable". */
  readonly format: string;
  readonly modules: readonly ListedModule[];
  readonly kernels: readonly ListedKernel[];
  /** What could not be read. */
  readonly problems: readonly string[];
}

/**
 * Lists what a file of PTX has.
 *
 * @throws UsageError if it does not look like PTX at all
 */
export function listPtx(source: SourceText, target: string | undefined): Listing {
  const { text, path } = source;
  const [, version = null] = /^[ \t]*\.version[ \t]+([\d.]+)/m.exec(text) ?? [];
  if (version === null) throw new UsageError(`${path} is not PTX, which has a line with .version, and holds none`);
  const [, named = "?"] = /^[ \t]*\.target[ \t]+(\w+)/m.exec(text) ?? [];
  const size = new TextEncoder().encode(text).length;
  const image: ListedImage = {
    ...{ kind: "ptx", target: named, version, options: "", compression: "none" },
    ...{ storedBytes: size, bytes: size, taken: true },
  };
  const kernels = kernelsOf([{ name: "", source, machine: new Map() }], target);
  const module = { name: "", relocatable: false, images: [image] };
  return { path, format: "PTX", modules: [module], kernels, problems: [] };
}

/** Lists what a file holds. */
export function listContainer(path: string, container: Container, target: string | undefined): Listing {
  const problems = [...container.problems];
  const all = ptxModules(path, container.modules).map((module) => listModule(module, target, problems));
  const modules = all.filter(({ module }) => !isDeviceRuntime(module.name));
  const linked = modules.filter(({ module, source }) => module.relocatable && source !== null);
  const alone = modules.filter((m) => !linked.includes(m)).map((m) => [m]);
  // What is in the machine code that was linked of modules which are here too is no kernel of its own.
  const own = alone.filter(([m]) => m!.source !== null || linked.length === 0);
  const kernels = [...(linked.length > 0 ? [linked] : []), ...own].flatMap((program) => {
    const withPtx = program.flatMap(({ module, source, machine }) =>
      source === null ? [] : [{ name: module.name, source, machine }],
    );
    return withPtx.length > 0 ? linkedKernels(withPtx, target) : program.flatMap(machineKernels);
  });
  return { path, format: container.format, modules: all.map(({ module }) => module), kernels, problems };
}

interface Listed {
  readonly module: ListedModule;
  /** The text that is run; null if there is no PTX. */
  readonly source: SourceText | null;
  /** The kernels of the machine code. */
  readonly machine: ReadonlyMap<string, MachineKernel>;
}

function listModule(read: PtxModule, target: string | undefined, problems: string[]): Listed {
  const { name, module, forms } = read;
  const taken = forms.length === 0 ? null : tryToChoose(read, target, problems);
  const images = module.images.map((image): ListedImage => {
    const { kind, version, options, compression, storedBytes, bytes } = image;
    const said = { kind, version, options, compression, storedBytes, bytes };
    return { ...said, target: image.architecture, taken: taken !== null && image === taken.image };
  });
  const code = module.images.find(({ kind }) => kind === "machine code");
  return {
    module: { name, relocatable: module.relocatable, images },
    source: taken?.source ?? null,
    machine: code === undefined ? new Map() : machineOf(code, problems),
  };
}

function tryToChoose(read: PtxModule, target: string | undefined, problems: string[]): PtxModule["forms"][0] | null {
  try {
    const form = chooseForm(read, target);
    // Damage shows when the text is read.
    void form.source;
    return form;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problems.push(error.message);
    return null;
  }
}

function machineOf(image: CodeImage, problems: string[]): ReadonlyMap<string, MachineKernel> {
  try {
    return new Map(readMachineCode(image.read()).map((kernel) => [kernel.name, kernel]));
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error;
    problems.push(error.message);
    return new Map();
  }
}

const machineKernels = ({ module, machine }: Listed): ListedKernel[] =>
  [...machine.values()].map(({ name, registers, sharedBytes }) => ({
    ...{ name, signature: name, module: module.name, sharedBytes, dynamicShared: false, registers },
    obstacle: "there is machine code alone, no PTX",
  }));

interface ProgramSource {
  /** The name of the module. */
  readonly name: string;
  readonly source: SourceText;
  readonly machine: ReadonlyMap<string, MachineKernel>;
}

/** The kernels of a program, each with the modules that it needs, as for a run. */
function linkedKernels(program: readonly ProgramSource[], target: string | undefined): readonly ListedKernel[] {
  const sources = program.map(({ source }) => source);
  return program.flatMap((module) => {
    if (kernelNames(module.source.text).length === 0) return [];
    const needed = neededModules([module.source], sources);
    const parts = program.filter(({ source }) => needed.includes(source));
    return kernelsOf(parts, target).filter((kernel) => kernel.module === module.name);
  });
}

/** The kernels of modules that are linked. */
function kernelsOf(program: readonly ProgramSource[], target: string | undefined): readonly ListedKernel[] {
  const { module, diagnostics } = compile(
    program.map(({ source }) => source),
    { target },
  );
  const error = diagnostics.find(({ severity }) => severity === "error");
  const why = error === undefined ? "" : `${error.message} (${renderPlace(error.source, error.span)})`;
  return program.flatMap(({ name: moduleName, source, machine }) => {
    const known = (name: string) => ({ name, module: moduleName, registers: machine.get(name)?.registers ?? null });
    if (module === null) {
      return kernelNames(source.text).map((name): ListedKernel => {
        const shared = { sharedBytes: machine.get(name)?.sharedBytes ?? null, dynamicShared: false };
        return { ...known(name), ...shared, signature: signatureOf(name), obstacle: why };
      });
    }
    const kernels = module.functions.filter((f) => f.kind === "kernel" && f.source === source);
    return kernels.map((kernel): ListedKernel => {
      const { bytes, isDynamic } = sharedNeeds(module, kernel);
      const shared = { sharedBytes: bytes, dynamicShared: isDynamic };
      const signature = kernelSignature(kernel);
      return { ...known(kernel.name), ...shared, signature, obstacle: obstacleOf(module, kernel) };
    });
  });
}

function obstacleOf(module: IrModule, kernel: IrFunction): string | null {
  const obstacle = findObstacle(module, kernel, isProvided);
  if (obstacle === null) return null;
  const { function: f, index, message } = obstacle;
  return `${message} (${renderPlace(f.source, f.instructions[index]!.span)})`;
}
