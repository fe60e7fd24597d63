import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { initialValues } from "../../bench/suite/kernel.ts";
import { Peers } from "../../bench/suite/peers.ts";
import { difference, modelResults } from "../../bench/suite/run.ts";
import { benchKernels } from "../../bench/suite/suite.ts";

/** gcc, the headers of OpenCL and PoCL, without which there is nothing to compare. */
const hasPocl =
  spawnSync("gcc", ["--version"]).status === 0 &&
  ["/usr/include/CL/cl.h", "/etc/OpenCL/vendors/pocl.icd"].every((path) => existsSync(path));

describe.skipIf(!hasPocl)("on PoCL", () => {
  const told: string[] = [];
  let peers: Peers;
  beforeAll(() => {
    peers = new Peers(fileURLToPath(new URL("../../bench", import.meta.url)), new Set(["pocl"]), (why) =>
      told.push(why),
    );
  });
  afterAll(() => peers.remove());

  const twins = benchKernels.filter((k) => k.opencl).map((k) => [k.name, k] as const);
  test.each(twins)("%s computes what its model says", (_, kernel) => {
    const plan = kernel.plan(kernel.quickSize);
    const initial = initialValues(plan);
    peers.prepare(plan, initial, { runs: 1, milliseconds: 0 });
    const measured = peers.pocl(kernel, plan);
    expect(told.splice(0)).toEqual([]);
    expect(difference(kernel, measured!.results, modelResults(kernel, plan, initial))).toBe(null);
  });
});
