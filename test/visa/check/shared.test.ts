import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { platforms } from "../../../src/visa/isa/row.ts";
import { diagnoseProgram, lineOf, lines } from "./diagnose.ts";

const root = new URL("../../../../shared/visa/", import.meta.url);
const present = existsSync(root);
const json = (path: string) => JSON.parse(readFileSync(new URL(path, root), "utf8"));
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");

interface Variant {
  readonly modules: readonly string[];
  readonly symbols?: Readonly<Record<string, unknown>>;
}

describe.skipIf(!present)("the programs of the shared data have nothing wrong", () => {
  for (const folder of present ? ["kernels", "hand", "faults"] : []) {
    for (const file of readdirSync(new URL(`${folder}/`, root)).filter((name) => name.endsWith(".json"))) {
      const variants: Readonly<Record<string, Variant>> = json(`${folder}/${file}`).variants;
      test(`${folder}/${file}`, () => {
        for (const [key, { modules, symbols = {} }] of Object.entries(variants)) {
          const platform = platforms.find((name) => new RegExp(`^(?:igc2-)?${name}\\.`).test(key)) ?? null;
          const files = modules.map((path) => [path, read(`${folder}/${path}`)] as const);
          const found = diagnoseProgram(files, { platform, symbols: new Set(Object.keys(symbols)) });
          expect(lines(found), key).toEqual([]);
          expect(lines(diagnoseProgram(files, { symbols: new Set(Object.keys(symbols)) })), key).toEqual([]);
        }
      });
    }
  }
});

describe.skipIf(!present)("the text of binary files has nothing wrong", () => {
  const entries: readonly { readonly id: string; readonly text: string | readonly string[] }[] = present
    ? readdirSync(new URL("cisa/", root))
        .filter((name) => name.endsWith(".visaasm") && !/\.f\d\./.test(name))
        .map((name) => ({ id: name, text: [name, ...functionsOf(name)] }))
    : [];
  for (const { id, text } of entries) {
    test(id, () => {
      const found = diagnoseProgram([text].flat().map((path) => [path, read(`cisa/${path}`)]));
      // A file names functions of other files.
      expect(lines(found.filter(({ code }) => code !== "visa-unknown-function"))).toEqual([]);
    });
  }
});

const functionsOf = (name: string): readonly string[] => {
  const stem = name.replace(/\.visaasm$/, "");
  return [0, 1, 2].map((i) => `${stem}.f${i}.visaasm`).filter((file) => existsSync(new URL(`cisa/${file}`, root)));
};

/** For each program to be rejected, a text of its module and the replacement that makes it correct. */
const mended: Readonly<Record<string, readonly [string, string]>> = {
  n01_upper_case: ["IFCALL", "ifcall"],
  n02_no_sizes: ["(P1) ifcall (M1, 16) F(0,0)<0;1,0>", "(P1) ifcall (M1, 16) F(0,0)<0;1,0> 2 2"],
  n03_one_size: ["F(0,0)<0;1,0> 2", "F(0,0)<0;1,0> 2 2"],
  n05_undef_var: [" G(0,0)", " F(0,0)"],
  n06_undef_pred: ["P9", "P1"],
  n09_addr_uw: [" FW(0,0)<0", " F(0,0)<0"],
  n10_addr_d: [" FD(0,0)<0", " F(0,0)<0"],
  n15_extra_operand: ["2 2 2", "2 2"],
  n16_negative_size: ["-1 2", "2 2"],
  n17_mask_offset: ["ifcall (M3, 16)", "ifcall (M1, 16)"],
  n19_src_modifier: ["(-)", ""],
  n20_saturate: ["ifcall.sat", "ifcall"],
  n21_pred_is_general: ["(R) ifcall", "(P1) ifcall"],
  n25_fcall_by_address: ["fcall (M1, 16) F(0,0)<0;1,0>", "fcall (M1, 16) f_add"],
  n26_vstride_3: ["<3;1,0>", "<0;1,0>"],
  n29_call_undefined: ["(P1) call (M1, 16) nowhere", "goto (M1, 1) nowhere\nnowhere:"],
  n30_call_block_label: ["(P1) call", "(P1) goto"],
  n31_faddr_unknown: ["f_missing", "f_add"],
  n32_faddr_float: [" FF(0,0)<1>", " F(0,0)<1>"],
  n33_faddr_no_dst: ["faddr f_add\n", "faddr f_add F(0,0)<1>\n"],
  n37_ifcall_arg_mismatch_static: ["4 2", "2 2"],
  n39_ret_in_function: ["    ret", "    fret"],
  n40_function_falls_off: ["100:ud\n", "100:ud\n    fret (M1, 16)\n"],
  n41_argsize_attr_40: ["ArgSize=40", "ArgSize=2"],
  n43_duplicate_decl: [".decl R v_type=G type=ud num_elts=16 align=GRF\n.", "."],
  n47_no_version: ['.kernel "k"', '.version 3.6\n.kernel "k"'],
};

interface Rejected {
  readonly id: string;
  readonly modules: readonly string[];
  readonly module: string;
  readonly line: number;
}

describe.skipIf(!present)("programs to be rejected", () => {
  const cases: readonly Rejected[] = present ? json("reject.json").cases : [];
  for (const { id, modules, module, line } of cases) {
    test(id, () => {
      const found = diagnoseProgram(modules.map((path) => [path, read(path)]));
      const errors = found.filter(({ severity, source }) => severity === "error" && source.path === module);
      expect(errors.map(lineOf)).toContain(line);
      const [wrong, right] = mended[id]!;
      expect(read(module)).toContain(wrong);
      const good = modules.map(
        (path) => [path, path === module ? read(path).replace(wrong, right) : read(path)] as const,
      );
      expect(lines(diagnoseProgram(good))).toEqual([]);
    });
  }
});
