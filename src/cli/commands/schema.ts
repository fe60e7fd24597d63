import { jobSchema } from "../../runtime/job/job-schema.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { type Command, exitStatus } from "../options/command.ts";

const schemas: Readonly<Record<string, object>> = { job: jobSchema };

export const schema: Command = {
  name: "schema",
  summary: "print the JSON Schema of jobs, by which editors complete and check them",
  usage: ["schema [job]"],
  options: [],
  common: [],
  details: `For example:
  lanewise schema > job.schema.json

A job that begins with "$schema": "./job.schema.json" is then completed and checked by editors, VS Code among them. docs/jobs.md describes the fields.`,
  run({ positionals }, terminal) {
    const [name = "job", ...more] = positionals;
    const found = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (found === undefined || more.length > 0) {
      throw new UsageError(
        `schema: there is a schema of ${Object.keys(schemas).join(", ")}, not of ${positionals.join(" ")}`,
      );
    }
    terminal.out(JSON.stringify(found, null, 2));
    return exitStatus.ok;
  },
};
