import { UsageError } from "../../runtime/data/errors.ts";
import { nearest } from "../../source/index.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { schemaNames, schemaOf } from "../schemas/documents.ts";

export const schema: Command = {
  name: "schema",
  summary: "print the JSON Schema of jobs, or of what a command prints with --json",
  usage: ["schema [job]", "schema COMMAND"],
  options: [],
  common: [],
  details: `For example:
  lanewise schema > job.schema.json
  lanewise schema run > run.schema.json

A job that begins with "$schema": "./job.schema.json" is completed and checked by editors, VS Code among them. docs/jobs.md describes the fields. The schemas of commands are for programs that read what these print, and for generators of types: ${schemaNames.slice(1).join(", ")}.`,
  run({ positionals }, terminal) {
    const [name = "job", ...more] = positionals;
    if (more.length > 0) throw new UsageError(`schema: one name is enough, not ${positionals.join(" ")}`);
    const found = schemaOf(name);
    if (found === null) {
      const meant = nearest(name, schemaNames);
      const help = meant === null ? `there are ${schemaNames.join(", ")}` : `did you mean ${meant}?`;
      throw new UsageError(`schema: there is no schema of ${name}; ${help}`);
    }
    terminal.out(JSON.stringify(found, null, 2));
    return exitStatus.ok;
  },
};
