import { elementTypes } from "../data/element.ts";
import { isas } from "../data/isa.ts";
import {
  anything,
  byType,
  definitions,
  given,
  integer,
  list,
  object,
  optional,
  reference,
  type Schema,
  text,
  whenever,
} from "./schema-parts.ts";
import { resourceSchema, samplerSchema, surfaceSchema, textureSchema } from "./image-schema.ts";
import { objectKinds } from "./job-image.ts";
import { tensorMapSchema } from "./tensor-map-schema.ts";

const maxBytes = 0x7fff_ffff;
const type: Schema = { enum: elementTypes, description: "The type of an element." };
const hash: Schema = { ...reference("sha256"), description: "The SHA-256 of the contents, which is checked." };

const init: Schema = { type: "object", description: "What it holds before the first launch." };
const ofType = (name: string): Schema => reference(`init-${name}`);

const buffer: Schema = {
  ...object(
    { type, n: integer(0, maxBytes, "How many elements it has.") },
    { init: { ...init, description: "What it holds before the first launch; default: zeros." }, sha256: hash },
  ),
  allOf: byType((name) => ({ init: ofType(name) })),
};

/** A variable that holds the handle of a texture, a surface or a sampler. */
const boundSymbol: Schema = {
  oneOf: objectKinds.map((kind) => object({ [kind]: reference(kind) }, {})),
};

const valueSymbol: Schema = {
  ...object(
    { type, n: integer(1, maxBytes, "How many elements are set, from the first one on.") },
    {
      init: { ...init, description: "What it holds before the first launch; default: what the program says." },
      sha256: hash,
    },
  ),
  allOf: byType((name) => ({ init: ofType(name) })),
};

const symbol: Schema = whenever({ anyOf: objectKinds.map(given) }, boundSymbol, valueSymbol);

const which = {
  buf: text("The name of a buffer."),
  symbol: text("The name of a variable of the program, from `symbols`."),
};
const oneOfBoth: Schema = { anyOf: [given("buf"), given("symbol")], not: { allOf: [given("buf"), given("symbol")] } };

const end: Schema = {
  ...object({}, { ...which, offset: integer(0, maxBytes, "In bytes; default 0.") }),
  ...oneOfBoth,
};

const copy: Schema = object(
  { from: reference("end"), to: reference("end") },
  { bytes: integer(0, maxBytes, "How many; default: to the end of the source.") },
);

const argument: Schema = {
  description: "An argument: a buffer, a number by its type, bytes, a tensor map, a texture, a surface or a sampler.",
  type: "object",
  properties: {
    ...which,
    offset: optional({ type: "integer", description: "buf: bytes that are added to its address." }),
    bytes: optional({ ...reference("hex"), description: "A struct by value, as hexadecimal digits." }),
    ptrs: optional(
      list(
        object(
          { at: integer(0, maxBytes, "The byte at which the address is put."), buf: { type: "string" } },
          { offset: { type: "integer" } },
        ),
        "bytes: addresses of buffers within.",
      ),
    ),
    tensormaps: optional(
      list(
        object({ at: integer(0, maxBytes, "The byte at which it is put."), tensormap: reference("tensormap") }, {}),
        "bytes: tensor maps within.",
      ),
    ),
    tensormap: optional({ ...reference("tensormap"), description: "A tensor map by value." }),
    texture: optional({ ...reference("texture"), description: "A texture over a buffer." }),
    surface: optional({ ...reference("surface"), description: "A surface over a buffer." }),
    sampler: optional({ ...reference("sampler"), description: "A sampler." }),
    local: optional(integer(1, 0x0400_0000, "vISA: bytes of local memory.")),
    ...Object.fromEntries(elementTypes.map((name) => [name, optional(reference(name))])),
    ...Object.fromEntries(elementTypes.map((name) => [`${name}v`, optional(list(reference(name)))])),
    buf: optional({ type: "string", description: "The name of a buffer, whose address is passed." }),
  },
  anyOf: [
    "buf",
    "bytes",
    "tensormap",
    "texture",
    "surface",
    "sampler",
    "local",
    ...elementTypes.flatMap((name) => [name, `${name}v`]),
  ].map(given),
};

