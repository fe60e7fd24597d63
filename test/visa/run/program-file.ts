import { readFileSync } from "node:fs";
import type { FunctionText, Program } from "./program.ts";

/**
 * One entry of a file of programs: a title, fields, and texts. The notation:
 *
 *     # a comment, up to the first entry
 *     === the title
 *     widths: 8 16
 *     declarations
 *       .decl AT v_type=G type=uq num_elts=16 align=GRF
 *     kernel
 *         fcall (E) f # 0
 *     function f: takes 1, returns 0
 *         fret (E)
 *
 * A line in the first column begins a field or a text; the lines of a text are indented.
 */
export interface ProgramEntry {
  readonly title: string;
  /** The values of a field that may stand several times, in order. */
  all(name: string): readonly string[];
  /** The value of a field that stands at most once. */
  field(name: string): string | undefined;
  readonly kernel: string;
  readonly subroutines?: string;
  readonly declarations?: string;
  readonly functions: readonly FunctionText[];
}

const fieldLine = /^([a-zA-Z]+): (.*)$/;
const functionLine = /^function (\w+): takes (\d+), returns (\d+)$/;

/** Reads a file of programs. */
export function readEntries(file: URL): readonly ProgramEntry[] {
  const [, ...parts] = readFileSync(file, "utf8").split(/^=== /m);
  return parts.map(entryOf);
}

function entryOf(part: string): ProgramEntry {
  const [title, ...lines] = part.split("\n");
  const fields: [name: string, value: string][] = [];
  const texts = new Map<string, string[]>();
  const functions: { name: string; takes: number; returns: number; body: string[] }[] = [];
  let text: string[] | null = null;
  for (const line of lines) {
    const [, name, takes, returns] = functionLine.exec(line) ?? [];
    const [, field, value] = fieldLine.exec(line) ?? [];
    if (line.startsWith(" ") && text !== null) text.push(line.trim());
    else if (name !== undefined) {
      text = [];
      functions.push({ name, takes: Number(takes), returns: Number(returns), body: text });
    } else if (field !== undefined) fields.push([field, value!]);
    else if (line !== "") texts.set(line, (text = []));
  }
  const joined = (name: string): string | undefined => texts.get(name)?.join("\n");
  const all = (name: string): readonly string[] => fields.flatMap(([key, value]) => (key === name ? [value] : []));
  const kernel = joined("kernel");
  if (kernel === undefined) throw new Error(`${title} has no kernel`);
  const [subroutines, declarations] = [joined("subroutines"), joined("declarations")];
  return {
    title: title!,
    all,
    field: (name) => all(name)[0],
    kernel,
    functions: functions.map(({ body, ...rest }) => ({ ...rest, body: body.join("\n") })),
    ...(subroutines === undefined ? {} : { subroutines }),
    ...(declarations === undefined ? {} : { declarations }),
  };
}

/** The fields of these names that the entry has, as numbers. */
export const numbersIn = <Name extends string>(
  entry: ProgramEntry,
  ...names: readonly Name[]
): Readonly<Partial<Record<Name, number>>> =>
  Object.fromEntries(
    names.flatMap((name) => entry.all(name).map((value) => [name, Number(value)] as const)),
  ) as Partial<Record<Name, number>>;

/**
 * The programs of a family: their texts from the folder `programs`, their models from `models`, by title.
 *
 * @throws Error if one of the two lacks a program of the other
 */
export function programsOf(family: string, models: Readonly<Record<string, Program["expected"]>>): readonly Program[] {
  const entries = readEntries(new URL(`programs/${family}.txt`, import.meta.url));
  const titles = new Set(entries.map(({ title }) => title));
  for (const title of Object.keys(models)) if (!titles.has(title)) throw new Error(`no program is called ${title}`);
  return entries.map((entry) => {
    const expected = models[entry.title];
    if (expected === undefined) throw new Error(`no model of ${entry.title}`);
    const widths = entry.field("widths")!.split(" ").map(Number) as unknown as Program["widths"];
    return { ...entry, ...numbersIn(entry, "items", "group"), widths, expected };
  });
}
