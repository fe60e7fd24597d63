/** A WebAssembly memory, by a name that code outside this room can use without the types of a browser. */
export type WasmMemory = WebAssembly.Memory;
