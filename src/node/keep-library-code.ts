import * as nodeModule from "node:module";
import { runInThisContext } from "node:vm";
import type { KernelStore } from "../jit/abi/kernel-store.ts";
import { lateRooms } from "./late-rooms.ts";
import { type LoadedModules, StoredCode } from "./stored-code.ts";

/**
 * Keeps V8's code of the library's rooms in a store: those that are opened after this begin with the code of an earlier
 * process, which takes a third off a first launch, and what had to be compiled is stored when the process ends. Does
 * nothing where all of the library is there from the beginning, or was put into a file with other code; where Node
 * keeps V8's code of all files by itself, or is asked for stacks in terms of the sources, for which it wants to compile
 * the files; and where the library runs in a context of its own, as it does in some test runners.
 */
export function keepLibraryCode(store: KernelStore): void {
  lateRooms?.loadWith((folder) => {
    const { getCompileCacheDir } = nodeModule as { getCompileCacheDir?: () => string | undefined };
    if (getCompileCacheDir?.() !== undefined || process.sourceMapsEnabled === true) return null;
    if (runInThisContext("Object") !== Object) return null;
    const key = (name: string): string =>
      `V8's code of ${name}, V8 ${code.engine} of Node ${process.version}, ${process.arch}`;
    const code: StoredCode = new StoredCode(
      folder,
      {
        read: (name) => store.read(key(name)),
        write: (name, bytes) => store.write(key(name), bytes),
      },
      modulesOfNode(folder),
    );
    process.once("exit", () => code.save());
    return (file) => code.load(file);
  });
}

/** The modules that Node itself knows: each must be there once, whoever loads it. */
function modulesOfNode(folder: string): LoadedModules {
  const { cache } = nodeModule.createRequire(`${folder}/`);
  return {
    get: (file) => {
      const module = cache[file];
      return module?.loaded === true ? (module.exports as object) : undefined;
    },
    set: (file, exports) => {
      const module = new nodeModule.Module(file);
      cache[file] = Object.assign(module, { filename: file, loaded: true, exports });
    },
  };
}
