import { isAscii } from "node:buffer";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { enableFeaturesOfNode20 } from "../wasm/node-flags.ts";

/** A file of CommonJS as a function. */
type Body = (
  this: object,
  exports: object,
  require: (name: string) => unknown,
  module: { readonly exports: object },
  file: string,
  folder: string,
) => void;

/** The text of a file as V8 gets it. Decoding UTF-8 takes longer than reading a file; the build writes ASCII. */
const asFunction = (bytes: Buffer): string =>
  `(function (exports, require, module, __filename, __dirname) { ${bytes.toString(isAscii(bytes) ? "latin1" : "utf8")}\n})`;

/** What has been compiled in this process. */
interface Fresh {
  readonly script: Script;
  readonly name: string;
  /** Its file's. */
  readonly bytes: Buffer;
}

/** Where V8's code of files is kept, by their names. Neither throws. */
export interface CodeStore {
  /** The bytes that were written, or null; what is damaged may be returned, what others have written may not. */
  read(name: string): Uint8Array | null;
  write(name: string, code: Uint8Array): void;
}

/** The modules of the process, by the paths of their files. */
export interface LoadedModules {
  /** What a module exports; undefined if it has not been loaded. */
  get(file: string): object | undefined;
  set(file: string, exports: object): void;
}

/** Stored code follows four words: the version of V8 and its flags, that of Node, the text, and the code itself. */
const headerBytes = 16;

/**
 * The files of CommonJS in one folder, which require each other by their paths, run with the code that V8 has compiled
 * for them in an earlier process. From version 22 on, Node can do this by itself, for all files of a process.
 */
export class StoredCode {
  /** Tells V8 and its flags from others. */
  readonly engine: number;
  readonly #sources: string;
  readonly #store: CodeStore;
  readonly #loaded: LoadedModules;
  readonly #modules = new Map<string, { exports: object }>();
  readonly #fresh: Fresh[] = [];

  /**
   * `sources`: the folder of the files; `loaded`: the modules that need not be run again, to which those are added that
   * are run here. Default: none, and nobody else knows of the modules.
   */
  constructor(sources: string, store: CodeStore, loaded: LoadedModules = new Map<string, object>()) {
    // V8 takes compiled code only if its flags are those of the process that has made it, when it did so.
    enableFeaturesOfNode20();
    this.engine = cachedDataVersionTag();
    this.#sources = sources;
    this.#store = store;
    this.#loaded = loaded;
  }

  /** Runs a file, unless that has been done. `name`: its path in the folder. Returns what it exports. */
  load(name: string): object {
    const known = this.#modules.get(name);
    if (known !== undefined) return known.exports;
    const file = join(this.#sources, name);
    const loaded = this.#loaded.get(file);
    const module = { exports: loaded ?? {} };
    this.#modules.set(name, module);
    if (loaded === undefined) {
      this.#run(name, file, module);
      this.#loaded.set(file, module.exports);
    }
    return module.exports;
  }

  /** Stores what has been compiled in this process, with the functions that were called. */
  save(): void {
    // The code says with which flags it has been stored. If they are other ones by now, no process that begins with the
    // flags of this one could use it.
    if (cachedDataVersionTag() !== this.engine) return;
    for (const { script, name, bytes } of this.#fresh) {
      const code = script.createCachedData();
      this.#store.write(name, Buffer.concat([this.#header(bytes, code), code]));
    }
  }

  #run(name: string, file: string, module: { exports: object }): void {
    const body = this.#compiled(name, file).runInThisContext() as Body;
    const others = createRequire(file);
    const require = (wanted: string): unknown =>
      wanted.startsWith(".") ? this.load(posix.join(name, "..", wanted)) : (others(wanted) as unknown);
    body.call(module.exports, module.exports, require, module, file, join(file, ".."));
  }

  #compiled(name: string, filename: string): Script {
    const bytes = readFileSync(filename);
    const cachedData = this.#stored(name, bytes);
    const script = new Script(asFunction(bytes), { filename, ...(cachedData !== null && { cachedData }) });
    if (cachedData === null || script.cachedDataRejected === true) this.#fresh.push({ script, name, bytes });
    return script;
  }

  /** The code that is stored for a file; null if there is none, or if it has another origin, or is damaged. */
  #stored(name: string, source: Buffer): Uint8Array | null {
    const kept = this.#store.read(name);
    if (kept === null) return null;
    const code = kept.subarray(headerBytes);
    return this.#header(source, code).equals(kept.subarray(0, headerBytes)) ? code : null;
  }

  #header(source: Buffer, code: Uint8Array): Buffer {
    const words = [this.engine, crc32(`${process.version} ${process.arch}`), crc32(source), crc32(code)];
    return Buffer.from(Uint32Array.from(words).buffer);
  }
}
