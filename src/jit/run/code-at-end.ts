import { optimizedCode } from "../../wasm/index.ts";
import type { RunBlocks } from "../abi/native-code.ts";
import { atEnd } from "./at-end.ts";

/** Where code that the host has compiled of one module is kept for later processes. */
export interface KeptCode {
  read(): Uint8Array | null;
  write(code: Uint8Array): void;
}

/** By how much code must have grown to be kept once more. */
const growth = 1.1;

/**
 * Keeps the code that the host will have optimized of a module when the process ends. `run`: of an instance; `known`:
 * the bytes of the code with which the module began, or 0.
 */
export function keepCodeAtEnd(kept: KeptCode, module: WebAssembly.Module, run: RunBlocks, known: number): void {
  const running = { module: new WeakRef(module), run: new WeakRef(run) };
  atEnd(kept, () => {
    const [stillModule, stillRun] = [running.module.deref(), running.run.deref()];
    if (stillModule === undefined || stillRun === undefined) return;
    const code = optimizedCode(stillModule, stillRun);
    if (code !== null && code.length > growth * known) kept.write(code);
  });
}
