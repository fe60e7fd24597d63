import { UsageError } from "../../runtime/data/errors.ts";
import type { ArgumentSpec } from "../../runtime/job/job-argument.ts";
import type { ImageSpec, ObjectSpec } from "../../runtime/job/job-image.ts";
import type { BufferSpec } from "../../runtime/job/job.ts";
import { type CommandArgument, parseArgument } from "../options/argument-syntax.ts";
import type { ImageArgument } from "../options/image-syntax.ts";
import type { StructLayout } from "../options/struct-syntax.ts";
import type { TensorArgument } from "../options/tensor-syntax.ts";
import { readBytes } from "../terminal/files.ts";

/** The arguments of a command line, and the buffers that they need. Each is named by its argument. */
export interface CommandArguments {
  readonly args: readonly ArgumentSpec[];
  readonly buffers: Map<string, BufferSpec>;
}

/** Parses the values of all `--arg`. @throws UsageError */
export function commandArguments(texts: readonly string[]): CommandArguments {
  const args: ArgumentSpec[] = [];
  const buffers = new Map<string, BufferSpec>();
  for (const [index, text] of texts.entries()) {
    args.push(specOf(parseArgument(text, readBytes), { index, text: `--arg ${text}`, args, buffers }));
  }
  return { args, buffers };
}

/** What an argument may refer to. */
interface Place {
  readonly index: number;
  /** The option as it was given. */
  readonly text: string;
  readonly args: readonly ArgumentSpec[];
  readonly buffers: Map<string, BufferSpec>;
}

function specOf(argument: CommandArgument, place: Place): ArgumentSpec {
  switch (argument.kind) {
    case "struct":
      return structSpec(argument.spec, place);
    case "tensor":
      return tensorSpec(argument.spec, place);
    case "image":
      return { kind: "object", ...imageSpec(argument.spec, `argument ${place.index}`, place) };
    case "sampler":
      return { kind: "object", as: "sampler", sampler: argument.spec };
    case "buffer": {
      const buffer = `argument ${place.index}`;
      place.buffers.set(buffer, argument.spec);
      return { kind: "buffer", buffer, offset: 0 };
    }
    case "scalar":
    case "vector":
    case "local":
      return argument.spec;
  }
}

/** Adds the buffers of a struct, which are named by the byte that holds their address. */
function structSpec(struct: StructLayout, { index, buffers }: Place): ArgumentSpec {
  const pointers = struct.pointers.map(({ at, spec }) => {
    const buffer = `argument ${index}, byte ${at}`;
    buffers.set(buffer, spec);
    return { at, buffer, offset: 0 };
  });
  return { kind: "bytes", bytes: struct.bytes, pointers };
}

/** Adds the buffer of a tensor map, or finds that of an argument before it. */
function tensorSpec({ of, offset, bytes }: TensorArgument, { index, buffers }: Place): ArgumentSpec {
  const buffer = `argument ${typeof of === "number" ? of : index}`;
  if (typeof of !== "number") buffers.set(buffer, of);
  else if (!buffers.has(buffer)) {
    throw new UsageError(
      `--arg tensor:${of}: argument ${of} is no buffer before this argument; they are counted from 0`,
    );
  }
  return { kind: "bytes", bytes, pointers: [{ at: 0, buffer, offset }] };
}

/** Adds the buffer of an image by a name, or finds the image or the buffer of an argument. */
function imageSpec(
  { as, of, offset, image, texture }: ImageArgument,
  name: string,
  { text, args, buffers }: Pick<Place, "text" | "args" | "buffers">,
): ImageSpec {
  const wrong = (why: string): never => {
    throw new UsageError(`${text}: ${why}`);
  };
  if (typeof of !== "number") {
    buffers.set(name, of);
    return { as, buffer: name, offset, image: image!, texture };
  }
  const other = args[of];
  if (image !== null) {
    const buffer = other?.kind === "object" && other.as !== "sampler" ? other.buffer : `argument ${of}`;
    return buffers.has(buffer)
      ? { as, buffer, offset, image, texture }
      : wrong(`argument ${of} is no buffer before this argument; they are counted from 0`);
  }
  if (other?.kind !== "object" || other.as === "sampler") {
    const isBuffer = other?.kind === "buffer";
    return wrong(
      isBuffer
        ? `argument ${of} is a buffer: say type and size, as in type=u8x4,size=640x480`
        : `argument ${of} is no image before this argument; they are counted from 0`,
    );
  }
  return { as, buffer: other.buffer, offset: other.offset + offset, image: other.image, texture };
}

/** The texture, surface or sampler to which a variable is bound, as `--symbol tex=texture:...` has it. */
export function boundObject(name: string, argument: CommandArgument, { args, buffers }: CommandArguments): ObjectSpec {
  if (argument.kind === "sampler") return { as: "sampler", sampler: argument.spec };
  if (argument.kind === "image") {
    return imageSpec(argument.spec, `symbol ${name}`, { text: `--symbol ${name}`, args, buffers });
  }
  throw new UsageError(`--symbol ${name}: expected a texture, a surface or a sampler`);
}
