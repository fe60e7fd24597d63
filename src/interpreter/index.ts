export { type LaunchOptions, launch } from "./launch.ts";
