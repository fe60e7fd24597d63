// What the process of `lanewise bench` takes of the machine's memory besides the kernels' buffers on the device and
// their copies in the program, in megabytes; by kernel, on Linux.
//
//     node bench/memory.mjs [OPTION OR NAME OF `lanewise bench`…]
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const words = [main, "bench", "--json", ...process.argv.slice(2)];
const { stdout, status } = spawnSync(process.execPath, words, {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
if (status !== 0) process.exit(status);
const { kernels } = JSON.parse(stdout);
if (kernels.some((k) => k.hostBytes === undefined)) {
  console.error("the system does not tell how much memory a process has taken");
  process.exit(1);
}
const line = (name, bytes) => console.log(`${name.padEnd(20)}${(bytes / 1e6).toFixed(0).padStart(6)}`);
for (const { name, hostBytes } of kernels) line(name, hostBytes);
line("at most", Math.max(...kernels.map((k) => k.hostBytes)));
