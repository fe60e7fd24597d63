import { type FunctionWriter, type ModuleWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { type GiveUpReason, numberOfReason } from "../../abi/give-up-reasons.ts";
import { type HostImport, hostImports } from "../../abi/host-imports.ts";

/** Declares that a module imports a function of the host; more than once is the same as once. */
export function importHost(module: ModuleWriter, name: HostImport): void {
  const { params, results } = hostImports[name];
  module.importFunction(name, params, results);
}

/** Calls a function of the host that the module imports, with the arguments that are on the stack. */
export const callHost = (w: FunctionWriter, name: HostImport): void => w.call(name);

const clock = "clock" satisfies HostImport;

/** The host's time. The module imports the function with the first use. */
export const hostClock = (): Wasm => wasm.import(clock, hostImports[clock].results[0]);

/** Gives the launch up, which the interpreter repeats. */
export function giveUp(module: ModuleWriter, w: FunctionWriter, reason: GiveUpReason): void {
  importHost(module, "giveUp");
  w.value(wasm.i32(numberOfReason(reason)));
  callHost(w, "giveUp");
}

/** Gives the launch up if a condition (`i32`) holds. */
export function giveUpIf(module: ModuleWriter, w: FunctionWriter, condition: Wasm, reason: GiveUpReason): void {
  w.value(condition);
  w.if(() => giveUp(module, w, reason));
}