const size = (most: readonly [number, number, number], description: string): Schema => ({
  type: "array",
  items: most.map((n) => integer(1, n)),
  minItems: 1,
  maxItems: 3,
  additionalItems: false,
  description,
});

const anyLaunch = {
  args: list(reference("argument"), "One for each parameter of the kernel, in order."),
  blocks: list(
    {
      anyOf: [
        integer(0, Number.MAX_SAFE_INTEGER),
        list(integer(0, Number.MAX_SAFE_INTEGER), undefined, { minItems: 2, maxItems: 2 }),
      ],
    },
    "The blocks that run: indices, and lists of a first and a last one; default: all.",
  ),
  copies: list(reference("copy"), "What is copied before the launch."),
};
const kernel = text("The kernel's name.");

const ptxLaunch: Schema = object(
  {
    kernel,
    grid: size([0x7fff_ffff, 65_535, 65_535], "Blocks: [x, y, z]."),
    block: size([1024, 1024, 64], "Threads of a block: [x, y, z], at most 1024."),
  },
  {
    shared: integer(0, maxBytes, "Bytes of dynamic shared memory; default 0."),
    cluster: size([16, 16, 16], "Blocks of a cluster: [x, y, z], at most 16; default: as the kernel says."),
    ...anyLaunch,
  },
);

const visaLaunch: Schema = object(
  {
    kernel,
    global: size([0xffff_ffff, 0xffff_ffff, 0xffff_ffff], "Work items: [x, y, z]."),
    local: size([1024, 1024, 1024], "Work items of a group: [x, y, z]."),
  },
  anyLaunch,
);

const either: Schema = { enum: ["any", "same"] };
const tolerance = reference("float");

const range: Schema = { type: "array", items: [integer(0, maxBytes), integer(0, maxBytes)], minItems: 2 };

const check: Schema = {
  ...object(
    {},
    {
      ...which,
      type: { ...type, description: "The type as which elements are compared; default: that of the buffer." },
      n: integer(0, maxBytes, "How many elements are compared, from the first one on; default: all."),
      cmp: { enum: ["exact", "tol", "close", "sorted"], description: "How; default: exact." },
      file: text("What is expected: .npy, or raw little-endian bytes."),
      all: list(reference("float"), "What is expected: a value for each element."),
      sha256: { ...reference("sha256"), description: "The SHA-256 of what is expected." },
      first: list(reference("float"), "sha256: the first values, for the message."),
      nan: { ...either, description: 'exact: "any" if any NaN will do.' },
      zero: { ...either, description: 'exact: "any" if -0 is 0.' },
      period: integer(1, maxBytes, "exact: bytes of a record, of which only `ranges` are compared."),
      ranges: list(range, "period: the first byte of a range, and the one after the last."),
      rtol: { ...tolerance, description: "tol: relative." },
      atol: { ...tolerance, description: "tol: absolute." },
      rel: { ...tolerance, description: "close: relative." },
      abs: { ...tolerance, description: "close: absolute." },
      skip: list(integer(0, maxBytes), "exact: indices of elements that may be anything."),
      oneof: {
        type: "object",
        additionalProperties: list(reference("float")),
        description: "exact: by index, the values that an element may have.",
      },
      simd: integer(1, 32, "vISA: only variants of this width are checked."),
      expr: anything("For people."),
    },
  ),
  allOf: [
    oneOfBoth,
    ...byType((name) => ({ all: list(reference(name)), first: list(reference(name)) })),
    whenever(given("period"), given("ranges")),
    {
      anyOf: [
        given("file"),
        given("all"),
        {
          ...given("sha256"),
          description: "A hash can only say that all bits are as expected.",
          allOf: [
            {
              properties: {
                cmp: { enum: ["exact", null] },
                nan: { enum: ["same", null] },
                zero: { enum: ["same", null] },
                period: { type: "null" },
                skip: { maxItems: 0 },
                oneof: { maxProperties: 0 },
              },
            },
          ],
        },
      ],
    },
  ],
};

