import type { DiagnosticSink } from "../../source/index.ts";
import type { Name } from "../tree/leaves.ts";
import type { PtxSymbol } from "../tree/nodes.ts";
import type { CheckCode } from "./codes.ts";
import type { Scope } from "./scope.ts";

const nouns: Readonly<Record<PtxSymbol["kind"], string>> = {
  register: "register",
  variable: "variable",
  parameter: "parameter",
  function: "function",
  label: "label",
  "target-list": "list of targets",
  prototype: "prototype",
  special: "special register",
  constant: "constant",
};

/** The noun for a symbol in messages. */
export const nounOf = (symbol: PtxSymbol): string => nouns[symbol.kind];

/**
 * Whether the scope itself already has the name, which is then reported. A label that is defined later does not count.
 */
export function duplicate(name: Name, scope: Scope, sink: DiagnosticSink<CheckCode>): boolean {
  if (name.text === "WARP_SZ") {
    sink.error("duplicate-name", name, "'WARP_SZ' is predefined");
    return true;
  }
  const label = scope.ownLabel(name.text);
  const previous = scope.own(name.text) ?? (label && label.span.start < name.start ? label : undefined);
  if (previous === undefined) return false;
  sink.error("duplicate-name", name, `'${name.text}' is already declared in this scope`, {
    notes: [
      {
        message: `the ${nounOf(previous)} is declared here`,
        source: sink.sourceOf(previous.span),
        span: previous.span,
      },
    ],
  });
  return true;
}
