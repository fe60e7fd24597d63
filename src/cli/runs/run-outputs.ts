import type { Elements } from "../../runtime/data/element.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import type { ImageOptions } from "../../runtime/data/image.ts";
import { writeNumpy } from "../../runtime/data/npy.ts";
import { pictureOf } from "../../runtime/data/picture.ts";
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

type Encoder = (elements: Elements, image: ImageOptions | null) => Uint8Array | string | Promise<Uint8Array>;

/** The encoding of a buffer, which may be an image, by the ending of the file's name. */
const encoders: Readonly<Record<string, Encoder>> = {
  npy: ({ type, length, bytes }, image) => writeNumpy({ type, shape: arrayShape(image, length), bytes }),
  json: (elements) => `[${values(elements).map(jsonValue).join(",")}]\n`,
  bin: ({ bytes }) => bytes,
  png: async (elements, image) => {
    const { writePng } = await import("../terminal/png.ts");
    return writePng(pictureOf(elements, image!.width, image!.channels ?? 1));
  },
};

/** The dimensions of an array that holds the texels of an image: layers, depth, height, width, channels. */
function arrayShape(image: ImageOptions | null, length: number): readonly number[] {
  if (image === null) return [length];
  const { width, height, depth, layers, cube, channels = 1 } = image;
  const planes = (layers ?? 1) * (cube === true ? 6 : 1);
  const shape = [planes > 1 ? planes : 0, depth ?? 0, height ?? 0, width, channels > 1 ? channels : 0];
  const all = shape.filter((n) => n > 0);
  return all.reduce((product, n) => product * n, 1) === length ? all : [length];
}

/** Why an image, or a buffer that is none, is not written as a PNG file; null if it is. */
function pictureProblem(image: ImageOptions | null): string | null {
  if (image === null) return "a PNG file needs a texture or a surface, which say what the buffer holds";
  const { levels = 1, samples = 1, layout = "array", type } = image;
  if (levels > 1 || samples > 1) return "a PNG file has neither levels nor samples";
  if (layout === "pitch") return "rows with a pitch are not written as a PNG file";
  const known = ["u8", "u16", "unorm8", "unorm16", "f16", "f32"];
  return known.includes(type) ? null : `a PNG file has no channels of ${type}; ${known.join(", ")} are written`;
}

/** A buffer or variable to save, as `--out` asks. */
export interface Output {
  readonly path: string;
  readonly of: "buffer" | "symbol";
  readonly name: string;
  /** Null where it is no image. */
  readonly image: ImageOptions | null;
  readonly encode: Encoder;
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
    if (!encode) return wrong("the name must end in .npy, .png, .bin or .json");
    if (typeof of === "string") {
      if (encode === encoders["png"]) return wrong("a variable is no picture");
      if (job.isa === "ptx") return { path, of: "symbol", name: of, image: null, encode };
      return wrong("expected the number of an argument: variables of vISA cannot be saved");
    }
    const name = bufferOf(of, args);
    const image = imageOf(args[of.argument], of.byte);
    const problem = name !== null && encode === encoders["png"] ? pictureProblem(image) : null;
    if (problem !== null) return wrong(problem);
    if (name !== null) return { path, of: "buffer", name, image, encode };
    const buffers = args.flatMap(placesOfBuffers).join(", ");
    const there = `they count from 0; ${buffers === "" ? "none is" : `${buffers} are`}`;
    return wrong(`argument ${of.argument}${of.byte === null ? "" : `+${of.byte}`} is not a buffer (${there})`);
  });
}

/** The image that an argument is, from the first byte of its buffer on; null if it is none. */
const imageOf = (arg: ArgumentSpec | undefined, byte: number | null): ImageOptions | null =>
  arg?.kind === "object" && arg.as !== "sampler" && arg.offset === 0 && byte === null ? arg.image : null;

/** The name of the buffer that an argument is, or that a pointer at a byte of it is to; null if there is none. */
function bufferOf({ argument, byte }: Exclude<OutputOf, string>, args: readonly ArgumentSpec[]): string | null {
  const arg = args[argument];
  if (byte === null) return arg === undefined ? null : bufferIn(arg);
  return (arg?.kind === "bytes" && arg.pointers.find(({ at }) => at === byte)?.buffer) || null;
}

/** How `--out` names the buffers of an argument. */
function placesOfBuffers(arg: ArgumentSpec, index: number): readonly string[] {
  if (bufferIn(arg) !== null) return [`${index}`];
  return arg.kind === "bytes" ? arg.pointers.map(({ at }) => `${index}+${at}`) : [];
}

export async function saveOutputs(outputs: readonly Output[], result: JobResult): Promise<void> {
  for (const { path, of, name, image, encode } of outputs) {
    const contents = of === "buffer" ? result.buffers : result.symbols;
    writeBytes(path, await encode(contents.get(name)!.after, image));
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
  for (const name of new Set(job.launches[0]!.args.flatMap(buffersOf))) print(name, result.buffers.get(name));
  for (const [name, contents] of result.symbols) print(`symbol ${name}`, contents);
}

/** The buffer that an argument is, or whose texels it has; null if it is none. */
function bufferIn(arg: ArgumentSpec): string | null {
  if (arg.kind === "buffer") return arg.buffer;
  return arg.kind === "object" && arg.as !== "sampler" ? arg.buffer : null;
}

/** The names of the buffers that an argument gives to the kernel. */
function buffersOf(arg: ArgumentSpec): readonly string[] {
  const own = bufferIn(arg);
  if (own !== null) return [own];
  return arg.kind === "bytes" ? arg.pointers.map(({ buffer }) => buffer) : [];
}
