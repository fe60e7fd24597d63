import type { WasmMemory } from "../../wasm/host.ts";

/**
 * Puts other memory of the host under that of WebAssembly, from byte `from` to its end: called when the memory is made,
 * and each time that it has grown, before what is new is used.
 */
export type Underlay = (memory: WasmMemory, from: number) => void;