const expected: Schema = {
  ...object(
    { report: text("Its code: lanewise explain lists them."), line: integer(1, maxBytes, "In the program.") },
    {
      file: text("The file of that line; default: any."),
      threads: anything("For people."),
      also: list({ type: "string" }, "Other codes that are right, too."),
    },
  ),
  description: "The report that the run must end with.",
};

const place = {
  section: text("The name of a section."),
};
const visaVariant: Schema = object(
  { modules: list({ type: "string" }, "The files: the kernel first, then its functions.") },
  {
    zeinfo: text("The file with the section .ze_info, as YAML."),
    simd: integer(1, 32, "Lanes of a hardware thread."),
    defines: anything("By file name, the routines that it defines."),
    data: { type: "object", additionalProperties: object({ file: { type: "string" } }, { size: {} }) },
    symbols: { type: "object", additionalProperties: object(place, { offset: integer(0, maxBytes), size: {} }) },
    relocations: list(
      object({ ...place, symbol: { type: "string" } }, { offset: integer(0, maxBytes), bytes: integer(4, 8) }),
    ),
  },
);

const input: Schema = {
  ...object(
    { name: { type: "string" }, kind: { enum: ["arg", "lane-id", "stack"] } },
    { type, bytes_per_thread: integer(1, 0x100_0000), buf: {}, n: {} },
  ),
  ...whenever({ properties: { kind: { const: "stack" } } }, given("bytes_per_thread")),
};

const common = {
  $schema: anything("This schema, for editors."),
  id: text("What results call the job."),
  note: anything("For people."),
  isa: { enum: isas, description: "The instruction set; default: ptx." },
  requires: anything("For people: features that it needs."),
  sources: anything("For people."),
  buffers: {
    type: "object",
    additionalProperties: reference("buffer"),
    description: "By name, the memory that launches share.",
  },
  checks: list(reference("check"), "What buffers and variables must hold after the last launch."),
  stdout: text("What the kernels must print."),
  expect: reference("expect"),
};

const ptxJob: Schema = object(
  {
    variants: {
      type: "object",
      additionalProperties: list({ type: "string" }),
      description: "By name, the files of the program, which are linked; relative to the job.",
    },
    launches: list(reference("launch"), "Launches, one after the other."),
  },
  {
    ...common,
    symbols: {
      type: "object",
      additionalProperties: reference("symbol"),
      description: "By name, the .global and .const variables that are set, copied or checked.",
    },
  },
);

const visaJob: Schema = object(
  {
    isa: { const: "visa" },
    variants: { type: "object", additionalProperties: reference("visa-variant") },
    launches: list(reference("visa-launch"), "Launches, one after the other."),
  },
  {
    ...common,
    inputs: list(reference("input"), "What the inputs of a hand-written kernel hold."),
    platform: text("The platform; default: as the variant's name says."),
    simd: integer(1, 32, "Lanes of a hardware thread."),
    tags: anything("For people."),
    retval_model: anything("For people."),
  },
);

/** What a job must be, in the keywords of a JSON Schema. */
export const jobSchemaRules = (): Schema => ({
  ...whenever({ properties: { isa: { const: "visa" } }, required: ["isa"] }, visaJob, ptxJob),
  definitions: {
    ...definitions,
    buffer,
    symbol,
    end,
    copy,
    argument,
    tensormap: tensorMapSchema,
    resource: resourceSchema,
    texture: textureSchema,
    surface: surfaceSchema,
    sampler: samplerSchema,
    launch: ptxLaunch,
    "visa-launch": visaLaunch,
    check,
    expect: expected,
    "visa-variant": visaVariant,
    input,
  },
});
