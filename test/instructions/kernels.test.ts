import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";
import { compareSlot, type Home, homeOf, kernelText, slotBytes } from "./kernels.ts";
import { parseVectors, type Vector } from "./vectors.ts";

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder).filter((f) => f.endsWith(".vectors"));

/** Runs vectors in one kernel, through parser, checker, lowering and interpreter. */
const perKernel = 400;

test.each(files)("%s, as kernels", (file) => {
  const vectors = parseVectors(file, readFileSync(new URL(file, folder), "utf8"));
  const failures: string[] = [];
  const byHome = new Map<Home, Vector[]>();
  for (const vector of vectors) {
    const home = homeOf(vector);
    if (home === null) failures.push(`${file}:${vector.line}: ${vector.text}: no module has this form`);
    else byHome.set(home, [...(byHome.get(home) ?? []), vector]);
  }
  const device = new Device();
  for (const [home, all] of byHome) {
    for (let from = 0; from < all.length; from += perKernel) {
      const batch = all.slice(from, from + perKernel);
      const out = device.buffer(new Uint8Array(batch.length * slotBytes));
      const module = device.load(kernelText(batch, home));
      module.kernel("k").launch({ grid: 1, block: 1, args: [out] });
      const bytes = out.read();
      batch.forEach((vector, i) => {
        const slot = new DataView(bytes.buffer, bytes.byteOffset + i * slotBytes, slotBytes);
        const problem = compareSlot(vector, slot);
        if (problem !== null) failures.push(`${file}:${vector.line}: ${vector.text}: ${problem}`);
      });
    }
  }
  expect(failures).toEqual([]);
});
