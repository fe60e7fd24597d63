import { type Container, ContainerError, isContainer, readContainer } from "../../container/index.ts";
import { matchName } from "../../names/index.ts";
import { findObstacle } from "../../program/obstacle.ts";
import { nearest, SourceText } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";
import { type SourceFile, textOf } from "../data/source-file.ts";
import { isProvided } from "../launch/provided-names.ts";
import { compile } from "./compile.ts";
import { neededModules } from "./needed-modules.ts";
import {
  architectureNumber,
  kernelNames,
  type PtxForm,
  type PtxModule,
  type PtxProgram,
  ptxPrograms,
} from "./ptx-programs.ts";

/** What is wanted of files that hold several programs. */
export interface UnpackOptions {
  /** The target that was asked for, if any. */
  readonly target?: string | undefined;
  /** The kernels that are wanted, if it is known which. */
  readonly kernels?: readonly string[] | undefined;
  /** The name of the module that is wanted. */
  readonly module?: string | undefined;
}

/**
 * The PTX of a program's files: each text as it is, and what is chosen of each file that holds several. Of a file with
 * several programs it is the one with the kernel that is wanted, of a module with forms for several architectures the
 * one for the target, or else the newest that can be executed.
 *
 * @throws UsageError if a file is damaged, has no PTX, or it is not clear which of its programs is meant
 */
export function unpackPtx(files: readonly SourceFile[], options: UnpackOptions = {}): readonly SourceText[] {
  return files.flatMap((file) =>
    file.bytes !== undefined && isContainer(file.bytes)
      ? chooseSources(file, openContainer(file.path, file.bytes), options)
      : [new SourceText(file.path, textOf(file))],
  );
}

/** A text of PTX that a file holds; `Device.load` takes it as it is. */
export interface PtxText {
  /** The name by which messages refer to it: "a.out:reduce.sm_80.ptx". */
  readonly path: string;
  readonly text: string;
  /** The name of its module: that of the source file of CUDA, where it is known. */
  readonly module: string;
  /** As in "sm_80". */
  readonly target: string;
  /** Whether it is to be linked with the others of the file that are (`nvcc -rdc=true`). */
  readonly relocatable: boolean;
}

/**
 * Returns all PTX in the bytes of an executable, a shared object, an object, an archive, a fat binary, or of the text
 * that `cuobjdump -ptx` prints. A module may have PTX for several targets, the newest first.
 *
 *     const bytes = new Uint8Array(await (await fetch("app.fatbin")).arrayBuffer());
 *     for (const { module, target, text } of ptxOf(bytes)) console.log(module, target, text.length);
 *
 * `Device.load` takes the bytes too, and then chooses among what is in them.
 *
 * @throws UsageError if there is no PTX in it, or the file is damaged
 */
export function ptxOf(bytes: Uint8Array, path = "program"): readonly PtxText[] {
  if (!isContainer(bytes)) throw new UsageError(`${path} is no file that holds PTX, such as an executable`);
  return programsIn(path, openContainer(path, bytes))
    .flat()
    .flatMap(({ name, module: { relocatable }, forms }) =>
      forms.map(({ target, source }) => ({ path: source.path, text: source.text, module: name, target, relocatable })),
    );
}

/** All PTX of a file, for every architecture: what there is to check. */
export function everyPtx(path: string, bytes: Uint8Array, module: string | null = null): readonly SourceText[] {
  const container = openContainer(path, bytes);
  const modules = programsIn(path, container).flat();
  const wanted = modules.filter(({ name }) => name === (module ?? name));
  if (wanted.length === 0) throw noModule(path, container, module!);
  return wanted.flatMap(({ forms }) => forms.map(({ source }) => source));
}

/**
 * Reads what a file holds, or one of its modules alone.
 *
 * @throws UsageError if it is damaged, or has no such module
 */
export function openContainer(path: string, bytes: Uint8Array, module: string | null = null): Container {
  const container = readOrRefuse(path, bytes);
  if (module === null) return container;
  const modules = container.modules.filter(({ name }) => name === module);
  if (modules.length === 0) throw noModule(path, container, module);
  return { ...container, modules };
}

function readOrRefuse(path: string, bytes: Uint8Array): Container {
  try {
    return readContainer(bytes, path)!;
  } catch (error) {
    if (error instanceof ContainerError) throw new UsageError(error.message);
    throw error;
  }
}

/** @throws UsageError if there is none, which says why and what to do */
function programsIn(path: string, container: Container): readonly PtxProgram[] {
  const programs = ptxPrograms(path, container);
  if (programs.length === 0) throw new UsageError(withoutPtx(path, container));
  return programs;
}

/** Why nothing in a file can be run as PTX, and what to do about it. */
export function withoutPtx(path: string, { format, modules, files, problems }: Container): string {
  const [problem] = problems;
  if (problem !== undefined && modules.length === 0) return `${path}: ${problem}`;
  const architectures = [...new Set(modules.flatMap(({ images }) => images.map((i) => i.architecture)))];
  if (architectures.length > 0) {
    const number = architectures[0]!.slice("sm_".length);
    const option = `-gencode arch=compute_${number},code=compute_${number}`;
    const list = architectures.join(", ");
    return `${path} has machine code for ${list} alone, no PTX; compile with ${option}, or with nvcc -ptx`;
  }
  if (files.length > 0) return `${path} (${format}) has no PTX`;
  return `${path} (${format}) has no code for GPUs`;
}

