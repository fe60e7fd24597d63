import type { LaunchRequest } from "../machine/launch.ts";
import { tableOf } from "../program/functions.ts";
import type { Program } from "../program/program.ts";
import { DecodedFunction } from "./compile/decoded-function.ts";
import { foldCompiler } from "./compile/fold-compiler.ts";
import { canGenerate, loopCompiler } from "./compile/loop-compiler.ts";
import type { ProgramContext } from "./compile/program-context.ts";
import { decode } from "./decode.ts";

/** How the functions of a program are decoded. */
interface Mode {
  readonly fine: boolean;
  readonly generate: boolean;
}

const contexts = new WeakMap<Program, Map<string, ProgramContext>>();

/** The functions of a program as a launch needs them; they are decoded once. `generate`: see `LaunchOptions`. */
export function contextFor(
  program: Program,
  { seed, steering }: LaunchRequest,
  generate = canGenerate(),
): ProgramContext {
  // A schedule that is not the usual one changes between warps at every access.
  const mode = { fine: seed !== undefined || steering !== undefined, generate };
  let known = contexts.get(program);
  if (known === undefined) contexts.set(program, (known = new Map()));
  const key = `${mode.fine} ${generate}`;
  let context = known.get(key);
  if (context === undefined) known.set(key, (context = makeContext(program, mode)));
  return context;
}

function makeContext(program: Program, { fine, generate }: Mode): ProgramContext {
  const { addresses, bindings, externals, functions, module } = program;
  const { window } = addresses;
  const context: ProgramContext = {
    addresses,
    bindings,
    externals,
    compiler: generate ? loopCompiler : foldCompiler,
    generate,
    fine,
    ...tableOf(module, (_, i) => new DecodedFunction(functions[i]!, window, (code) => decode(code, context))),
  };
  return context;
}
