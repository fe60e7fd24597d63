import { parse } from "yaml";

/** Parses a YAML document into plain objects. Throws an Error that says where the syntax is wrong. */
export const parseYaml = (text: string): unknown => parse(text, { logLevel: "error" });
