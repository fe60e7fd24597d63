import type { Dim3 } from "../../machine/reports/report.ts";
import { type Diagnostic, DiagnosticSink, type SourceText } from "../../source/index.ts";
import type { JobCode } from "../data/codes.ts";
import { elementInfo, type ElementType, elementTypes } from "../data/element.ts";
import { type Isa, isas } from "../data/isa.ts";
import type { BlockSelection } from "../launch/block-selection.ts";
import type { Init } from "./init.ts";
import { type ArgumentSpec, readArgument } from "./job-argument.ts";
import { type Check, readCheck } from "./job-check.ts";
import { readInit } from "./job-init.ts";
import { type CopySpec, readCopy, readSymbol, type SymbolSpec } from "./job-symbol.ts";
import { readHash } from "./job-value.ts";
import { readModules, readVisaJob, visaFields, type VisaJob } from "./job-visa.ts";
import { JsonField } from "./json-fields.ts";
import { parseJson } from "./json-text.ts";

/** A reproducible run: programs, the buffers they work on, launches, and the expected results. Made by `parseJob`. */
export interface Job {
  readonly id: string;
  readonly isa: Isa;
  /** By name, the files that are linked into one program. */
  readonly variants: ReadonlyMap<string, readonly string[]>;
  /** The part that only vISA has; null for PTX. */
  readonly visa: VisaJob | null;
  readonly buffers: ReadonlyMap<string, BufferSpec>;
  /** PTX: by name, the variables of the program that the job sets, copies or checks. */
  readonly symbols: ReadonlyMap<string, SymbolSpec>;
  readonly launches: readonly LaunchSpec[];
  readonly checks: readonly Check[];
  /** The text that the kernels must print; null if it is not checked. */
  readonly stdout: string | null;
  /** The report that the run must end with; null if there must be none. */
  readonly expect: ExpectedReport | null;
  /** Whether buffers must be of the type that the kernel's parameters point to, if that is known. Default: false. */
  readonly typed?: boolean;
}

/**
 * The report that a run must end with, by code and line. `file` is the path that the job gives, or null for any file.
 */
export interface ExpectedReport {
  readonly report: string;
  readonly file: string | null;
  readonly line: number;
  /** Other codes that are right, too. */
  readonly also: readonly string[];
}

/** A buffer: `n` elements of `type`, and their initial values. */
export interface BufferSpec {
  readonly type: ElementType;
  /** Its length in elements. */
  readonly n: number;
  readonly init: Init;
  /** The hash of the initial contents, which is checked; or null. */
  readonly sha256: string | null;
}

/** A launch of a kernel. */
export interface LaunchSpec {
  /** The kernel's name. Default: the only kernel of the program. */
  readonly kernel?: string;
  /** `shared` is the size of dynamic shared memory in bytes, `cluster` counts blocks. */
  readonly size:
    | { readonly grid: Dim3; readonly block: Dim3; readonly shared: number; readonly cluster?: Dim3 }
    | { readonly global: Dim3; readonly local: Dim3 };
  readonly args: readonly ArgumentSpec[];
  /** The blocks that run; null: all. */
  readonly blocks: BlockSelection | null;
  /** What is copied before the launch, in this order. */
  readonly copies: readonly CopySpec[];
}

const maxBytes = 0x7fff_ffff;

/** Reads a job file, which need not be trusted. Returns the job, or null and at least one error; never throws. */
export function parseJob(source: SourceText): {
  readonly job: Job | null;
  readonly diagnostics: readonly Diagnostic[];
} {
  const sink = new DiagnosticSink<JobCode>(source, 100);
  const { root, problem } = parseJson(source);
  if (!root) {
    sink.error("json-syntax", problem!.span, problem!.message);
    return { job: null, diagnostics: sink.diagnostics };
  }
  const field = new JsonField(root, "", sink, root);
  if (root.kind !== "object") field.object([]);
  const job = root.kind === "object" ? readJob(field) : null;
  const diagnostics = sink.diagnostics.sort((a, b) => a.span.start - b.span.start);
  return { job: diagnostics.length > 0 ? null : job, diagnostics };
}

const ptxFields = ["symbols"] as const;
const topFields = [
  "$schema",
  "id",
  "note",
  "isa",
  "requires",
  "sources",
  "variants",
  "buffers",
  "launches",
  "checks",
  "stdout",
];

