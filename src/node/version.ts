import { readFileSync } from "node:fs";

/** The package's own description lies two folders above this file, as source and when built. */
export const version = (): string => {
  const description: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return (description as { version: string }).version;
};
