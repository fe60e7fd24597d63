import { readdirSync, readFileSync } from "node:fs";

/*
 * The files of cases/ have one program per line: the checker's result (codes, or ok), that of the reference assembler
 * (GenX_IR 1.0.12504 for SKL: ok, warning, error or crash), and the statements, separated by `;;`. A heading says where
 * the rule is written. The statements go at the end of the kernel below.
 */
export interface Case {
  readonly file: string;
  readonly origin: string;
  /** Sorted; empty if nothing is wrong. */
  readonly codes: readonly string[];
  readonly reference: string;
  readonly statements: string;
}

const folder = new URL("cases/", import.meta.url);

export const caseFiles: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith(".txt"))
  .sort();

export function casesOf(file: string): readonly Case[] {
  let origin = "";
  return readFileSync(new URL(file, folder), "utf8")
    .split("\n")
    .flatMap((line) => {
      if (line.startsWith("# ")) origin = line.slice(2);
      if (line === "" || line.startsWith("#")) return [];
      const [codes, reference, ...rest] = line.split(" | ").map((part) => part.trim());
      const wanted = codes === "ok" ? [] : codes!.split(",").sort();
      return [{ file, origin, codes: wanted, reference: reference!, statements: rest.join(" | ") }];
    });
}

const declarations = `.decl A v_type=G type=ud num_elts=16 align=GRF
.decl B v_type=G type=ud num_elts=16 align=GRF
.decl U v_type=G type=ud num_elts=32 align=GRF
.decl I v_type=G type=d num_elts=16 align=GRF
.decl F v_type=G type=f num_elts=16 align=GRF
.decl D v_type=G type=df num_elts=8 align=GRF
.decl H v_type=G type=hf num_elts=16 align=GRF
.decl W v_type=G type=uw num_elts=16 align=GRF
.decl Y v_type=G type=ub num_elts=32 align=GRF
.decl Q v_type=G type=uq num_elts=16 align=GRF
.decl A1 v_type=G type=ud num_elts=1 align=dword
.decl Q1 v_type=G type=uq num_elts=1 align=qword
.decl R0 v_type=G type=d num_elts=8 alias=<%r0, 0>
.decl X1 v_type=A num_elts=16
.decl X4 v_type=A num_elts=4
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=8
.decl P3 v_type=P num_elts=16
.decl P32 v_type=P num_elts=32
.decl T6 v_type=T num_elts=1
.decl S0 v_type=S num_elts=1`;

/** The whole text of a case. */
export function textOf({ statements }: Case): string {
  const parts = statements.split(" ;; ");
  const isDeclaration = (part: string): boolean => /^\.(?:decl|input|kernel_attr)/.test(part);
  // A program that only declares something has it among the declarations.
  const heads = parts.every(isDeclaration) ? parts : [];
  const body = heads.length > 0 ? [] : parts;
  const lines = body.map((part) => (/^[\w]+:$|^[.{}]/.test(part) ? part : `    ${part}`));
  return `${[
    ".version 3.6",
    '.kernel "k"',
    declarations,
    ...heads,
    ".kernel_attr SimdSize=16",
    '.kernel_attr Target="3d"',
    '.function "k_main"',
    "",
    "k_main:",
    ...lines,
    "    ret (M1, 1)",
  ].join("\n")}\n`;
}
