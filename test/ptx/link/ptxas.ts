import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const present = spawnSync("ptxas", ["--version"]).status === 0;
if (!present) console.warn("skipped: there is no ptxas to read linked modules");

/** The errors of ptxas in a text as a whole program; "" if ptxas is not installed. */
export function objections(text: string): string {
  if (!present) return "";
  const folder = mkdtempSync(join(tmpdir(), "linked-"));
  try {
    const path = join(folder, "linked.ptx");
    writeFileSync(path, text);
    const { status, stderr } = spawnSync("ptxas", ["-arch=sm_90", path, "-o", join(folder, "linked.cubin")]);
    return status === 0 ? "" : `${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
