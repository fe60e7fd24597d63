import { type Container, ContainerError, type DeviceModule, type CodeImage } from "../../container/index.ts";
import { decodeText, SourceText } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";

/**
 * The PTX of a module for one architecture. It is decompressed when it is needed, as large libraries have thousands.
 */
export class PtxForm {
  readonly image: CodeImage;
  readonly #module: string;
  #source: SourceText | null = null;

  /** `module` is the path of the file and the name of the module: "a.out:reduce". */
  constructor(image: CodeImage, module: string) {
    this.image = image;
    this.#module = module;
  }

  /** As `.target` says. */
  get target(): string {
    return targetIn(this.source.text) ?? this.image.architecture;
  }

  /**
   * Its text, under the name by which messages refer to it: "a.out:reduce.sm_80.ptx".
   *
   * @throws UsageError if it is damaged
   */
  get source(): SourceText {
    if (this.#source === null) {
      const text = textOf(this.image, this.#module);
      const target = targetIn(text) ?? this.image.architecture;
      this.#source = new SourceText(`${this.#module}.${target}.ptx`, text);
    }
    return this.#source;
  }
}

const targetIn = (text: string): string | undefined => /^[ \t]*\.target[ \t]+(sm_\w+)/m.exec(text)?.[1];

/** What was made of one source file of CUDA. */
export interface PtxModule {
  readonly name: string;
  readonly module: DeviceModule;
  /** Its PTX for each architecture, the newest first; none if there is machine code alone. */
  readonly forms: readonly PtxForm[];
}

/** Modules that are one program: one alone, or all those of a file that are to be linked (`nvcc -rdc=true`). */
export type PtxProgram = readonly PtxModule[];

/** The programs that a file holds, those without PTX left out. */
export function ptxPrograms(path: string, { modules }: Container): readonly PtxProgram[] {
  const all = ptxModules(path, modules).filter(({ name, forms }) => forms.length > 0 && !isDeviceRuntime(name));
  const linked = all.filter(({ module }) => module.relocatable);
  const alone = all.filter(({ module }) => !module.relocatable).map((module) => [module]);
  return linked.length === 0 ? alone : [linked, ...alone];
}

/** Whether a module is CUDA's own (libcudadevrt): what kernels that launch kernels are linked with, and no program. */
export const isDeviceRuntime = (name: string): boolean => /^cuda_device_runtime\b/.test(name);

/** All modules of a file. */
export function ptxModules(path: string, modules: readonly DeviceModule[]): readonly PtxModule[] {
  return modules.map((module) => {
    const { name } = module;
    const forms = module.images
      .filter(({ kind }) => kind === "ptx")
      .map((image) => new PtxForm(image, `${path}:${name}`));
    return { name, module, forms: forms.sort(newestFirst) };
  });
}

function textOf(image: CodeImage, path: string): string {
  try {
    return decodeText(image.read());
  } catch (error) {
    if (error instanceof ContainerError) throw new UsageError(`${path}: ${error.message}`);
    throw error;
  }
}

/** The number of an architecture: 90 for "sm_90a". */
export const architectureNumber = (target: string): number => Number(/\d+/.exec(target)?.[0] ?? 0);

/** What runs on one architecture alone goes before what runs on later ones too. */
const newestFirst = (a: PtxForm, b: PtxForm): number =>
  architectureNumber(b.image.architecture) - architectureNumber(a.image.architecture) ||
  (a.image.architecture < b.image.architecture ? 1 : -1);

/** The names of the kernels in a text of PTX, without parsing all of it. */
export function kernelNames(text: string): readonly string[] {
  return Array.from(text.matchAll(/^[^/"\n]*\.entry[ \t\r\n]+([\w$%]+)/gm), ([, name]) => name!);
}
