import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { enableFeaturesOfNode20 } from "../wasm/node-flags.ts";
import { makePrivateFolder } from "./folder-safety.ts";

/** A file of CommonJS as a function. */
type Body = (
  this: object,
  exports: object,
  require: (name: string) => unknown,
  module: { readonly exports: object },
  file: string,
  folder: string,
) => void;

const asFunction = (text: string): string =>
  `(function (exports, require, module, __filename, __dirname) { ${text}\n})`;

/** What has been compiled in this process. */
interface Fresh {
  readonly script: Script;
  readonly name: string;
  readonly text: string;
}

/** Stored code follows four words: the version of V8 and its flags, that of Node, the text, and the code itself. */
const headerBytes = 16;

/**
 * The files of CommonJS in one folder, which require each other by their names, run with the code that V8 has compiled
 * for them in an earlier process. From version 22 on, Node can do this by itself.
 */
export class StoredCode {
  readonly #sources: string;
  readonly #store: string;
  readonly #engine: number;
  readonly #modules = new Map<string, { exports: object }>();
  readonly #fresh: Fresh[] = [];

  /**
   * `sources`: the folder of the files; `store`: that of the compiled code, in a folder to which only the user can
   * write. It is made when there is something to store.
   */
  constructor(sources: string, store: string) {
    // V8 takes compiled code only if its flags are those of the process that has made it, when it did so.
    enableFeaturesOfNode20();
    this.#engine = cachedDataVersionTag();
    this.#sources = sources;
    this.#store = store;
  }

  /** Runs a file, unless that has been done. Returns what it exports. */
  load(name: string): object {
    const known = this.#modules.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    this.#modules.set(name, module);
    const file = join(this.#sources, name);
    const body = this.#compiled(name, file).runInThisContext() as Body;
    const others = createRequire(file);
    const require = (wanted: string): unknown =>
      wanted.startsWith("./") ? this.load(wanted.slice(2)) : (others(wanted) as unknown);
    body.call(module.exports, module.exports, require, module, file, this.#sources);
    return module.exports;
  }

  /** Stores what has been compiled in this process, with the functions that were called. */
  save(): void {
    if (this.#fresh.length === 0) return;
    makePrivateFolder(this.#store);
    if (!existsSync(this.#store)) return;
    for (const { script, name, text } of this.#fresh) {
      const code = script.createCachedData();
      const path = this.#pathOf(name);
      const unfinished = `${path}.${process.pid}`;
      try {
        writeFileSync(unfinished, Buffer.concat([this.#header(text, code), code]), { mode: 0o600 });
        renameSync(unfinished, path);
      } catch {
        // The disk is full, or the folder has gone: the next process compiles again.
        rmSync(unfinished, { force: true });
        return;
      }
    }
  }

  #compiled(name: string, filename: string): Script {
    const text = readFileSync(filename, "utf8");
    const cachedData = this.#stored(name, text);
    const script = new Script(asFunction(text), { filename, ...(cachedData !== null && { cachedData }) });
    if (cachedData === null || script.cachedDataRejected === true) this.#fresh.push({ script, name, text });
    return script;
  }

  /** The code that is stored for a file; null if there is none, or if it has another origin, or is damaged. */
  #stored(name: string, text: string): Buffer | null {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#pathOf(name));
    } catch {
      return null;
    }
    const code = bytes.subarray(headerBytes);
    return this.#header(text, code).equals(bytes.subarray(0, headerBytes)) ? code : null;
  }

  #header(text: string, code: Uint8Array): Buffer {
    const words = [this.#engine, crc32(`${process.version} ${process.arch}`), crc32(text), crc32(code)];
    return Buffer.from(Uint32Array.from(words).buffer);
  }

  #pathOf(name: string): string {
    return join(this.#store, name.replace(/\.cjs$/, ".code"));
  }
}
