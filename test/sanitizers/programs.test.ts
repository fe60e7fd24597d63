import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Kernels in PTX, each launched as one block of 64 threads with the sanitizers except `race` (neighbours overwrite each
 * other's results): `// report: code` at the end of a line expects that report there, and nothing else may be reported.
 * Files hold several, each after `==== name`.
 */
const sanitize = ["call", "init", "memory", "sync"] as const;
const folder = new URL("programs/", import.meta.url);
const frame = (body: string) => `.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .u64 %o;
    .reg .u32 %t, %r;
    .reg .pred p, q;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    mov.u32 %r, 0;
${body}
}
`;

for (const file of readdirSync(folder)) {
  describe(file, () => {
    const [, ...cases] = readFileSync(new URL(file, folder), "utf8").split(/^==== /m);
    test.each(cases.map((c) => [c.slice(0, c.indexOf("\n")), c.slice(c.indexOf("\n") + 1)]))("%s", (_, body) => {
      const text = body.includes(".entry") ? body : frame(body);
      const wanted = text.split("\n").flatMap((line, i) => {
        const [, code] = /\/\/ report: ([\w-]+)$/.exec(line) ?? [];
        return code === undefined ? [] : [`${i + 1} ${code}`];
      });
      const device = new Device();
      const out = device.buffer("u32", 64);
      const kernel = device.load(text).kernel("k");
      const { reports } = kernel.launch({ grid: 1, block: 64, args: [out], sanitize, maxSteps: 1_000_000 });
      expect(reports.map((r) => `${r.source.position(r.span.start).line} ${r.code}`)).toEqual(wanted);
    });
  });
}
