import { type DiagnosticSink, nearest, type Span } from "../../source/index.ts";
import type { AddressSizeDirective, Item, Module, TargetDirective, VersionDirective } from "../tree/module.ts";
import type { Name } from "../tree/leaves.ts";
import { versionNumber } from "../types.ts";
import type { CheckCode } from "./codes.ts";
import { type Target, targetNamed } from "./target.ts";

/** The PTX ISA versions, up to that of the manual that Lanewise follows (chapter 13). */
const versions: ReadonlySet<number> = new Set(
  "1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 3.0 3.1 3.2 4.0 4.1 4.2 4.3 5.0 6.0 6.1 6.2 6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0 9.1"
    .split(" ")
    .map(versionNumber),
);
const newest = 901;

/** The errors that a feature which a newer version has added may cause. */
const mayBeNewer: ReadonlySet<string> = new Set<CheckCode>([
  "unknown-instruction",
  "unknown-modifier",
  "invalid-modifiers",
  "missing-modifier",
  "modifier-order",
  "operand-count",
  "operand-kind",
  "vector-size",
  "unknown-target",
  "unknown-name",
  "variable-type",
  "attribute",
  "function-directive",
]);

/** The version that introduced each target (11.1.2). */
const targets: Readonly<Record<string, string>> = {
  ...since("1.0", "10 11"),
  ...since("1.2", "12 13"),
  ...since("2.0", "20 21"),
  ...since("3.0", "30"),
  ...since("3.1", "35"),
  ...since("4.0", "32 50"),
  ...since("4.1", "37 52"),
  ...since("4.2", "53"),
  ...since("5.0", "60 61 62"),
  ...since("6.0", "70"),
  ...since("6.1", "72"),
  ...since("6.3", "75"),
  ...since("7.0", "80"),
  ...since("7.1", "86"),
  ...since("7.4", "87"),
  ...since("7.8", "89 90"),
  ...since("8.0", "90a"),
  ...since("8.6", "100 100a 101 101a"),
  ...since("8.7", "120 120a"),
  ...since("8.8", "100f 101f 103 103a 103f 120f 121 121a 121f"),
  ...since("9.0", "88 110 110a 110f"),
};

function since(version: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(" ").map((name) => [`sm_${name}`, version]));
}

const texturingModes: ReadonlySet<string> = new Set(["texmode_unified", "texmode_independent"]);

/** The contents of the directives that begin a module. */
export interface ModuleHeader {
  /** The PTX ISA version as one number: 6.4 is 604. The newest if it is missing or wrong. */
  readonly version: number;
  readonly target: Target;
  readonly addressSize: 32 | 64;
}

/**
 * Reads and checks `.version`, `.target` and `.address_size`, which begin a module in this order (11.1). `addressSize`:
 * bits of addresses without the last.
 */
export function moduleHeader(
  { items, source }: Pick<Module, "items" | "source">,
  sink: DiagnosticSink<CheckCode>,
  addressSize: 32 | 64 = 32,
): ModuleHeader {
  const [first, ...others] = items.filter((item) => item.kind !== "bad");
  const version = first?.kind === "version" ? readVersion(first, sink) : newest;
  if (first?.kind !== "version") {
    // Reported at the first item that depends on the version, as ptxas does.
    const needs = items.find((item) => item.kind !== "bad" && item.kind !== "target") ?? first;
    const span = needs ? { start: needs.start, end: Math.min(needs.end, needs.start + 1) } : { start: 0, end: 0 };
    // Text that could not be parsed may have been the directive, and has been reported already.
    if (first !== undefined || source.text.trim() === "" || items.length === 0) {
      if (needs) sink.source = sink.sourceOf(needs);
      sink.error("missing-version", span, "a module must begin with '.version'", {
        help: "write `.version 9.0` or older",
      });
    }
  }
  const targetItem = first?.kind === "version" ? others[0] : items.find((item) => item.kind === "target");
  let target = targetNamed("sm_90");
  if (targetItem?.kind === "target") target = readTarget(targetItem, version, sink);
  else if (first?.kind === "version") {
    sink.source = sink.sourceOf(targetItem ?? first);
    sink.error("missing-target", firstSpan(targetItem ?? first), "'.target' must follow '.version'", {
      help: "write `.target sm_90` or another target",
    });
  }
  let size: AddressSizeDirective | null = null;
  for (const [i, item] of items.entries()) if (isHeader(item)) size = checkPosition(item, i, items, size, sink) ?? size;
  return { version, target, addressSize: size ? readAddressSize(size, version, sink) : addressSize };
}

const isHeader = (item: Item): item is VersionDirective | TargetDirective | AddressSizeDirective =>
  item.kind === "version" || item.kind === "target" || item.kind === "address-size";

const firstSpan = ({ start, end }: Span): Span => ({ start, end: Math.min(end, start + 20) });

