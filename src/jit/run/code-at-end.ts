import { optimizedCode } from "../../wasm/index.ts";
import type { RunBlocks } from "../abi/native-code.ts";

/** Where code that the host has compiled of one module is kept for later processes. */
export interface KeptCode {
  read(): Uint8Array | null;
  write(code: Uint8Array): void;
}

/** Modules that are looked at when the process ends, at most: the last ones. */
const mostModules = 64;

/** By how much code must have grown to be kept once more. */
const growth = 1.1;

interface Running {
  readonly module: WeakRef<WebAssembly.Module>;
  readonly run: WeakRef<RunBlocks>;
  /** Bytes of the code with which it began, or 0. */
  readonly known: number;
}

/** By where their code is to be kept; null before the first one. */
let running: Map<KeptCode, Running> | null = null;

/**
 * Keeps the code that the host will have optimized of a module when the process ends. `run`: of an instance; `known`:
 * the bytes of the code with which the module began, or 0.
 */
export function keepCodeAtEnd(kept: KeptCode, module: WebAssembly.Module, run: RunBlocks, known: number): void {
  if (running === null) {
    running = new Map();
    const { process } = globalThis as { process?: { once(event: "exit", then: () => void): void } };
    process?.once("exit", keepAll);
  }
  running.delete(kept);
  running.set(kept, { module: new WeakRef(module), run: new WeakRef(run), known });
  for (const first of running.keys()) {
    if (running.size <= mostModules) break;
    running.delete(first);
  }
}

function keepAll(): void {
  for (const [kept, { module, run, known }] of running ?? []) {
    const [stillModule, stillRun] = [module.deref(), run.deref()];
    if (stillModule === undefined || stillRun === undefined) continue;
    const code = optimizedCode(stillModule, stillRun);
    if (code !== null && code.length > growth * known) kept.write(code);
  }
}
