import type { Program } from "../../program/program.ts";
import type { Quads } from "../abi/launch-shape.ts";
import { Compiler } from "./compiler.ts";
import { WatchedLaunches, type WatchedLaunchesPort } from "./watched-launches.ts";

/** See the constructor of `Compiler`. */
export const openCompiler = (program: Program, quads: Quads | null, constantsAt: () => number): Compiler =>
  new Compiler(program, quads, constantsAt);

/** Opens what runs launches that sanitizers watch: it compiles code of its own. */
export const openWatchedLaunches = (port: WatchedLaunchesPort): WatchedLaunches => new WatchedLaunches(port);
