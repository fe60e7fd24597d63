import { parse } from "yaml";

/** The plain objects that a YAML document stands for. Throws an Error that says where it is none. */
export const parseYaml = (text: string): unknown => parse(text, { logLevel: "error" });
