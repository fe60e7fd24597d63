export type WasmMemory = WebAssembly.Memory;
