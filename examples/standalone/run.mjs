// Launches a saxpy that was built before, with nothing of Lanewise but `loader.mjs`:
//
//     npx lanewise build examples/saxpy.ptx -o saxpy.wasm
//     node examples/standalone/run.mjs saxpy.wasm
import { readFileSync } from "node:fs";
import { loadKernel } from "./loader.mjs";

const path = process.argv[2] ?? "saxpy.wasm";
const description = JSON.parse(readFileSync(path.replace(/\.wasm$/, ".json"), "utf8"));
const saxpy = await loadKernel(description, readFileSync(path));
const x = saxpy.buffer(new Float32Array([1, 2, 3, 4]));
const y = saxpy.buffer(new Float32Array(4));
saxpy.launch({ grid: 1, block: 32, args: [4, 2.5, x, y] });
console.log(y.read(Float32Array).join(" "));
