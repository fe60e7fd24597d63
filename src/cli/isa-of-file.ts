import { UsageError } from "../runtime/errors.ts";
import type { Options } from "./options.ts";

const visaNames = /\.(visaasm|isaasm|isa)$/i;

/** @throws UsageError where a file, or `--isa`, asks for what only PTX has so far */
export function requirePtx(options: Options): void {
  const isa = options.oneOf("isa", ["ptx", "visa"]);
  const visa = isa === "visa" ? "--isa visa" : isa === null ? options.positionals.find((p) => visaNames.test(p)) : null;
  if (visa) throw new UsageError(`${visa}: Intel vISA is not supported yet; this version knows NVIDIA PTX`);
}
