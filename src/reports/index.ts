export * from "./finding.ts";
export * from "./sarif.ts";
export * from "./suppressions.ts";