function chooseSources(
  { path }: SourceFile,
  container: Container,
  { target, kernels = [], module }: UnpackOptions,
): readonly SourceText[] {
  const all = programsIn(path, container);
  const programs = all.filter((program) => module === undefined || program.some(({ name }) => name === module));
  if (programs.length === 0) throw noModule(path, container, module!);
  return choosePrograms(path, programs, kernels).flatMap((program) => sourcesOf(program, target, kernels));
}

function noModule(path: string, { modules }: Container, module: string): UsageError {
  const names = modules.map(({ name }) => name);
  const meant = nearest(module, names);
  const hint = meant ? `did you mean "${meant}"?` : `there is ${fewOf(names) || "none"}`;
  return new UsageError(`${path}: there is no module "${module}"; ${hint}`);
}

/** The programs that have the kernels; the only one with a kernel if none is named. */
function choosePrograms(
  path: string,
  programs: readonly PtxProgram[],
  kernels: readonly string[],
): readonly PtxProgram[] {
  if (programs.length === 1) return programs;
  if (kernels.length === 0) {
    const own = programs.filter((program) => program.some((module) => kernelsOf(module).length > 0));
    if (own.length === 1) return own;
    if (own.length === 0) throw new UsageError(`${path} has no kernel`);
    const list = own.map(describeProgram).join("; ");
    throw new UsageError(`${path} has ${own.length} programs: name a kernel or a module (${list})`);
  }
  const chosen = kernels.map((kernel) => programWith(path, programs, kernel));
  return programs.filter((program) => chosen.includes(program));
}

/** The most kernels that a message names. */
const maxNamed = 8;

const fewOf = (names: readonly string[]): string =>
  names.length > maxNamed ? `${names.slice(0, maxNamed).join(", ")}, ...` : names.join(", ");

const describeProgram = (program: PtxProgram): string =>
  `${program.map(({ name }) => name).join("+")} has ${fewOf(program.flatMap(kernelsOf))}`;

const kernelsOf = ({ forms }: PtxModule): readonly string[] => kernelNames(forms[0]!.source.text);

function programWith(path: string, programs: readonly PtxProgram[], kernel: string): PtxProgram {
  const all = programs.flat().flatMap(kernelsOf);
  const names = new Set(matchName(kernel, all));
  const found = programs.filter((program) => program.some((module) => kernelsOf(module).some((n) => names.has(n))));
  const [first, second] = found;
  if (first === undefined) {
    const meant = nearest(kernel, all);
    const hint = meant ? `did you mean "${meant}"?` : `there is ${fewOf(all.map((name) => `"${name}"`)) || "none"}`;
    throw new UsageError(`${path}: there is no kernel "${kernel}"; ${hint}`);
  }
  if (second === undefined) return first;
  const modules = found.map((program) => program.map(({ name }) => name).join("+")).join(", ");
  const advice = "name one (--module, or `module`)";
  throw new UsageError(`${path}: several modules have a kernel "${kernel}": ${modules}; ${advice}`);
}

/** Whether a kernel is among those that are wanted, which are all if none is named. */
function wantedOf(names: readonly string[], kernels: readonly string[]): (name: string) => boolean {
  if (kernels.length === 0) return () => true;
  const wanted = new Set(kernels.flatMap((kernel) => matchName(kernel, names)));
  return (name) => wanted.has(name);
}

/** The texts of a program: one of each module that is needed for the kernels. */
function sourcesOf(program: PtxProgram, target: string | undefined, kernels: readonly string[]): readonly SourceText[] {
  const [only, ...others] = program;
  if (others.length === 0) return [chooseForm(only!, target, kernels).source];
  const sources = program.map((module) => formFor(module, target)?.source ?? module.forms[0]!.source);
  const names = sources.map((source) => kernelNames(source.text));
  const isWanted = wantedOf(names.flat(), kernels);
  const wanted = sources.filter((_, i) => names[i]!.some(isWanted));
  return wanted.length === 0 ? sources : neededModules(wanted, sources);
}

/**
 * The form of a module for a target: its own, or the newest that is not newer. Null if all are newer, or no target is
 * asked for.
 */
function formFor({ forms }: PtxModule, target: string | undefined): PtxForm | null {
  if (target === undefined) return null;
  const same = forms.find((form) => form.target === target);
  if (same !== undefined) return same;
  const most = architectureNumber(target);
  const older = forms.find((form) => architectureNumber(form.target) <= most && !/[af]$/.test(form.target));
  if (older !== undefined) return older;
  const all = forms.map((form) => form.target).join(", ");
  throw new UsageError(
    `${forms[0]!.source.path.replace(/\.[^.]+\.ptx$/, "")} has no PTX for ${target}, only for ${all}`,
  );
}

/** The form that is taken: for the target, or the newest whose kernels can be executed, or the newest. */
export function chooseForm(module: PtxModule, target?: string, kernels: readonly string[] = []): PtxForm {
  const { forms } = module;
  const [newest, ...others] = forms;
  const form = formFor(module, target);
  if (form !== null) return form;
  if (others.length === 0) return newest!;
  return forms.find(({ source }) => isExecutable(source, kernels)) ?? newest!;
}

function isExecutable(source: SourceText, kernels: readonly string[]): boolean {
  const { module } = compile([source]);
  if (module === null) return false;
  const all = module.functions.filter(({ kind }) => kind === "kernel");
  const isWanted = wantedOf(
    all.map(({ name }) => name),
    kernels,
  );
  return all.every((kernel) => !isWanted(kernel.name) || findObstacle(module, kernel, isProvided) === null);
}
