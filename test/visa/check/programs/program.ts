/*
 * A kernel that calls a function with the lanes below 5, and the function. Each `@slot` begins one or more lines that a
 * case replaces; the default follows it.
 */
const kernel = `@version .version 3.6
@name .kernel "k"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl ID v_type=G type=ud num_elts=16 align=GRF
.decl LA v_type=G type=uq num_elts=16 align=GRF
.decl ARG v_type=G type=ud num_elts=256 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=ud num_elts=96 align=GRF alias=<%retval, 0>
@F .decl F v_type=G type=ud num_elts=8 align=GRF
.decl FD v_type=G type=d num_elts=8 align=GRF alias=<F, 0>
.decl FF v_type=G type=f num_elts=8 align=GRF alias=<F, 0>
.decl FB v_type=G type=ub num_elts=32 align=GRF alias=<F, 0>
.decl Q v_type=G type=uq num_elts=4 align=GRF
.decl FQ v_type=G type=q num_elts=4 align=GRF alias=<Q, 0>
.decl U v_type=G type=ud num_elts=16 align=GRF
.decl R v_type=G type=ud num_elts=16 align=GRF
.decl X v_type=G type=ud num_elts=16 align=GRF
.decl A0 v_type=A num_elts=4
@P1 .decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl P3 v_type=P num_elts=16
.decl P8 v_type=P num_elts=8
.decl T6 v_type=T num_elts=1
@decl
.input OUT offset=32 size=8
@input .input ID offset=64 size=64
@attr .kernel_attr SimdSize=16
@target .kernel_attr Target="3d"
.function "k_main"
k_main:
    mov (M1_NM, 8) LA(0,0)<1> ID(0,0)<1;1,0>
    shl (M1_NM, 8) LA(0,0)<1> LA(0,0)<1;1,0> 0x2:ud
    add (M1_NM, 8) LA(0,0)<1> LA(0,0)<1;1,0> OUT(0,0)<0;1,0>
    mov (M1_NM, 8) LA(2,0)<1> ID(1,0)<1;1,0>
    shl (M1_NM, 8) LA(2,0)<1> LA(2,0)<1;1,0> 0x2:ud
    add (M1_NM, 8) LA(2,0)<1> LA(2,0)<1;1,0> OUT(0,0)<0;1,0>
    svm_gather.4.1 (M1, 16) LA.0 U.0
@faddr faddr f_add F(0,0)<1>
    mov (M1, 16) R(0,0)<1> 7:ud
    cmp.lt (M1, 16) P1 ID(0,0)<1;1,0> 5:ud
    mov (M1, 16) ARG(0,0)<1> ID(0,0)<1;1,0>
@call (P1) ifcall (M1, 16) F(0,0)<0;1,0> 2 2
    (P1) mov (M1, 16) R(0,0)<1> RET(0,0)<1;1,0>
done:
    svm_scatter.4.1 (M1, 16) LA.0 R.0
@ret ret (M1, 1)
.function "known"
known:
within:
    mov (M1, 16) R(0,0)<1> 8:ud
@within
    ret (M1, 16)
@sub
`;
const callee = `.version 3.6
@f.name .global_function "f_add"
.decl ARG v_type=G type=ud num_elts=256 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=ud num_elts=96 align=GRF alias=<%retval, 0>
.decl X v_type=G type=ud num_elts=16 align=GRF
.decl F v_type=G type=ud num_elts=8 align=GRF
.decl P1 v_type=P num_elts=16
@f.decl
.kernel_attr SimdSize=16
.kernel_attr Extern
@f.attr .kernel_attr ArgSize=2 ;; .kernel_attr RetValSize=2
.kernel_attr Target="3d"
.function "f_add_0"

f_add_0:
    cmp.lt (M1, 16) P1 ARG(0,0)<1;1,0> 3:ud
    add (M1, 16) RET(0,0)<1> ARG(0,0)<1;1,0> 100:ud
@f.ret fret (M1, 16)
@f.sub
`;

/** Statements separated by `;;`. The one with the defect has a `!` before it; if none has, it is the first. */
export interface Edit {
  readonly slot: string;
  readonly statements: string;
}

export interface EditedProgram {
  /** Pairs of path and text. */
  readonly files: readonly (readonly [string, string])[];
  readonly path: string;
  /** The line of the statement with the defect. */
  readonly line: number;
}

export function edited(edit: Edit): EditedProgram {
  const inCallee = edit.slot.startsWith("f.");
  let line = 0;
  const text = (template: string): string => {
    const lines: string[] = [];
    for (const row of template.trimEnd().split("\n")) {
      const [, slot, rest] = /^@([\w.]+) ?(.*)$/.exec(row) ?? [];
      const statements = slot === undefined ? row : slot === edit.slot ? edit.statements : rest!;
      const first = lines.length + 1;
      for (const statement of slot === undefined
        ? [row]
        : statements.split(" ;; ").filter((s) => s !== "" && s !== "-")) {
        const marked = statement.startsWith("! ");
        lines.push(slot === undefined ? row : placed(marked ? statement.slice(2) : statement));
        if (marked) line = lines.length;
      }
      if (slot === edit.slot && line === 0) line = first;
    }
    return `${lines.join("\n")}\n`;
  };
  const files = [
    ["k.visaasm", text(kernel)],
    ["f_add.visaasm", text(callee)],
  ] as const;
  return { files, path: files[inCallee ? 1 : 0][0], line };
}

/** Directives and labels begin the line, and a line after `\` is kept as it is. */
const placed = (statement: string): string =>
  statement.startsWith("\\") ? statement.slice(1) : /^\.|^\w+:$/.test(statement) ? statement : `    ${statement}`;
