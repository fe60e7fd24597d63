export { type LaunchOptions, launch } from "./launch.ts";
export { type LoadOptions, loadProgram, type Program } from "./program.ts";