/** Reports a header directive that comes late or twice; a further `.target` is accepted. Returns an `.address_size`. */
function checkPosition(
  item: VersionDirective | TargetDirective | AddressSizeDirective,
  index: number,
  items: readonly Item[],
  size: AddressSizeDirective | null,
  sink: DiagnosticSink<CheckCode>,
): AddressSizeDirective | null {
  if (item.kind === "target") return null;
  const before = items.slice(0, Math.min(index, 4));
  if (item.kind === "version") {
    if (before.some((i) => i.kind === "version"))
      sink.error("misplaced-directive", item, "a module can have only one '.version'");
    return null;
  }
  if (size !== null) sink.error("misplaced-directive", item, "a module can have only one '.address_size'");
  else if (
    index > 4 ||
    !before.some((i) => i.kind === "target") ||
    before.some((i) => !isHeader(i) && i.kind !== "bad")
  ) {
    sink.error("misplaced-directive", item, "'.address_size' must follow '.target'");
  }
  return item;
}

function readVersion(node: VersionDirective, sink: DiagnosticSink<CheckCode>): number {
  const text = `${node.major}.${node.minor}`;
  const version = versionNumber(text);
  if (node.minor < 100 && versions.has(version)) return version;
  // Whatever later versions of the same number share with the newest known one is read as there.
  if (node.minor < 100 && node.major === Math.floor(newest / 100) && version > newest) return version;
  sink.error("unknown-version", node, `there is no PTX ISA version ${text}`, {
    help: "versions go from 1.0 to 9.1, and later ones of 9 are read as far as they are known",
  });
  return newest;
}

/**
 * Warns, once, that a module's version is newer than this program knows if it has something that is unknown. Call it
 * when all else has been checked.
 */
export function noteNewerVersion({ items }: Pick<Module, "items">, sink: DiagnosticSink<CheckCode>): void {
  const node = items.find((item) => item.kind === "version");
  if (node === undefined || node.minor >= 100 || versionNumber(`${node.major}.${node.minor}`) <= newest) return;
  const isUnknown = sink.diagnostics.some((d) => d.severity === "error" && mayBeNewer.has(d.code));
  if (!isUnknown && !items.some((item) => item.kind === "bad")) return;
  sink.warning(
    "newer-version",
    node,
    `PTX ISA ${node.major}.${node.minor} is newer than 9.1, the newest known version`,
    {
      help: "what is unknown here may be a feature that it added",
    },
  );
}

function readTarget(node: TargetDirective, version: number, sink: DiagnosticSink<CheckCode>): Target {
  let architecture: Name | null = null;
  let mode: string | null = null;
  for (const name of node.names) {
    const known = targets[architectureName(name.text)];
    if (known !== undefined) {
      architecture = name;
      if (version < versionNumber(known)) {
        sink.error("needs-newer-version", name, `'${name.text}' needs PTX ISA ${known}, but this module is older`, {
          help: `write \`.version ${known}\` or higher`,
        });
      }
    } else if (texturingModes.has(name.text)) {
      if (mode !== null && mode !== name.text) {
        sink.error("unknown-target", name, `'${name.text}' and '${mode}' exclude each other`);
      }
      mode = name.text;
    } else if (name.text !== "debug" && name.text !== "map_f64_to_f32") {
      const near = nearest(name.text, architectures);
      sink.error("unknown-target", name, `there is no target '${name.text}'`, {
        help: near === null ? "targets are architectures such as `sm_90`" : `did you mean '${near}'?`,
      });
    }
  }
  const texturing = mode === "texmode_independent" ? "independent" : "unified";
  const target = targetNamed(architecture === null ? "sm_90" : architectureName(architecture.text), texturing);
  const mapped = node.names.find((n) => n.text === "map_f64_to_f32");
  if (mapped && target.sm >= 13) {
    sink.error(
      "unknown-target",
      mapped,
      `${target.name} supports double precision, so 'map_f64_to_f32' does not apply`,
      {
        help: "it is only for sm_10, sm_11 and sm_12",
      },
    );
  }
  if (architecture === null && node.names.every((n) => n.text === "debug" || texturingModes.has(n.text))) {
    sink.error("unknown-target", node, "'.target' names no architecture", {
      help: "write `.target sm_90` or another target",
    });
  }
  return target;
}

/** The names of all targets, such as "sm_90a". */
export const architectures: readonly string[] = Object.keys(targets);

/** `compute_90` is another name for `sm_90`. */
const architectureName = (name: string): string => name.replace(/^compute_/, "sm_");

function readAddressSize(node: AddressSizeDirective, version: number, sink: DiagnosticSink<CheckCode>): 32 | 64 {
  if (version < 203) {
    sink.error("needs-newer-version", node, "'.address_size' needs PTX ISA 2.3, but this module is older", {
      help: "write `.version 2.3` or higher",
    });
  }
  if (node.value === 32 || node.value === 64) return node.value;
  sink.error("address-size", node, `an address must have 32 or 64 bits, not ${node.value}`);
  return 64;
}
