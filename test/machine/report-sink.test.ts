import { expect, test } from "vitest";
import type { Observer } from "../../src/machine/events.ts";
import { kit } from "../../src/semantics/index.ts";
import { ModuleBuilder } from "../interpreter/builder.ts";
import { run } from "../interpreter/harness.ts";

/** What is left of findings at two instructions, in order. */
function reports(codes: readonly (readonly [index: number, code: string])[]): string[] {
  const m = new ModuleBuilder();
  const k = m.kernel();
  const r = k.reg("b32");
  k.set(r, kit.i32(1));
  k.set(r, kit.i32(2));
  const observer: Observer = {
    instruction: ({ warp, activation, site, mask }) => {
      if (site.index !== 0) return;
      const { ir } = site.code;
      const sites = [site, { code: site.code, index: 1, instruction: ir.instructions[1]! }];
      for (const [index, code] of codes) {
        const message = `${code} ${index}`;
        warp.cta.grid.reports.add({ code, severity: "error", message, site: sites[index]!, activation, lanes: mask });
      }
    },
  };
  return run(m, { observers: [observer] }).reports.map(({ message }) => message);
}

test("what races is not called unwritten too, whatever comes first", () => {
  expect(
    reports([
      [0, "uninitialized-read"],
      [0, "data-race"],
    ]),
  ).toEqual(["data-race 0"]);
  expect(
    reports([
      [0, "data-race"],
      [0, "uninitialized-read"],
    ]),
  ).toEqual(["data-race 0"]);
});

test("elsewhere it is", () => {
  expect(
    reports([
      [0, "uninitialized-read"],
      [1, "data-race"],
    ]),
  ).toEqual(["uninitialized-read 0", "data-race 1"]);
});
