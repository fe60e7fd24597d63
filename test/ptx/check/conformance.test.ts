import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { diagnose, errorsOf, lineOf, lines } from "./diagnose.ts";

const root = new URL("../../../../shared/conformance/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const suite = existsSync(root) ? describe : describe.skip.bind(null);
const modulesIn = (folder: string): string[] =>
  existsSync(root) ? readdirSync(new URL(folder, root)).filter((name) => name.endsWith(".ptx")) : [];

interface RejectCase {
  readonly module: string;
  readonly line: number | null;
  readonly accepted_twin: string;
}

/**
 * Whether a diagnostic may be on the previous line: a missing semicolon or directive is reported where the previous
 * statement ends.
 */
const mayBeBefore = (code: string): boolean => code.startsWith("ptx-") || code === "missing-version";

suite("modules that must be rejected, and their twins", () => {
  const cases: readonly RejectCase[] = existsSync(root) ? JSON.parse(read("reject.json")).cases : [];
  test.each(cases)("$module", ({ module, line, accepted_twin }) => {
    const errors = errorsOf(read(module));
    const at = errors.filter(
      (d) => line === null || lineOf(d) === line || (mayBeBefore(d.code) && lineOf(d) === line - 1),
    );
    expect(at.length, `line ${line}: ${lines(errors).join("; ")}`).toBeGreaterThan(0);
    expect(lines(errorsOf(read(accepted_twin)))).toEqual([]);
  });
});

/** Probes that are left out, because ptxas's verdict depends on more than the module, or on its bugs. */
const leftOut: Readonly<Record<string, string>> = {
  ld_param_oob: "ptxas crashes",
  abi_preserve_big: "ptxas crashes",
  "ver_9.1": "9.1 is supported here",
  target_sm_90_on_75: "an option of ptxas",
  direct_extern_unresolved: "left to the linker",
  declared_never_defined_called: "left to the linker",
  declared_never_defined_uncalled: "left to the linker",
  attr_unified_func: "needs -c, as the same module shows",
  attr_unified_visible: "needs -c, as the same module shows",
  attr_unified_decl_def_mismatch: "needs -c, as the same module shows",
};

suite("the verdicts of ptxas on calls", () => {
  const probes = existsSync(root)
    ? read("ptxas-probe/results.tsv")
        .trim()
        .split("\n")
        .slice(1)
        .map((row) => row.split("\t"))
    : [];
  for (const [name = "", , verdict] of probes) {
    test.skipIf(name in leftOut)(name, () => {
      const errors = errorsOf(read(`ptxas-probe/${name}.ptx`));
      expect(errors.length > 0 ? "rejected" : "accepted", lines(errors).join("; ")).toBe(verdict);
    });
  }
});

suite("modules without errors", () => {
  for (const folder of ["cuda/ptx/", "hand/"]) {
    for (const name of modulesIn(folder)) {
      const text = read(folder + name);
      test(folder + name, () => {
        expect(lines(diagnose(text))).toEqual([]);
      });
    }
  }
});
