import { Ajv, type ValidateFunction } from "ajv";
import { schemaOf } from "../../src/cli/schemas/documents.ts";

const ajv = new Ajv({ allErrors: true, strictTuples: false, strictTypes: false });
const validators = new Map<string, ValidateFunction>();

/** What is wrong with a document of `lanewise COMMAND --json`, by `lanewise schema COMMAND`; null if nothing is. */
export function problemOf(command: string, document: unknown): string | null {
  const schema = schemaOf(command);
  if (schema === null) return `there is no schema of ${command}`;
  const validate = validators.get(command) ?? ajv.compile(schema);
  validators.set(command, validate);
  return validate(document) ? null : ajv.errorsText(validate.errors?.slice(0, 6));
}
