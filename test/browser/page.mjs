// What `browser.test.ts` runs within a page.
import { Device, parseJob, runJob, SourceText } from "../../dist/index.js";
import { loadKernel } from "../../examples/standalone/loader.mjs";

globalThis.tests = {
  /** One of the jobs in examples/seeds/. */
  async job(name) {
    const get = async (path) => new Uint8Array(await (await fetch(`/examples/seeds/${path}`)).arrayBuffer());
    const { job } = parseJob(new SourceText(`${name}.json`, new TextDecoder().decode(await get(`${name}.json`))));
    const [[variant, paths]] = job.variants;
    const files = new Map();
    for (const path of paths) files.set(path, await get(path));
    const result = runJob(job, variant, { read: (path) => files.get(path) }, { engine: "jit" });
    const { ok, engine, failure, checks } = result;
    return { ok, engine, failure, checks: checks.map((c) => ({ ok: c.ok, n: c.n })) };
  },

  async launch({ text, kernel, launch, args, words }) {
    const device = new Device({ engine: "jit", hostThreads: 2 });
    const out = device.buffer("s32", words);
    const options = { ...launch, args: [...args, out] };
    const { engine, hostThreads } = await device.load(text).kernel(kernel).launchAsync(options);
    return { values: [...out.read()], engine, hostThreads, isShared: device.memory.isShared };
  },

  async standalone({ bytes, description, launch, args, words }) {
    const kernel = await loadKernel(description, Uint8Array.from(bytes));
    const out = kernel.buffer(4 * words);
    kernel.launch({ ...launch, args: [...args, out] });
    return [...out.read(Int32Array)];
  },
};
