import { type Diagnostic, DiagnosticSink, type SourceText } from "../source/index.ts";
import type { JobCode } from "./codes.ts";
import { type ElementType, elementInfo, elementTypes, misfit } from "./element.ts";
import type { Init } from "./init.ts";
import { JsonField } from "./json-fields.ts";
import { parseJson } from "./json-text.ts";
import type { Dim3 } from "../machine/report.ts";

/** A reproducible run: programs, the buffers they work on, launches, and what must come out. */
export interface Job {
  readonly id: string;
  readonly isa: "ptx" | "visa";
  /** Name to the files that are linked into one program. */
  readonly variants: ReadonlyMap<string, readonly string[]>;
  readonly buffers: ReadonlyMap<string, BufferSpec>;
  readonly launches: readonly LaunchSpec[];
  readonly checks: readonly Check[];
  /** What the kernels must print, or null where that is not compared. */
  readonly stdout: string | null;
  /** The report that the run must end with. */
  readonly expect: { readonly report: string; readonly line: number } | null;
}

export interface BufferSpec {
  readonly type: ElementType;
  readonly n: number;
  readonly init: Init;
  /** Of the filled buffer. */
  readonly sha256: string | null;
}

export interface LaunchSpec {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Bytes of dynamic shared memory. */
  readonly shared: number;
  readonly args: readonly ArgumentSpec[];
}

export type ArgumentSpec =
  | { readonly kind: "buffer"; readonly buffer: string; readonly offset: number }
  /** `type` null: that of the parameter. */
  | { readonly kind: "scalar"; readonly type: ElementType | null; readonly value: number | bigint }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly pointers: readonly PointerPatch[] };

/** The address of a buffer within a struct that is passed by value. */
interface PointerPatch {
  readonly at: number;
  readonly buffer: string;
  readonly offset: number;
}

export interface Check {
  readonly buffer: string;
  readonly type: ElementType;
  readonly n: number;
  readonly compare: Comparison;
  readonly expected: Expected;
  /** Of the expected bytes. */
  readonly sha256: string | null;
}

export type Comparison =
  | {
      readonly kind: "exact";
      /** Any NaN is as good as any other. */
      readonly anyNan: boolean;
      /** -0 is as good as 0. */
      readonly anyZero: boolean;
      /** Only these byte ranges (end exclusive) of each record of `period` bytes; null: everything. */
      readonly records: { readonly period: number; readonly ranges: readonly (readonly [number, number])[] } | null;
    }
  | { readonly kind: "tolerance"; readonly relative: number; readonly absolute: number }
  /** As multisets. */
  | { readonly kind: "sorted" };

type Expected =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "values"; readonly values: readonly (number | bigint)[] }
  /** Only the hash and the first values are known. */
  | { readonly kind: "hash"; readonly first: readonly (number | bigint)[] };

const mostBytes = 0x7fff_ffff;
const hashPattern = /^[0-9a-f]{64}$/;

/**
 * Reads a job file, which is untrusted. Gives the job, or null and at least one error; never throws. A vISA job is read
 * only as far as its names: see `Job.isa`.
 */
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
  const job = readJob(new JsonField(root, "", sink, root));
  const diagnostics = sink.diagnostics.sort((a, b) => a.span.start - b.span.start);
  return { job: diagnostics.length > 0 ? null : job, diagnostics };
}

const topFields = ["id", "note", "isa", "requires", "sources", "variants", "buffers", "launches", "checks", "stdout"];

function readJob(root: JsonField): Job {
  root.object([...topFields, "expect"]);
  const optional = <T>(name: string, read: (field: JsonField) => T, absent: T): T =>
    root.get(name).present ? read(root.get(name)) : absent;
  const id = optional("id", (f) => f.string(), "job");
  if (optional("isa", (f) => f.oneOf(["ptx", "visa"]), "ptx") === "visa") {
    const variants = new Map(
      root
        .get("variants")
        .entries()
        .map(([name]) => [name, []] as const),
    );
    return { id, isa: "visa", variants, buffers: new Map(), launches: [], checks: [], stdout: null, expect: null };
  }
  const buffers = new Map(
    optional("buffers", (f) => f.entries(), []).map(([name, field]) => [name, readBuffer(field)] as const),
  );
  const expect = optional(
    "expect",
    (f) => ({
      report: f.object(["report", "line", "threads"]).get("report").string(),
      line: f.get("line").count(1, mostBytes),
    }),
    null,
  );
  return {
    id,
    isa: "ptx",
    variants: new Map(
      root
        .get("variants")
        .entries()
        .map(([name, files]) => [name, files.items().map((file) => file.string())] as const),
    ),
    buffers,
    launches: root
      .get("launches")
      .items()
      .map((f) => readLaunch(f, buffers)),
    checks: optional("checks", (f) => f.items(), []).map((f) => readCheck(f, buffers)),
    stdout: optional<string | null>("stdout", (f) => f.string(), null),
    expect,
  };
}

