import type { Program } from "../../program/program.ts";
import type { ChunkWidth } from "../abi/launch-shape.ts";
import { Compiler } from "./compiler.ts";
import { WatchedLaunches, type WatchedLaunchesPort } from "./watched-launches.ts";

/** See the constructor of `Compiler`. */
export const openCompiler = (program: Program, width: ChunkWidth | null, constantsAt: () => number): Compiler =>
  new Compiler(program, width, constantsAt);

/** Opens what runs launches that sanitizers watch: it compiles code of its own. */
export const openWatchedLaunches = (port: WatchedLaunchesPort): WatchedLaunches => new WatchedLaunches(port);
