import type { Elements } from "../../runtime/data/element.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { writeNumpy } from "../../runtime/data/npy.ts";
import type { JobResult } from "../../runtime/job/job-result.ts";
import type { Job } from "../../runtime/job/job.ts";
import { parseOutput } from "../options/argument-syntax.ts";
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

/** A buffer to save, as `--out` asks. */
export interface Output {
  readonly path: string;
  readonly buffer: string;
  readonly encode: (elements: Elements) => Uint8Array | string;
}

/**
 * Plans what `--out` asks to save.
 *
 * @throws UsageError, before anything has run, if an `--out` cannot be satisfied
 */
export function planOutputs(texts: readonly string[], job: Job): Output[] {
  const args = job.launches.flatMap((launch) => launch.args);
  return texts.map(parseOutput).map(({ argument, path }) => {
    const wrong = (why: string): never => {
      throw new UsageError(`--out ${argument}=${path}: ${why}`);
    };
    const encode = encoders[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""];
    if (!encode) return wrong("the name must end in .npy, .bin or .json");
    const arg = args[argument];
    if (arg?.kind === "buffer") return { path, buffer: arg.buffer, encode };
    const buffers = args.flatMap(({ kind }, i) => (kind === "buffer" ? [i] : [])).join(", ");
    return wrong(
      `argument ${argument} is no buffer (they count from 0; ${buffers === "" ? "none is" : `${buffers} are`})`,
    );
  });
}

export function saveOutputs(outputs: readonly Output[], result: JobResult): void {
  for (const { path, buffer, encode } of outputs) writeBytes(path, encode(result.buffers.get(buffer)!.after));
}

/** Prints the first values of every buffer that a kernel changed. */
export function printBuffers(result: JobResult, job: Job, terminal: Terminal): void {
  job.launches[0]!.args.forEach((arg, i) => {
    const buffer = arg.kind === "buffer" ? result.buffers.get(arg.buffer) : undefined;
    if (!buffer || sameBytes(buffer.before.bytes, buffer.after.bytes)) return;
    const { type, length } = buffer.after;
    const first = values(buffer.after, Math.min(length, shown)).join(" ");
    terminal.out(`argument ${i}, ${type}[${length}]: ${first}${length > shown ? " ..." : ""}`);
  });
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i]);