function readBuffer(field: JsonField): BufferSpec {
  field.object(["type", "n", "init", "sha256"]);
  const type = field.get("type").oneOf(elementTypes);
  const n = field.get("n").count(0, Math.floor(mostBytes / elementInfo[type].size));
  return { type, n, init: readInit(field.get("init"), type, n), sha256: readHash(field.get("sha256")) };
}

function readHash(field: JsonField): string | null {
  if (!field.present) return null;
  const hash = field.string().toLowerCase();
  if (!hashPattern.test(hash)) field.fail("a SHA-256 has 64 hexadecimal digits");
  return hash;
}

function readElement(field: JsonField, type: ElementType): number | bigint {
  if (elementInfo[type].kind === "float") return field.number();
  const value = field.integer();
  const problem = misfit(type, value);
  if (problem !== null) field.fail(problem);
  return value;
}

function readHex(field: JsonField): Uint8Array {
  const text = field.string();
  if (!/^([0-9a-fA-F]{2})*$/.test(text)) field.fail("expected pairs of hexadecimal digits");
  return Uint8Array.from({ length: text.length >> 1 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

function readInit(field: JsonField, type: ElementType, n: number): Init {
  if (!field.present) return { gen: "zero" };
  const known = ["gen", "value", "start", "step", "values", "data", "path", "seed", "lo", "hi", "mod", "add", "scale"];
  field.object(known);
  const element = (name: string, absent: number): number | bigint =>
    field.get(name).present ? readElement(field.get(name), type) : absent;
  const float = (name: string, absent: number): number => (field.get(name).present ? field.get(name).float() : absent);
  switch (field.get("gen").oneOf(["zero", "fill", "iota", "list", "hex", "file", "lcg"])) {
    case "zero":
      return { gen: "zero" };
    case "fill":
      return { gen: "fill", value: readElement(field.get("value"), type) };
    case "iota":
      return { gen: "iota", start: element("start", 0), step: element("step", 1) };
    case "file":
      return { gen: "file", path: field.get("path").string() };
    case "hex": {
      const data = readHex(field.get("data"));
      const bytes = n * elementInfo[type].size;
      if (data.length !== bytes) field.get("data").fail(`has ${data.length} bytes, the buffer ${bytes}`);
      return { gen: "bytes", data };
    }
    case "list": {
      const values = field.get("values").items();
      if (values.length !== n) field.get("values").fail(`has ${values.length} values, the buffer ${n} elements`);
      return { gen: "list", values: values.map((value) => readElement(value, type)) };
    }
    case "lcg": {
      const mod = field.get("mod");
      return {
        gen: "lcg",
        seed: field.get("seed").count(0, 0xffff_ffff),
        lo: float("lo", 0),
        hi: float("hi", 1),
        mod: mod.present ? mod.count(1, 0xffff_ffff) : null,
        add: float("add", 0),
        scale: float("scale", 1),
      };
    }
  }
}

function readDim(field: JsonField, most: Dim3): Dim3 {
  const items = field.items();
  if (items.length > 3 || (items.length === 0 && field.node?.kind === "array"))
    field.fail(`has ${items.length} entries, not 1 to 3`);
  const size = (i: 0 | 1 | 2): number => items[i]?.count(1, most[i]) ?? 1;
  return [size(0), size(1), size(2)];
}

function readLaunch(field: JsonField, buffers: Job["buffers"]): LaunchSpec {
  field.object(["kernel", "grid", "block", "shared", "args"]);
  const block = readDim(field.get("block"), [1024, 1024, 64]);
  const threads = block[0] * block[1] * block[2];
  if (threads > 1024) field.get("block").fail(`${threads} threads are more than the 1024 that a block may have`);
  return {
    kernel: field.get("kernel").string(),
    grid: readDim(field.get("grid"), [0x7fff_ffff, 65_535, 65_535]),
    block,
    shared: field.get("shared").present ? field.get("shared").count(0, mostBytes) : 0,
    args: field.get("args").present
      ? field
          .get("args")
          .items()
          .map((arg) => readArgument(arg, buffers))
      : [],
  };
}

function readBufferName(field: JsonField, buffers: Job["buffers"]): string {
  const name = field.string();
  if (field.present && !buffers.has(name)) {
    field.fail(`there is no buffer "${name}"`, `the buffers are ${[...buffers.keys()].join(", ") || "none"}`);
  }
  return name;
}

const readOffset = (field: JsonField): number => (field.present ? Number(field.integer()) : 0);

function readArgument(field: JsonField, buffers: Job["buffers"]): ArgumentSpec {
  if (field.get("buf").present) {
    return {
      kind: "buffer",
      buffer: readBufferName(field.get("buf"), buffers),
      offset: readOffset(field.get("offset")),
    };
  }
  if (field.get("bytes").present) {
    const bytes = readHex(field.get("bytes"));
    const pointers = field.get("ptrs").present ? field.get("ptrs").items() : [];
    return {
      kind: "bytes",
      bytes,
      pointers: pointers.map((pointer) => ({
        at: pointer
          .object(["at", "buf", "offset"])
          .get("at")
          .count(0, Math.max(0, bytes.length - 8)),
        buffer: readBufferName(pointer.get("buf"), buffers),
        offset: readOffset(pointer.get("offset")),
      })),
    };
  }
  const type = elementTypes.find((name) => field.get(name).present);
  if (type) return { kind: "scalar", type, value: readElement(field.get(type), type) };
  field.fail("is no argument", 'as in {"buf": "x"}, {"s32": 4} or {"bytes": "0a0b"}');
  return { kind: "scalar", type: null, value: 0 };
}

const checkFields = ["buf", "type", "n", "cmp", "sha256", "first", "file", "all", "expr", "nan", "zero", "period"];

function readCheck(field: JsonField, buffers: Job["buffers"]): Check {
  field.object([...checkFields, "ranges", "rtol", "atol"]);
  const buffer = readBufferName(field.get("buf"), buffers);
  const spec = buffers.get(buffer);
  const type = field.get("type").present ? field.get("type").oneOf(elementTypes) : (spec?.type ?? "u8");
  const bytes = spec ? spec.n * elementInfo[spec.type].size : mostBytes;
  const most = Math.floor(bytes / elementInfo[type].size);
  const n = field.get("n").present ? field.get("n").count(0, most) : most;
  const values = (name: string) =>
    field
      .get(name)
      .items()
      .map((value) => readElement(value, type));
  const sha256 = readHash(field.get("sha256"));
  const compare = readComparison(field);
  let expected: Expected;
  if (field.get("file").present) expected = { kind: "file", path: field.get("file").string() };
  else if (field.get("all").present) {
    expected = { kind: "values", values: values("all") };
    if (expected.values.length !== n) field.get("all").fail(`has ${expected.values.length} values, n is ${n}`);
  } else {
    expected = { kind: "hash", first: field.get("first").present ? values("first") : [] };
    if (sha256 === null) field.fail("says nothing about what to expect", 'give "file", "all" or "sha256"');
    const plain = compare.kind === "exact" && !compare.anyNan && !compare.anyZero && compare.records === null;
    if (!plain) field.fail('only a plain "exact" comparison can do with a hash', 'give "file" or "all"');
  }
  return { buffer, type, n, compare, expected, sha256 };
}

function readComparison(field: JsonField): Comparison {
  const any = (name: string): boolean => field.get(name).present && field.get(name).oneOf(["any", "same"]) === "any";
  const tolerance = (name: string): number => (field.get(name).present ? field.get(name).float() : 0);
  switch (field.get("cmp").present ? field.get("cmp").oneOf(["exact", "tol", "sorted"]) : "exact") {
    case "tol":
      return { kind: "tolerance", relative: tolerance("rtol"), absolute: tolerance("atol") };
    case "sorted":
      return { kind: "sorted" };
    case "exact":
      return { kind: "exact", anyNan: any("nan"), anyZero: any("zero"), records: readRecords(field) };
  }
}

function readRecords(field: JsonField): { period: number; ranges: [number, number][] } | null {
  if (!field.get("period").present) return null;
  const period = field.get("period").count(1, mostBytes);
  const ranges = field
    .get("ranges")
    .items()
    .map((range): [number, number] => {
      const [from, to] = range.items();
      if (!from || !to) range.fail("expected two numbers: the first byte and the one behind the last");
      return [from?.count(0, period) ?? 0, to?.count(0, period) ?? 0];
    });
  return { period, ranges };
}
