import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { schemaNames } from "../../src/cli/schemas/documents.ts";
import { problemOf } from "./documents.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line as it is shipped: bundled, run by Node in a folder of its own. */
export class BuiltCli {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async build(): Promise<BuiltCli> {
    const folder = mkdtempSync(join(tmpdir(), "lanewise-cli-"));
    copyFileSync(join(root, "package.json"), join(folder, "package.json"));
    const script: string = new URL("../../scripts/bundle-cli.mjs", import.meta.url).href;
    const { bundleCli } = (await import(script)) as { bundleCli: (root: string, dir: string) => Promise<void> };
    await bundleCli(root, join(folder, "dist/cli"));
    mkdirSync(join(folder, "work"));
    return new BuiltCli(folder);
  }

  /** Where the command line runs. */
  get work(): string {
    return join(this.folder, "work");
  }

  write(path: string, data: string | Uint8Array): void {
    mkdirSync(dirname(join(this.work, path)), { recursive: true });
    writeFileSync(join(this.work, path), data);
  }

  /** Runs a command, without a folder for what is kept. What one prints with `--json` must be as its schema says. */
  run(...args: string[]): Outcome {
    return this.runWith("off", ...args);
  }

  /** The same with a folder for what is kept. */
  runWith(cache: string, ...args: string[]): Outcome {
    const { FORCE_COLOR: _, ...env } = process.env;
    const outcome = spawnSync(process.execPath, [join(this.folder, "dist/cli/main.js"), ...args], {
      cwd: this.work,
      encoding: "utf8",
      env: { ...env, NO_COLOR: "1", LANEWISE_CACHE: cache },
      timeout: 600_000,
      maxBuffer: 1 << 28,
    });
    const [command = ""] = args;
    if (args.includes("--json") && !args.includes("--help") && schemaNames.includes(command)) {
      const problem = problemOf(command, JSON.parse(outcome.stdout));
      if (problem !== null)
        throw new Error(`lanewise ${args.join(" ")}: the document is not as its schema says: ${problem}`);
    }
    return outcome;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
