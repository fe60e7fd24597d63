export { type Features, type LibraryFunction, type Wasm, wasm } from "./expr.ts";
export { machineFeatures } from "./features.ts";
export { FunctionWriter, type Label } from "./function-writer.ts";
export { type Lanes, lanes } from "./lanes.ts";
export { ModuleWriter } from "./module-writer.ts";
export type { MemoryOp, ValueOp, WasmTy } from "./ops.ts";
