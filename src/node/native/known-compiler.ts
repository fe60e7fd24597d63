import { closeSync, openSync, readSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import { CCompiler, commandsIn } from "./c-compiler.ts";

/**
 * The C compiler of the machine. To ask it for its name and what it makes code for takes longer than many kernels run,
 * so that a store remembers the answer, as long as the compiler's files and the processor are the same.
 */
export class KnownCompiler {
  readonly #store: KernelStore | null;
  readonly #env: NodeJS.ProcessEnv;
  #found: CCompiler | string | null = null;
  #identity: string | null = null;

  constructor(store: KernelStore | null, env: NodeJS.ProcessEnv = process.env) {
    this.#store = store;
    this.#env = env;
  }

  /** The compiler itself; a text if there is none that will do: why. */
  get found(): CCompiler | string {
    if (this.#found !== null) return this.#found;
    const found = CCompiler.find(this.#env);
    this.#found = found;
    if (typeof found === "string") return found;
    this.#identity = found.identity;
    const origin = originOf(this.#env);
    if (origin !== null) this.#store?.write(origin, new TextEncoder().encode(found.identity));
    return found;
  }

  /** What tells the compiler and the machine from others, without asking the compiler; null if nobody has. */
  get identity(): string | null {
    return (this.#identity ??= this.#remembered());
  }

  #remembered(): string | null {
    if (this.#store === null) return null;
    const origin = originOf(this.#env);
    const entry = origin === null ? null : this.#store.read(origin);
    return entry === null ? null : new TextDecoder().decode(entry);
  }
}

/** The files of compilers that would be asked, and the processor; null where these cannot be told. */
function originOf(env: NodeJS.ProcessEnv): string | null {
  const processor = processorHere();
  if (processor === null) return null;
  const commands = commandsIn(env).map((command) => command.map((word) => [word, fileOf(word, env)] as const));
  return `C compiler ${JSON.stringify([commands, processor])}`;
}

/** The file of a program, as it is now; null if there is none. */
function fileOf(word: string, env: NodeJS.ProcessEnv): readonly (number | string)[] | null {
  if (word.startsWith("-")) return null;
  const folders = isAbsolute(word) || word.includes("/") ? [""] : (env["PATH"] ?? "").split(delimiter);
  for (const folder of folders) {
    const path = join(folder, word);
    const file = statSync(path, { throwIfNoEntry: false });
    if (file?.isFile() === true) return [path, file.size, file.mtimeMs, file.ino];
  }
  return null;
}

/** The fields of /proc/cpuinfo that say what a processor can execute. */
const telling = /^(vendor_id|cpu family|model|model name|stepping|flags)\s*:.*$/gm;

/** More than it says of the first processor. */
const firstBytes = 8192;

/** What the first processor can execute; null where the system does not tell. */
function processorHere(): string | null {
  try {
    const file = openSync("/proc/cpuinfo", "r");
    try {
      const bytes = Buffer.alloc(firstBytes);
      const [first] = bytes.toString("latin1", 0, readSync(file, bytes)).split("\n\n");
      return first!.match(telling)?.join("\n") ?? null;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
