export { NotAllowed } from "./compiled-module.ts";
export { limits, TooLarge } from "./limits.ts";
export { type Features, type LibraryFunction, type Wasm, wasm } from "./expr.ts";
export { machineFeatures } from "./features.ts";
export { type Assignment, FunctionWriter, type Label, type OwnMemory } from "./function-writer.ts";
export { hostModule } from "./host-module.ts";
export { type Lanes, lanes } from "./lanes.ts";
export { ModuleWriter } from "./module-writer.ts";
export type { MemoryOp, ValueOp, WasmTy } from "./ops.ts";
