import { type DiagnosticSink, nearest, type Span } from "../../source/index.ts";
import type { AddressSizeDirective, Item, Module, Name, TargetDirective, VersionDirective } from "../tree.ts";
import { versionNumber } from "../types.ts";
import type { CheckCode } from "./codes.ts";
import type { Target } from "./context.ts";

/** PTX ISA versions up to that of the manual which this follows (chapter 13). */
const versions: ReadonlySet<number> = new Set(
  "1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 3.0 3.1 3.2 4.0 4.1 4.2 4.3 5.0 6.0 6.1 6.2 6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0 9.1"
    .split(" ")
    .map(versionNumber),
);
const newest = 901;
/** Published after the manual: read like the newest known one. */
const later: ReadonlySet<number> = new Set([902, 903, 904]);

/** The version in which each target came (11.1.2). */
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

const texturing: ReadonlySet<string> = new Set(["texmode_unified", "texmode_independent"]);

/** What a module says about itself before anything else. */
export interface ModuleHeader {
  /** 6.4 is 604. Where it is missing or wrong: the newest. */
  readonly version: number;
  readonly target: Target;
  readonly addressSize: 32 | 64;
}

/** Reads `.version`, `.target` and `.address_size`, which begin a module in this order (11.1). */
export function moduleHeader({ items, source }: Module, sink: DiagnosticSink<CheckCode>): ModuleHeader {
  const [first, ...others] = items.filter((item) => item.kind !== "bad");
  const version = first?.kind === "version" ? readVersion(first, sink) : newest;
  if (first?.kind !== "version") {
    // At the first thing that the version decides about, as ptxas has it.
    const needs = items.find((item) => item.kind !== "bad" && item.kind !== "target") ?? first;
    const span = needs ? { start: needs.start, end: Math.min(needs.end, needs.start + 1) } : { start: 0, end: 0 };
    // Text that could not be read may have been the directive: the parser's message is enough.
    if (first !== undefined || source.text.trim() === "" || items.length === 0) {
      sink.error("missing-version", span, "a module begins with '.version'", {
        help: "write `.version 9.0`, or older",
      });
    }
  }
  const targetItem = first?.kind === "version" ? others[0] : items.find((item) => item.kind === "target");
  let target: Target = { name: "sm_90", sm: 90, variant: "" };
  if (targetItem?.kind === "target") target = readTarget(targetItem, version, sink);
  else if (first?.kind === "version") {
    sink.error("missing-target", firstSpan(targetItem ?? first), "'.target' must follow '.version'", {
      help: "write `.target sm_90`, or another one",
    });
  }
  let size: AddressSizeDirective | null = null;
  for (const [i, item] of items.entries()) if (isHeader(item)) size = checkPlace(item, i, items, size, sink) ?? size;
  return { version, target, addressSize: size ? readAddressSize(size, version, sink) : 32 };
}

const isHeader = (item: Item): item is VersionDirective | TargetDirective | AddressSizeDirective =>
  item.kind === "version" || item.kind === "target" || item.kind === "address-size";

const firstSpan = ({ start, end }: Span): Span => ({ start, end: Math.min(end, start + 20) });

/** Header directives that come late or twice; gives the address size where this is the one. A further `.target` is taken. */
function checkPlace(
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
      sink.error("misplaced-directive", item, "a module has one '.version'");
    return null;
  }
  if (size !== null) sink.error("misplaced-directive", item, "a module has one '.address_size'");
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
  if (node.minor < 100 && later.has(version)) {
    sink.warning("newer-version", node, `PTX ISA ${text} is newer than 9.1, the newest that is known here`, {
      help: "what it added is not known, and what it shares with 9.1 is read as in 9.1",
    });
    return version;
  }
  sink.error("unknown-version", node, `there is no PTX ISA version ${text}`, { help: "versions go from 1.0 to 9.1" });
  return newest;
}

function readTarget(node: TargetDirective, version: number, sink: DiagnosticSink<CheckCode>): Target {
  let architecture: Name | null = null;
  let mode: string | null = null;
  for (const name of node.names) {
    const known = targets[architectureName(name.text)];
    if (known !== undefined) {
      architecture = name;
      if (version < versionNumber(known)) {
        sink.error("needs-newer-version", name, `'${name.text}' needs PTX ISA ${known}, and this module is older`, {
          help: `write \`.version ${known}\` or higher`,
        });
      }
    } else if (texturing.has(name.text)) {
      if (mode !== null && mode !== name.text) {
        sink.error("unknown-target", name, `'${name.text}' and '${mode}' exclude each other`);
      }
      mode = name.text;
    } else if (name.text !== "debug" && name.text !== "map_f64_to_f32") {
      const near = nearest(name.text, architectures);
      sink.error("unknown-target", name, `there is no target '${name.text}'`, {
        help: near === null ? "targets are architectures, as in `sm_90`" : `did you mean '${near}'?`,
      });
    }
  }
  const target = targetOf(architecture);
  const mapped = node.names.find((n) => n.text === "map_f64_to_f32");
  if (mapped && target.sm >= 13) {
    sink.error("unknown-target", mapped, `${target.name} has double precision, which 'map_f64_to_f32' takes away`, {
      help: "it is for sm_10, sm_11 and sm_12",
    });
  }
  if (architecture === null && node.names.every((n) => n.text === "debug" || texturing.has(n.text))) {
    sink.error("unknown-target", node, "'.target' names no architecture", {
      help: "write `.target sm_90`, or another one",
    });
  }
  return target;
}

/** The targets that there are, as in "sm_90a". */
export const architectures: readonly string[] = Object.keys(targets);

/** `compute_90` is another name for `sm_90`. */
const architectureName = (name: string): string => name.replace(/^compute_/, "sm_");

function targetOf(name: Name | null): Target {
  const text = name === null ? "sm_90" : architectureName(name.text);
  const [, sm = "90", variant = ""] = /^sm_(\d+)([af]?)$/.exec(text) ?? [];
  return { name: text, sm: Number(sm), variant: variant as Target["variant"] };
}

function readAddressSize(node: AddressSizeDirective, version: number, sink: DiagnosticSink<CheckCode>): 32 | 64 {
  if (version < 203) {
    sink.error("needs-newer-version", node, "'.address_size' needs PTX ISA 2.3, and this module is older", {
      help: "write `.version 2.3` or higher",
    });
  }
  if (node.value === 32 || node.value === 64) return node.value;
  sink.error("address-size", node, `an address has 32 or 64 bits, not ${node.value}`);
  return 64;
}
