import { jobSchemaRules } from "./job-schema-rules.ts";
import type { Schema } from "./schema-parts.ts";

let known: Schema | null = null;
/** Made when it is first asked for: patterns of misspelt names take longer than an import should. */
const rule = (keyword: string): unknown => (known ??= jobSchemaRules())[keyword];

/**
 * The JSON Schema of jobs, for editors and other programs. It says all that `parseJob` demands of one value at a time;
 * only `parseJob` knows whether the buffers that are named exist, and whether lists are as long as their buffers.
 */
export const jobSchema: Schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "A job of Lanewise",
  description: "A reproducible run: programs, the buffers that they work on, launches, and the expected results.",
  type: "object",
  get if() {
    return rule("if");
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  get then() {
    return rule("then");
  },
  get else() {
    return rule("else");
  },
  get definitions() {
    return rule("definitions");
  },
};
