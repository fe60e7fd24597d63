export { type LaunchOptions, launch } from "./launch.ts";
export { type LoadedVariable, type LoadOptions, loadProgram, type Program } from "./program.ts";
