import type { IrModule } from "../../ir/index.ts";
import { type CheckedModule, checkPtx } from "../../ptx/check/check.ts";
import { architectures } from "../../ptx/check/module-header.ts";
import { printLinked } from "../../ptx/link/print.ts";
import { type LinkedProgram, linkPtx } from "../../ptx/link/resolve.ts";
import { lowerModules } from "../../ptx/lower/lower.ts";
import { parsePtx } from "../../ptx/parser/index.ts";
import type { Module } from "../../ptx/tree/module.ts";
import { type Diagnostic, hasErrors, nearest, type SourceText } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";
import { isProvided } from "../launch/provided-names.ts";

/** Options of the functions that check, link and compile PTX. */
export interface CompileOptions {
  /** The target to check for, as in "sm_90". Default: the one that each module names. */
  readonly target?: string | undefined;
  /** Bits of the addresses of modules that do not say. Default: 32. */
  readonly addressSize?: 32 | 64 | undefined;
}

/** The result of checking one file. */
export interface CheckedSource {
  readonly module: CheckedModule;
  /** The diagnostics of the parser and the checker, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The version and target that a module declares. */
interface Heading {
  readonly target?: string | undefined;
  /** As one number: version 6.4 is 604. */
  readonly version?: number;
}

/** Returns a copy of the module that declares another version or target. */
const withHeading = (tree: Module, { target, version }: Heading): Module => ({
  ...tree,
  items: tree.items.map((item) => {
    if (item.kind === "version" && version !== undefined)
      return { ...item, major: Math.floor(version / 100), minor: version % 100 };
    const [first, ...rest] = item.kind === "target" ? item.names : [];
    return item.kind === "target" && first && target !== undefined
      ? { ...item, names: [{ ...first, text: target }, ...rest] }
      : item;
  }),
});

const inOrder = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  [...diagnostics].sort((a, b) => a.span.start - b.span.start);

/**
 * Parses and checks one file. Checking does not stop at the first error: all are among the diagnostics.
 *
 * @throws UsageError if `target` is not a target of PTX
 */
export function checkSource(source: SourceText, { target, addressSize }: CompileOptions = {}): CheckedSource {
  if (target !== undefined && !architectures.includes(target)) throw noTarget(target);
  return checkAs(source, { target }, addressSize);
}

function noTarget(name: string): UsageError {
  const meant = nearest(name, architectures);
  return new UsageError(`there is no target "${name}" of PTX${meant ? `; did you mean "${meant}"?` : ", as sm_90 is"}`);
}

function checkAs(source: SourceText, heading: Heading, addressSize?: 32 | 64): CheckedSource {
  const { tree, diagnostics } = parsePtx(source);
  const module = checkPtx(withHeading(tree, heading), { addressSize });
  return { module, diagnostics: inOrder([...diagnostics, ...module.diagnostics]) };
}

interface Linked {
  /** Null if a file has errors, so that there is nothing to link. */
  readonly program: LinkedProgram | null;
  readonly diagnostics: readonly Diagnostic[];
}

function link(sources: readonly SourceText[], options: CompileOptions): Linked {
  const checked = sources.map((source) => checkSource(source, options));
  const diagnostics = checked.flatMap((c) => c.diagnostics);
  if (hasErrors(diagnostics)) return { program: null, diagnostics };
  const modules = checked.map((c) => c.module);
  const program = linkPtx(modules, isProvided);
  return { program, diagnostics: [...diagnostics, ...program.diagnostics] };
}

/**
 * Checks files as one program. Returns the diagnostics of each file and, if none of these is an error, those of linking
 * them.
 *
 * @throws UsageError if `target` is not a target of PTX
 */
export const checkLinked = (sources: readonly SourceText[], options: CompileOptions = {}): readonly Diagnostic[] =>
  link(sources, options).diagnostics;

/**
 * Parses, checks, links and lowers files to one program. `module` is null if any of the diagnostics is an error.
 *
 * @throws UsageError if `target` is not a target of PTX
 */
export function compile(
  sources: readonly SourceText[],
  options: CompileOptions = {},
): { readonly module: IrModule | null; readonly diagnostics: readonly Diagnostic[] } {
  const { program, diagnostics } = link(sources, options);
  const sound = program !== null && !hasErrors(diagnostics);
  return { module: sound ? lowerModules(program.modules, program.names, program.target.name) : null, diagnostics };
}

/** The errors that modules have only because the linked module declares the newest version and target among them. */
const agedOut = ({ modules, version, target }: LinkedProgram): readonly Diagnostic[] =>
  modules
    .filter((m) => m.version !== version || m.target.name !== target.name)
    .flatMap((m) => checkAs(m.module.source, { version, target: target.name }, m.addressSize).diagnostics)
    .filter((d) => d.severity === "error");

/**
 * Links several modules into the text of one. `text` is null if any of the diagnostics is an error.
 *
 * @throws UsageError if `target` is not a target of PTX
 */
export function linkToText(
  sources: readonly SourceText[],
  options: CompileOptions = {},
): { readonly text: string | null; readonly diagnostics: readonly Diagnostic[] } {
  const { program, diagnostics } = link(sources, options);
  if (program === null || hasErrors(diagnostics)) return { text: null, diagnostics };
  const aged = agedOut(program);
  return { text: aged.length === 0 ? printLinked(program) : null, diagnostics: [...diagnostics, ...aged] };
}
