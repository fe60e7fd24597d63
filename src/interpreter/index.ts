export { type LaunchOptions, launch, launchInSlices } from "./launch.ts";
