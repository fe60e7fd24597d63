import type { Catalogue } from "../../source/index.ts";
import { kernel, module } from "./example.ts";

/** Catalogue pages of the diagnostics about variables, registers, functions and parameters. */
export const declarationCodes = {
  "variable-type": {
    title: "a variable cannot have this type here",
    page: "Variables have one of the fundamental types (5.2.1). Predicates can only be in registers, arrays never; `.texref`, `.samplerref` and `.surfref` variables are `.global` at module scope; vectors and packed types cannot be `.param`.",
    section: "5.2",
    example: { bad: module(".global .pred g;"), good: module(".global .u8 g;") },
  },
  "variable-space": {
    title: "a variable of this state space cannot be declared here",
    page: "Registers, `.local` and `.param` variables are declared in functions. `.sreg` registers are predefined; `.tex` and constant banks exist only in old versions.",
    section: "5.1",
    example: { bad: module(".reg .u32 r;"), good: module(".global .u32 r;") },
  },
  "variable-linkage": {
    title: "a variable cannot have this linkage",
    page: "`.extern`, `.visible`, `.weak` and `.common` are for variables outside functions, and `.common` only for `.global` ones.",
    section: "11.6",
    example: { bad: module(".common .shared .u32 s;"), good: module(".common .global .u32 g;") },
  },
  alignment: {
    title: "an impossible alignment",
    page: "An alignment must be a power of two, and at most 128 bytes for a parameter.",
    section: "5.4.5",
    example: { bad: module(".global .align 3 .u32 g;"), good: module(".global .align 8 .u32 g;") },
  },
  "vector-type": {
    title: "an impossible vector",
    page: "Variables can be vectors of 2 or 4 elements with at most 128 bits in all. There are no vectors of predicates.",
    section: "5.4.2",
    example: { bad: module(".global .v4 .f64 g;"), good: module(".global .v2 .f64 g;") },
  },
  "array-bound": {
    title: "an impossible array bound",
    page: "An array bound is a positive integer constant. Only the first bound can be left open, if an initializer or another module determines the size.",
    section: "5.4.3",
    example: { bad: module(".global .u32 g[0];"), good: module(".global .u32 g[1];") },
  },
  "incomplete-type": {
    title: "an array without a size",
    page: "An array whose first bound is left open needs an initializer that determines its size, or must be `.extern`. Shared memory whose size is given by the launch is declared `.extern .shared` at module scope.",
    section: "5.4.3",
    example: { bad: module(".shared .u32 s[];"), good: module(".extern .shared .u32 s[];") },
  },
  "initializer-not-allowed": {
    title: "this variable cannot have an initial value",
    page: "Only `.global` and `.const` variables that are defined here can have initial values: other memory does not exist before the kernel runs.",
    section: "5.4.4",
    example: { bad: kernel(".shared .u32 s = 1;"), good: kernel(".global .u32 g = 1;") },
  },
  "initializer-shape": {
    title: "the initial values do not have the variable's shape",
    page: "A list in braces initializes an array or vector, with one level of braces for each bound and at most as many values as there are elements. Missing elements are zero.",
    section: "5.4.4",
    example: { bad: module(".global .u32 g[2] = {1, 2, 3};"), good: module(".global .u32 g[2] = {1, 2};") },
  },
  "initializer-type": {
    title: "the initial value does not fit the variable's type",
    page: "Integers can initialize integer and untyped variables, floating-point constants floating-point and untyped ones, addresses `.u64` and `.u32` ones. Variables of type f16 and f16x2 cannot have initial values.",
    section: "5.4.4",
    example: { bad: module(".global .f32 g = 1;"), good: module(".global .f32 g = 1.0;") },
  },
  "initializer-truncated": {
    title: "the initial value is larger than the variable",
    page: "The value is truncated to the variable's size, which is rarely intended.",
    section: "4.5.1",
    example: { bad: module(".global .u8 g = 256;"), good: module(".global .u8 g = 255;") },
  },
  "initializer-address": {
    title: "this address is not known before the launch",
    page: "The addresses of functions and of `.global` and `.const` variables, with an optional constant offset, are known when a module is loaded and can be initial values; `generic(x)` gives the generic address of a variable.",
    section: "5.4.4",
    example: {
      bad: module(".shared .u32 s;\n.global .u64 g = s;"),
      good: module(".global .u32 s;\n.global .u64 g = generic(s);"),
    },
  },
  "initializer-mask": {
    title: "a mask that does not select one byte, or a variable of the wrong type",
    page: "`0xff00(x)` is one byte of the address of x: a mask is 0xff shifted by a multiple of 8. Masked addresses initialize `.u8` variables.",
    section: "5.4.4",
    example: {
      bad: module(".global .u32 x;\n.global .u8 g[2] = {0xffff(x), 0};"),
      good: module(".global .u32 x;\n.global .u8 g[2] = {0xff(x), 0xff00(x)};"),
    },
  },
  "narrow-initializer": {
    title: "an address in a variable that is too small for it",
    page: "With `.address_size 64` an address has 64 bits; a `.u32` variable holds only the lower half.",
    section: "5.4.4",
    example: {
      bad: module(".global .u32 x;\n.global .u32 g = x;"),
      good: module(".global .u32 x;\n.global .u64 g = x;"),
    },
  },
  "inconsistent-declaration": {
    title: "inconsistent declarations of a variable",
    page: "An `.extern` declaration and the definition must have the same type, size and state space, and the definition must be `.visible`, `.weak` or `.common`.",
    section: "11.6.1",
    example: {
      bad: module(".extern .global .u32 g;\n.visible .global .u64 g;"),
      good: module(".extern .global .u32 g;\n.visible .global .u32 g;"),
    },
  },
  attribute: {
    title: "there is no such attribute here",
    page: "Variables in global memory can be `.managed` or `.unified`, functions can be `.unified`, and kernels have no attributes.",
    section: "5.4.8",
    example: {
      bad: module(".shared .attribute(.managed) .u32 s;"),
      good: module(".global .attribute(.managed) .u32 g;"),
    },
  },
  "inconsistent-prototype": {
    title: "inconsistent declarations of a function",
    page: "All declarations of a function and its definition must agree on the type, size, alignment and state space of the parameters, on the linkage, and on `.noreturn` and `.abi_preserve`. The names of the parameters may differ, and the definition of a `.visible` or `.weak` function need not repeat that word.",
    section: "11.2.2",
    example: {
      bad: module(".func f(.param .b32 a);\n.func f(.param .u32 a) { ret; }"),
      good: module(".func f(.param .b32 a);\n.func f(.param .b32 b) { ret; }"),
    },
  },
  "function-linkage": {
    title: "a function cannot have this linkage",
    page: "A function is `.extern` (defined in another module, without a body here), `.visible` or `.weak`; `.common` is for variables.",
    section: "11.6",
    example: { bad: module(".extern .func f() { ret; }"), good: module(".visible .func f() { ret; }") },
  },
  "function-directive": {
    title: "a directive that the function cannot have",
    page: "Performance-tuning directives such as `.maxntid` and cluster directives are for kernels; `.noreturn` and `.abi_preserve` are for functions, and a `.noreturn` function cannot have return parameters.",
    section: "11.4",
    example: { bad: module(".func f() .maxntid 32 { ret; }"), good: module(".entry f() .maxntid 32 { ret; }") },
  },
  "parameter-name": {
    title: "a parameter without a name",
    page: "The body reads a parameter by its name. `_` is only allowed in a `.callprototype`.",
    section: "11.2.2",
    example: { bad: module(".func f(.param .b32 _) { ret; }"), good: module(".func f(.param .b32 a) { ret; }") },
  },
  "parameter-type": {
    title: "a parameter cannot have this type",
    page: "Parameters in the .param state space are scalars and arrays; those in registers are scalars and vectors. Predicates can only be in registers.",
    section: "5.1.6",
    example: {
      bad: module(".func f(.param .v2 .f32 a) { ret; }"),
      good: module(".func f(.param .align 8 .b8 a[8]) { ret; }"),
    },
  },
  "small-parameter": {
    title: "an integer of fewer than 32 bits cannot be passed",
    page: "The calling convention cannot pass `.u8`, `.s8`, `.u16`, `.s16` and predicates: widen the value to 32 bits, or pass an array of bytes.",
    section: "7.1",
    example: { bad: module(".func f(.param .u16 a) { ret; }"), good: module(".func f(.param .b32 a) { ret; }") },
  },
  "parameter-space": {
    title: "a kernel's parameter is not in the .param state space",
    page: "A launch puts the parameters of a kernel in memory: they are `.param`, and `ld.param` reads them.",
    section: "5.1.6.1",
    example: { bad: module(".entry f(.reg .u32 a) { ret; }"), good: module(".entry f(.param .u32 a) { ret; }") },
  },
  "parameter-pointer": {
    title: ".ptr in the wrong place",
    page: "`.ptr` describes what a kernel's parameter points to: generic, constant, global, local or shared memory, and its alignment.",
    section: "5.1.6.3",
    example: {
      bad: module(".func f(.param .u64 .ptr a) { ret; }"),
      good: module(".entry f(.param .u64 .ptr .global .align 4 a) { ret; }"),
    },
  },
  "parameter-size": {
    title: "a kernel's parameters take too much space",
    page: "A kernel's parameters can take at most 32764 bytes in all from PTX ISA 8.1 on, 4352 before that, and 256 before PTX ISA 1.5.",
    section: "5.1.6.1",
    example: {
      bad: module(".entry f(.param .b8 a[32768]) { ret; }"),
      good: module(".entry f(.param .b8 a[4096]) { ret; }"),
    },
  },
  "unsized-parameter": {
    title: "a parameter without a size in the wrong position",
    page: "Only the last input parameter of a function can be an array without a size. It accepts an array of any size, or no argument.",
    section: "11.2.2",
    example: {
      bad: module(".func f(.param .b8 a[], .param .b32 b) { ret; }"),
      good: module(".func f(.param .b32 b, .param .b8 a[]) { ret; }"),
    },
  },
  "return-parameters": {
    title: "more than one return parameter",
    page: "A function can return one `.param` value. To return several, pack them into an array of bytes.",
    section: "11.2.2",
    example: {
      bad: module(".func (.param .b32 a, .param .b32 b) f() { ret; }"),
      good: module(".func (.param .align 4 .b8 a[8]) f() { st.param.b32 [a], 0; ret; }"),
    },
  },
} satisfies Catalogue;
