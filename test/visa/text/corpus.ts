import { type CorpusFile, corpusIn } from "../../corpus.ts";

/** The vISA cases beside the repository, if there are any. */
export const shared = new URL("../../../../shared/visa/", import.meta.url);

export const corpus = (): readonly CorpusFile[] => corpusIn(shared, "asm");

/** A file with some of everything, in case there is no corpus. */
export const sample = `.version 4.2
.kernel "k"
/// VISA Predefined Variables
// .decl V0 v_type=G v_name=%null
.decl V v_type=G type=ud num_elts=16 align=GRF alias=<%r0, 32> attrs={Input, Scope=2, Name="a\\x41\\n"} // a variable
.decl A v_type=A num_elts=8
.decl P v_type=P num_elts=16
.decl T6 v_type=T num_elts=1 v_name=surface
.input V offset=(%sizeof V) size=4 * 8
.implicit_PSEUDO_INPUT V offset=32 size=4
.parameter V size=4
.kernel_attr SimdSize=16
.kernel_attr Target="3d"
.function "main"
main: /* begins */
    (!P.any) add.sat (M3_NM, 8) V(0,0)<2> (-)V(1,0)<8;4,2> r[A(0),-16]<4,1>:ud /// $1
    cmp.lt (M1, 16) P V(0,0)<1;1,0> -1.5:f
    { .decl W v_type=G type=f num_elts=4
      mov (M1_NM, 1) W(0,0)<1> 0x3f800000:f }
    lsc_load.ugm.ca.ca (M1, 16) V:d32x2t bti(V(0,1), 3)[4*V.32+0x10]:a32
    lsc_load_block2d.ugm (M1, 1) V:d8.2x16x8nt flat[V, 0x40, V, V(0,3), V-8, V]
    switchjmp (M1, 1) V(0,0)<0;1,0> (next, "last")

next:
    ifcall.uniform (M1, 16) V(0,0)<0;1,0> 2 1
    goto (M1, 16) next
last:
    ret (M1, 1) \\
// the end
.version 4.1
.global_function f
    fret (M1, 16)
`;
