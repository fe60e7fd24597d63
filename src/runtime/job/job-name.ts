import type { JsonField } from "./json-fields.ts";

/** Reads the name of one of the job's buffers or symbols. */
export function readName(field: JsonField, what: "buffer" | "symbol", known: ReadonlyMap<string, unknown>): string {
  const name = field.string();
  if (field.present && !known.has(name)) {
    field.fail(
      `there is no ${what} "${name}"`,
      known.size === 0 ? "the job has none" : `there is ${[...known.keys()].join(", ")}`,
    );
  }
  return name;
}
