// The kernels of visa-twins.mjs as C (native/) and as OpenCL on PoCL (opencl/): the same launch on the same buffers, one
// thread, with the programs of the usual bench.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const bench = fileURLToPath(new URL("./", import.meta.url));
const letters = { s32: "i", f32: "f" };

/** One launch of a kernel in C does not do what the program in C does: it sorts all. */
const otherInC = new Set(["bitonic"]);

export class TwinPeers {
  #folder = mkdtempSync(join(tmpdir(), "lanewise-twins-"));
  #hasHost = this.#compile("host", ["opencl/host.c"], ["-lOpenCL"]);

  /** The least of an implementation's runs, in milliseconds; null where it cannot be had. */
  least(peer, { name, kernel = name, grid, block, list }) {
    if (peer === "pocl" ? !this.#hasHost || !existsSync(join(bench, `opencl/${name}.cl`)) : otherInC.has(name))
      return null;
    if (peer === "c" && !this.#hasInC(name)) return null;
    const work = join(this.#folder, `${name}-plan`);
    if (!existsSync(work)) {
      mkdirSync(work);
      writeFileSync(join(work, "plan"), this.#plan({ kernel, grid, block, list }, work));
    }
    const [program, words] = peer === "c" ? [name, []] : ["host", [join(bench, `opencl/${name}.cl`)]];
    const cache = { POCL_CACHE_DIR: join(this.#folder, "cache"), POCL_MAX_PTHREAD_COUNT: "1" };
    const { status, stdout } = spawnSync(join(this.#folder, program), words, {
      cwd: work,
      encoding: "utf8",
      env: { ...process.env, ...cache, OMP_NUM_THREADS: "1" },
    });
    return status === 0 ? Math.min(...JSON.parse(stdout)) : null;
  }

  remove() {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #hasInC(name) {
    const source = `native/${name}.c`;
    if (!existsSync(join(bench, source))) return false;
    return (
      existsSync(join(this.#folder, name)) || this.#compile(name, [source, "native/main.c"], ["-march=native", "-lm"])
    );
  }

  #compile(program, sources, options) {
    const files = [...sources, "plan.c"].map((file) => join(bench, file));
    const { status } = spawnSync("gcc", ["-O3", "-o", join(this.#folder, program), ...files, ...options]);
    return status === 0;
  }

  /** What `plan.h` says; the buffers' contents are beside it. */
  #plan({ kernel, grid, block, list }, work) {
    const buffers = list.filter((arg) => arg.kind !== "scalar");
    for (const [i, buffer] of buffers.entries())
      writeFileSync(join(work, `b${i}`), new Uint8Array(buffer.read().buffer));
    const scalars = list.filter((arg) => arg.kind === "scalar");
    const words = list.map((arg) =>
      arg.kind === "scalar" ? `${letters[arg.type]} ${arg.value}` : `b ${buffers.indexOf(arg)}`,
    );
    const global = grid.map((count, i) => count * block[i]);
    return [
      "runs 9 300",
      `sizes ${scalars.map(({ value }) => value).join(" ")}`,
      ...buffers.map((buffer, i) => `buffer b${i} ${buffer.read().byteLength} in`),
      `launch ${kernel} ${global.join(" ")} ${block.join(" ")} ${list.length} ${words.join(" ")}`,
      "",
    ].join("\n");
  }
}
