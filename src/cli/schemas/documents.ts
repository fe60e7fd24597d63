import { jobSchema } from "../../runtime/job/job-schema.ts";
import { engineNames, usualEngines } from "../../runtime/launch/launch-options.ts";
import { definitions } from "./definitions.ts";
import { count, dim3, flag, list, object, oneOf, orNull, reference, said, type Schema, text, time } from "./parts.ts";

/** What commands that run programs have in common. */
const runs = (job: string): Schema =>
  object(
    { ok: flag, jobs: list(reference(job)) },
    { interrupted: { const: true }, errors: said(list(text), "Job files that cannot be read.") },
  );

const image = object({
  kind: oneOf(["ptx", "machine code"]),
  target: text,
  version: orNull(text),
  options: text,
  compression: oneOf(["none", "LZ4", "zstd", "deflate"]),
  storedBytes: count,
  bytes: count,
  taken: said(flag, "Whether it is the one that is run."),
});

const listing = object({
  path: text,
  format: text,
  modules: list(object({ name: text, relocatable: flag, images: list(image) })),
  kernels: list(
    object({
      name: text,
      signature: text,
      module: text,
      sharedBytes: orNull(count),
      dynamicShared: flag,
      registers: orNull(count),
      obstacle: said(orNull(text), "Why it cannot be run; null if it can."),
    }),
  ),
  problems: said(list(text), "What is damaged."),
});

/** A target, or several if their families differ. */
const target: Schema = { anyOf: [text, list(text)] };
const gate = { since: text, target };
const execution = { engines: list(oneOf(usualEngines)), reason: said(text, "Why it cannot be executed.") };

const ptxInstruction = object({
  name: text,
  section: said(text, "Of the manual."),
  summary: text,
  forms: list(
    object(
      {
        text: said(text, "In the manual's notation."),
        gate: object({ since: text }, { target }),
        modifiers: list(
          object({ name: text, optional: flag }, { choices: list(object({ name: text }, gate)), ...gate }),
        ),
        executable: flag,
      },
      { ...execution, note: text },
    ),
  ),
});

const visaInstruction = object(
  {
    isa: { const: "visa" },
    name: text,
    mnemonic: text,
    opcode: count,
    title: text,
    text,
    operands: { type: "object", additionalProperties: { type: "object" } },
    gate: object({}, { since: text, from: text, until: text, only: list(text) }),
    executable: flag,
  },
  { sub: count, page: text, file: text, sizes: list(count), ...execution },
);

const measured = object({ ms: { type: ["number", "null"] } }, { threads: count, compiler: orNull(text) });

/** The documents of `--json`, by the commands that print them. */
const documents = {
  check: object({ files: list(reference("checked-file")) }),
  list: object({ files: list(listing) }, { errors: said(list(text), "Files that cannot be read.") }),
  run: { anyOf: [runs("job"), runs("explored-job")] },
  profile: runs("profiled-job"),
  exec: object({
    ok: flag,
    status: said(count, "The program's own."),
    launches: list(
      object(
        { kernel: text, grid: dim3, block: dim3, engine: oneOf(engineNames), milliseconds: time, ok: flag },
        { interpreted: text, notNative: text },
      ),
    ),
    reports: list(reference("report")),
  }),
  debug: object({
    ok: flag,
    time: said(count, "Where the program is, in steps."),
    commands: list(object({ command: text, text, failed: flag })),
    output: said(text, "What the kernels printed."),
  }),
  fmt: object({ files: list(object({ path: text, ok: flag, changed: flag }, { text })) }),
  link: object({ ok: flag, diagnostics: list(reference("placed-diagnostic")) }, { text: orNull(text), output: text }),
  asm: object({ ok: flag, files: list(reference("checked-file")) }, { output: text, size: count }),
  disasm: object(
    {
      ok: flag,
      routines: list(object({ kind: oneOf(["kernel", "function"]), name: text })),
      diagnostics: list(reference("diagnostic")),
    },
    { text, outputs: list(text) },
  ),
  build: object({ ok: { const: true }, output: text, description: text, kernel: text, kernelName: text }),
  explain: object({
    codes: list(
      object({ code: text, title: text }, { page: text, section: text, example: object({ bad: text, good: text }) }),
    ),
  }),
  isa: object({ instructions: list({ anyOf: [ptxInstruction, visaInstruction] }) }),
  bench: object({
    machine: text,
    node: text,
    runs: count,
    kernels: list({
      type: "object",
      required: ["name", "group", "ok"],
      properties: { name: text, group: text, hostBytes: count, ok: flag },
      additionalProperties: { ...measured, additionalProperties: true },
    }),
  }),
} as const satisfies Readonly<Record<string, Schema>>;

/** Whatever can be described: jobs, and the document of each command that has `--json`. */
export const schemaNames: readonly string[] = ["job", ...Object.keys(documents)];

/** The JSON Schema of jobs, or of what a command prints with `--json`; null for another name. */
export function schemaOf(name: string): Schema | null {
  if (name === "job") return jobSchema;
  if (!Object.hasOwn(documents, name)) return null;
  const document = documents[name as keyof typeof documents];
  const whole = { anyOf: [document, reference("failure")] };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: `The document of lanewise ${name} --json`,
    ...whole,
    definitions: used(whole),
  };
}

/** The definitions that a schema needs, and those that they need. */
function used(schema: Schema): Readonly<Record<string, Schema>> {
  const found = new Map<string, Schema>();
  const visit = (part: Schema): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/definitions\/([\w-]+)"/g)) {
      if (found.has(name!)) continue;
      found.set(name!, definitions[name!]!);
      visit(definitions[name!]!);
    }
  };
  visit(schema);
  return Object.fromEntries(found);
}
