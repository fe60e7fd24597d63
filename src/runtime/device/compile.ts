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

/** How PTX is checked. */
export interface CompileOptions {
  /** Check for this target ("sm_90") instead of the one that the module names. */
  readonly target?: string | undefined;
}

/** A checked module with its diagnostics. */
export interface CheckedSource {
  readonly module: CheckedModule;
  /** Of the parser and the checker, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What a module says about itself. */
interface Heading {
  readonly target?: string | undefined;
  /** As one number: 6.4 is 604. */
  readonly version?: number;
}

/** The module as if it said something else. */
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
 * Parses and checks one file. It does not stop at the first error.
 *
 * @throws UsageError when there is no such target
 */
export function checkSource(source: SourceText, { target }: CompileOptions = {}): CheckedSource {
  if (target !== undefined && !architectures.includes(target)) throw noTarget(target);
  return checkAs(source, { target });
}

function noTarget(name: string): UsageError {
  const meant = nearest(name, architectures);
  return new UsageError(`there is no target "${name}" of PTX${meant ? `; did you mean "${meant}"?` : ", as sm_90 is"}`);
}

function checkAs(source: SourceText, heading: Heading): CheckedSource {
  const { tree, diagnostics } = parsePtx(source);
  const module = checkPtx(withHeading(tree, heading));
  return { module, diagnostics: inOrder([...diagnostics, ...module.diagnostics]) };
}

interface Linked {
  /** Null when a file has errors, so that there is nothing to link. */
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

/** The diagnostics of files that are one program: their own, and, when these have no errors, those between them. */
export const checkLinked = (sources: readonly SourceText[], options: CompileOptions = {}): readonly Diagnostic[] =>
  link(sources, options).diagnostics;

/** From text to a program: parse, check, link and lower. The program is null when there are errors. */
export function compile(
  sources: readonly SourceText[],
  options: CompileOptions = {},
): { readonly module: IrModule | null; readonly diagnostics: readonly Diagnostic[] } {
  const { program, diagnostics } = link(sources, options);
  const sound = program !== null && !hasErrors(diagnostics);
  return { module: sound ? lowerModules(program.modules, program.names, program.target.name) : null, diagnostics };
}

/** What the modules may no longer say when they are parts of one with the newest version and target of all. */
const agedOut = ({ modules, version, target }: LinkedProgram): readonly Diagnostic[] =>
  modules
    .filter((m) => m.version !== version || m.target.name !== target.name)
    .flatMap((m) => checkAs(m.module.source, { version, target: target.name }).diagnostics)
    .filter((d) => d.severity === "error");

/** The text of one module out of several, or null when there are errors. */
export function linkToText(
  sources: readonly SourceText[],
  options: CompileOptions = {},
): { readonly text: string | null; readonly diagnostics: readonly Diagnostic[] } {
  const { program, diagnostics } = link(sources, options);
  if (program === null || hasErrors(diagnostics)) return { text: null, diagnostics };
  const aged = agedOut(program);
  return { text: aged.length === 0 ? printLinked(program) : null, diagnostics: [...diagnostics, ...aged] };
}
