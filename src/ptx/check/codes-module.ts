import type { Catalogue } from "../../source/index.ts";
import { kernel, module } from "./example.ts";

/** Catalogue pages of the diagnostics about a module's header and about names. */
export const moduleCodes = {
  "missing-version": {
    title: "the module does not begin with .version",
    page: "The first directive of a module is `.version`. It determines how the rest is read: which instructions exist, and what some of them mean.",
    section: "11.1.1",
    example: { bad: ".target sm_90\n", good: ".version 9.0\n.target sm_90\n" },
  },
  "unknown-version": {
    title: "there is no such PTX ISA version",
    page: "PTX ISA versions are 1.0 to 1.5, 2.0 to 2.3, 3.0 to 3.2, 4.0 to 4.3, 5.0, 6.0 to 6.5, 7.0 to 7.8, 8.0 to 8.8, 9.0 and later ones. Others were never published.",
    section: "13",
    example: { bad: ".version 5.9\n.target sm_60\n", good: ".version 5.0\n.target sm_60\n" },
  },
  "newer-version": {
    title: "something is unknown, and the PTX ISA version is newer than this program knows",
    page: "Versions 9.2 and later have been published after the manual that this program follows. Their modules are read like those of version 9.1, without a word if they use nothing newer. If something in them is unknown, this warning says that the newer version may have added it.",
    section: "11.1.1",
    example: {
      bad: ".version 9.3\n.target sm_90\n.address_size 64\n.entry k() { sparkle.b32; ret; }\n",
      good: ".version 9.3\n.target sm_90\n.address_size 64\n.entry k() { ret; }\n",
    },
  },
  "missing-target": {
    title: ".version is not followed by .target",
    page: "The second directive of a module is `.target`, which names the architecture whose features the module may use.",
    section: "11.1.2",
    example: { bad: ".version 9.0\n.address_size 64\n", good: ".version 9.0\n.target sm_90\n.address_size 64\n" },
  },
  "unknown-target": {
    title: "an unknown target, or targets that exclude each other",
    page: "A `.target` names one architecture, as in sm_90, sm_90a or sm_100f, and options: texmode_unified or texmode_independent, debug, and map_f64_to_f32 on sm_10 to sm_12.",
    section: "11.1.2",
    example: { bad: ".version 9.0\n.target sm_999\n", good: ".version 9.0\n.target sm_90\n" },
  },
  "address-size": {
    title: "addresses must have 32 or 64 bits",
    page: "`.address_size` is 32 or 64. Without it addresses have 32 bits.",
    section: "11.1.3",
    example: { bad: ".version 9.0\n.target sm_90\n.address_size 48\n", good: module("") },
  },
  "misplaced-directive": {
    title: "a misplaced directive",
    page: "`.version`, `.target` and `.address_size` begin a module, in this order; `.file` and `.section` are only allowed outside functions.",
    section: "11.1",
    example: { bad: module(".global .u32 g;\n.address_size 64"), good: module(".global .u32 g;") },
  },
  "file-index": {
    title: "a .loc of an unknown file, or a file number used twice",
    page: "`.loc` refers to a source file by the number that a `.file` directive of the module gave it. Debuggers and reports cannot show positions in a file without a name.",
    section: "11.5.4",
    example: { bad: module('.file 1 "a.cu"\n.file 1 "b.cu"'), good: module('.file 1 "a.cu"\n.file 2 "b.cu"') },
  },
  "unknown-name": {
    title: "no such name in scope",
    page: "Registers, variables, functions, prototypes and lists of targets must be declared before they are used. A block in braces is a scope: what it declares, labels included, is unknown outside it. `.reg .u32 r<4>;` declares r0 to r3, but not r4.",
    section: "9.7.12.1",
    example: { bad: kernel("mov.u32 a, c;"), good: kernel("mov.u32 a, b;") },
  },
  "duplicate-name": {
    title: "the name is already declared in this scope",
    page: "Within one scope a name means one thing, be it a register, a variable, a parameter, a function or a label. An inner block may declare the name again.",
    section: "5.4",
    example: { bad: kernel(".reg .u32 a;"), good: kernel("{ .reg .u32 a; }") },
  },
  "unknown-component": {
    title: "the register has no such component",
    page: "`.x .y .z .w`, or `.r .g .b .a`, select the elements of a vector register or special register.",
    section: "6.4.3",
    example: { bad: kernel("mov.u32 a, b.x;"), good: kernel("mov.u32 a, %tid.x;") },
  },
  "not-a-label": {
    title: "the target of a branch is not a label",
    page: "The target of `bra`, and the names in a `.branchtargets`, must be labels in the same function, in the same block or an enclosing one.",
    section: "9.7.12.3",
    example: { bad: kernel("bra a;"), good: kernel("bra L;\nL:") },
  },
  "constant-expression": {
    title: "a constant expression without a value",
    page: "Constant expressions are evaluated in 64 bits, on integers or on floating-point values, but never on both; only integers can be complemented, shifted, taken modulo or used as a condition; and division by zero is an error.",
    section: "4.5.4",
    example: { bad: module(".global .u32 g = 1 / 0;"), good: module(".global .u32 g = 1 / 2;") },
  },
} satisfies Catalogue;
