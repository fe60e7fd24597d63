import type { SourceText, Span } from "../../source/index.ts";
import type { BadNode, Comment, DwarfDirective, FileDirective, LocDirective, Name, PragmaDirective } from "./leaves.ts";
import type { FunctionDeclaration, NameExpr, SectionDirective, VariableDeclaration } from "./nodes.ts";

/** A whole PTX file, as `parsePtx` returns it. */
export interface Module extends Span {
  readonly kind: "module";
  readonly source: SourceText;
  /** The directives at module scope, in source order. */
  readonly items: readonly Item[];
  readonly comments: readonly Comment[];
  /**
   * Text inside other nodes that could not be parsed, in source order; each piece has a diagnostic. The printer prints
   * the statements that contain it verbatim.
   */
  readonly skipped: readonly BadNode[];
}

/** `.version 9.0` (11.1.1) */
export interface VersionDirective extends Span {
  readonly kind: "version";
  readonly major: number;
  readonly minor: number;
}

/** `.target sm_90, debug` (11.1.2) */
export interface TargetDirective extends Span {
  readonly kind: "target";
  /** An architecture such as "sm_90", and options: "texmode_independent", "debug", "map_f64_to_f32". */
  readonly names: readonly Name[];
}

/** `.address_size 64` (11.1.3) */
export interface AddressSizeDirective extends Span {
  readonly kind: "address-size";
  readonly value: number;
}

/** `.alias a, f;` makes `a` another name for the function `f` (11.2.3). */
export interface AliasDirective extends Span {
  readonly kind: "alias";
  readonly alias: NameExpr;
  readonly aliasee: NameExpr;
}

/** A directive at module scope. */
export type Item =
  | VersionDirective
  | TargetDirective
  | AddressSizeDirective
  | VariableDeclaration
  | FunctionDeclaration
  | AliasDirective
  | FileDirective
  | SectionDirective
  | PragmaDirective
  | LocDirective
  | DwarfDirective
  | BadNode;
