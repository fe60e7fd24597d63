// What tells one build of Lanewise from others: a hash of its sources. Compiled kernels are kept under it.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export function buildId(root) {
  const hash = createHash("sha256");
  const folder = join(root, "src");
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const file = join(folder, name);
    if (statSync(file).isFile()) hash.update(`${name}\n`).update(readFileSync(file));
  }
  return hash.digest("hex");
}
