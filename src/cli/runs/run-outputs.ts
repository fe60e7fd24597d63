import type { Elements } from "../../runtime/data/element.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { writeNumpy } from "../../runtime/data/npy.ts";
import type { ArgumentSpec } from "../../runtime/job/job-argument.ts";
import type { JobResult } from "../../runtime/job/job-result.ts";
import type { Job } from "../../runtime/job/job.ts";
import { type OutputOf, parseOutput } from "../options/argument-syntax.ts";
import { writeBytes } from "../terminal/files.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The number of values shown of a buffer. */
const shown = 16;

const values = (elements: Elements, count = elements.length): (number | bigint)[] =>
  Array.from({ length: count }, (_, i) => elements.get(i));

/** Renders a value as JSON: NaN and infinities as strings, large integers exactly. */
const jsonValue = (value: number | bigint): string =>
  typeof value === "bigint" || Number.isFinite(value)
    ? String(value)
    : `"${String(value).replace("Infinity", "inf").toLowerCase()}"`;

/** The encoding of a buffer, by the ending of the file's name. */
const encoders: Readonly<Record<string, (elements: Elements) => Uint8Array | string>> = {
  npy: ({ type, length, bytes }) => writeNumpy({ type, shape: [length], bytes }),
  json: (elements) => `[${values(elements).map(jsonValue).join(",")}]\n`,
  bin: ({ bytes }) => bytes,
};

/** A buffer or variable to save, as `--out` asks. */
export interface Output {
  readonly path: string;
  readonly of: "buffer" | "symbol";
  readonly name: string;
  readonly encode: (elements: Elements) => Uint8Array | string;
}

/**
 * Plans what `--out` asks to save.
 *
 * @throws UsageError, before anything has run, if an `--out` cannot be satisfied
 */
export function planOutputs(texts: readonly string[], job: Job): Output[] {
  const args = job.launches.flatMap((launch) => launch.args);
  return texts.map((text) => {
    const { of, path } = parseOutput(text);
    const wrong = (why: string): never => {
      throw new UsageError(`--out ${text}: ${why}`);
    };
    const encode = encoders[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""];
    if (!encode) return wrong("the name must end in .npy, .bin or .json");
    if (typeof of === "string") {
      if (job.isa === "ptx") return { path, of: "symbol", name: of, encode };
      return wrong("expected the number of an argument: variables of vISA cannot be saved");
    }
    const name = bufferOf(of, args);
    if (name !== null) return { path, of: "buffer", name, encode };
    const buffers = args.flatMap(placesOfBuffers).join(", ");
    const there = `they count from 0; ${buffers === "" ? "none is" : `${buffers} are`}`;
    return wrong(`argument ${of.argument}${of.byte === null ? "" : `+${of.byte}`} is not a buffer (${there})`);
  });
}

/** The name of the buffer that an argument is, or that a pointer at a byte of it is to; null if there is none. */
function bufferOf({ argument, byte }: Exclude<OutputOf, string>, args: readonly ArgumentSpec[]): string | null {
  const arg = args[argument];
  if (byte === null) return arg?.kind === "buffer" ? arg.buffer : null;
  return (arg?.kind === "bytes" && arg.pointers.find(({ at }) => at === byte)?.buffer) || null;
}

/** How `--out` names the buffers of an argument. */
function placesOfBuffers(arg: ArgumentSpec, index: number): readonly string[] {
  if (arg.kind === "buffer") return [`${index}`];
  return arg.kind === "bytes" ? arg.pointers.map(({ at }) => `${index}+${at}`) : [];
}

export function saveOutputs(outputs: readonly Output[], result: JobResult): void {
  for (const { path, of, name, encode } of outputs) {
    const contents = of === "buffer" ? result.buffers : result.symbols;
    writeBytes(path, encode(contents.get(name)!.after));
  }
}

/** Prints the first values of every buffer, and of every variable on the command line, that a kernel changed. */
export function printBuffers(result: JobResult, job: Job, terminal: Terminal): void {
  const print = (what: string, contents: { before: Elements; after: Elements } | undefined): void => {
    if (!contents || Buffer.compare(contents.before.bytes, contents.after.bytes) === 0) return;
    const { type, length } = contents.after;
    const first = values(contents.after, Math.min(length, shown)).join(" ");
    terminal.out(`${what}, ${type}[${length}]: ${first}${length > shown ? " ..." : ""}`);
  };
  for (const name of job.launches[0]!.args.flatMap(buffersOf)) print(name, result.buffers.get(name));
  for (const [name, contents] of result.symbols) print(`symbol ${name}`, contents);
}

/** The names of the buffers that an argument gives to the kernel. */
function buffersOf(arg: ArgumentSpec): readonly string[] {
  if (arg.kind === "buffer") return [arg.buffer];
  return arg.kind === "bytes" ? arg.pointers.map(({ buffer }) => buffer) : [];
}
