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

/** A missing semicolon or directive is found where the next statement begins, or where the last one ended. */
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

/** Probes whose verdict depends on more than the module, or on bugs of ptxas. */
const leftOut: Readonly<Record<string, string>> = {
  ld_param_oob: "ptxas crashes",
  abi_preserve_big: "ptxas crashes",
  "ver_9.1": "9.1 is known here",
  target_sm_90_on_75: "an option of ptxas",
  direct_extern_unresolved: "the linker's business",
  declared_never_defined_called: "the linker's business",
  declared_never_defined_uncalled: "the linker's business",
  attr_unified_func: "needs -c, as the same module shows",
  attr_unified_visible: "needs -c, as the same module shows",
  attr_unified_decl_def_mismatch: "needs -c, as the same module shows",
};

suite("what ptxas says about calls", () => {
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

suite("modules with nothing wrong", () => {
  for (const folder of ["cuda/ptx/", "hand/"]) {
    for (const name of modulesIn(folder)) {
      const text = read(folder + name);
      test(folder + name, () => {
        expect(lines(diagnose(text))).toEqual([]);
      });
    }
  }
});
