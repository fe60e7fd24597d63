import { type CorpusFile, corpusIn } from "../../corpus.ts";

/** The folder of the conformance modules beside the repository, which may not exist. */
export const conformance = new URL("../../../../shared/conformance/", import.meta.url);

export const corpus = (): readonly CorpusFile[] => corpusIn(conformance, ".ptx");

/** A module with a bit of everything, for use without the corpus. */
export const sample = `.version 9.0
.target sm_90, debug
.address_size 64
.file 1 "a.cu", 12, 34
.global .align 8 .v2 .f32 table[2][] = {{1.5, -2e3}, {0f3F800000, 0x10}}; // values
.visible .func (.param .b32 r) f(.param .b64 a, .param .align 4 .b8 b[12]) .noreturn;
.visible .entry k(.param .u64 .ptr .global .align 8 p /* pointer */)
.maxntid 32, 1, 1
{
  .reg .pred p<3>; .reg .b32 a, b;
  .loc 1 2 3, function_name L0+4, inlined_at 1 2 3
L: @!p0 ld.global.L1::evict_last.v2.u32 {a, _}, [p+4];
  setp.eq.and.u32 p1|p2, a, (1 + 2) * 3, !p0;
  { .param .b32 x; call (x), f, (a, b), proto; }
T: .branchtargets L, N<3>;
proto: .callprototype (.param .b32 _) _ (.param .b64 _);
  .pragma "nounroll";
  bra.uni L;
}
.section .debug_str { L0: .b8 1, 2
 .b32 L0-L1 }
@@DWARF .byte 0x2b
`;