function readJob(root: JsonField): Job {
  const optional = <T>(name: string, read: (field: JsonField) => T, absent: T): T =>
    root.get(name).present ? read(root.get(name)) : absent;
  const isa = optional<Isa>("isa", (f) => f.oneOf(isas), "ptx");
  root.object([...topFields, "expect", ...(isa === "visa" ? visaFields : ptxFields)]);
  const buffers = new Map(
    optional("buffers", (f) => f.entries(), []).map(([name, field]) => [name, readBuffer(field)] as const),
  );
  const symbols = new Map(
    isa === "ptx"
      ? optional("symbols", (f) => f.entries(), []).map(([name, field]) => [name, readSymbol(field, buffers)] as const)
      : [],
  );
  const files = isa === "visa" ? readModules : (field: JsonField) => field.items().map((file) => file.string());
  return {
    id: optional("id", (f) => f.string(), "job"),
    isa,
    variants: new Map(
      root
        .get("variants")
        .entries()
        .map(([name, field]) => [name, files(field)] as const),
    ),
    visa: isa === "visa" ? readVisaJob(root) : null,
    buffers,
    symbols,
    launches: root
      .get("launches")
      .items()
      .map((f) => readLaunch(f, isa, { buffers, symbols })),
    checks: optional("checks", (f) => f.items(), []).map((f) => readCheck(f, buffers, symbols)),
    stdout: optional<string | null>("stdout", (f) => f.string(), null),
    expect: optional<ExpectedReport | null>("expect", readExpect, null),
  };
}

function readExpect(field: JsonField): ExpectedReport {
  field.object(["report", "line", "threads", "file", "also"]);
  const file = field.get("file");
  return {
    report: field.get("report").string(),
    file: file.present ? file.string() : null,
    line: field.get("line").count(1, maxBytes),
    also: field.get("also").present
      ? field
          .get("also")
          .items()
          .map((code) => code.string())
      : [],
  };
}

function readBuffer(field: JsonField): BufferSpec {
  field.object(["type", "n", "init", "sha256"]);
  const type = field.get("type").oneOf(elementTypes);
  const n = field.get("n").count(0, Math.floor(maxBytes / elementInfo[type].size));
  return { type, n, init: readInit(field.get("init"), type, n), sha256: readHash(field.get("sha256")) };
}

function readDim(field: JsonField, max: Dim3): Dim3 {
  const items = field.items();
  if (items.length > 3 || (items.length === 0 && field.node?.kind === "array"))
    field.fail(`has ${items.length} entries, not 1 to 3`);
  const size = (i: 0 | 1 | 2): number => items[i]?.count(1, max[i]) ?? 1;
  return [size(0), size(1), size(2)];
}

/** The most blocks of a cluster in each dimension. */
const maxCluster: Dim3 = [16, 16, 16];

/** The most threads of a block in each dimension. */
const maxThreads: Dim3 = [1024, 1024, 64];

function readLaunch(field: JsonField, isa: Isa, names: Pick<Job, "buffers" | "symbols">): LaunchSpec {
  const args = field.get("args");
  const copies = field.get("copies");
  return {
    kernel: field.get("kernel").string(),
    size: isa === "ptx" ? readBlocks(field) : readWorkItems(field),
    args: args.present ? args.items().map((arg) => readArgument(arg, names.buffers)) : [],
    blocks: field.get("blocks").present ? field.get("blocks").items().map(readBlockRange) : null,
    copies: copies.present ? copies.items().map((copy) => readCopy(copy, names)) : [],
  };
}

/** Reads an index of a block, or a list of the first and the last. */
function readBlockRange(field: JsonField): BlockSelection[number] {
  const max = Number.MAX_SAFE_INTEGER;
  if (field.node?.kind !== "array") return field.count(0, max);
  const [first, last, more] = field.items();
  if (first === undefined || last === undefined || more !== undefined) {
    field.fail("expected two numbers: the first block and the last");
    return 0;
  }
  const from = first.count(0, max);
  return [from, last.count(from, max)];
}

function readBlocks(field: JsonField): LaunchSpec["size"] {
  field.object(["kernel", "grid", "block", "cluster", "shared", "args", "blocks", "copies"]);
  const block = readDim(field.get("block"), maxThreads);
  const threads = block[0] * block[1] * block[2];
  if (threads > 1024) field.get("block").fail(`${threads} threads are more than the 1024 that a block may have`);
  const shared = field.get("shared");
  const cluster = field.get("cluster");
  return {
    grid: readDim(field.get("grid"), [0x7fff_ffff, 65_535, 65_535]),
    block,
    shared: shared.present ? shared.count(0, maxBytes) : 0,
    ...(cluster.present ? { cluster: readDim(cluster, maxCluster) } : {}),
  };
}

function readWorkItems(field: JsonField): LaunchSpec["size"] {
  field.object(["kernel", "global", "local", "args", "blocks", "copies"]);
  const max = 0xffff_ffff;
  return {
    global: readDim(field.get("global"), [max, max, max]),
    local: readDim(field.get("local"), [1024, 1024, 1024]),
  };
}
