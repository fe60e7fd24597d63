// Which lanes begin a function, for calls of several kinds: node examples/call-masks.mjs
import { Device } from "lanewise";

const calls = [
  "ifcall (M1, 16)",
  "(P1) ifcall (M1, 16)",
  "(!P1) ifcall (M1, 16)",
  "(P1.any) ifcall (M1, 16)",
  "(P1.all) ifcall (M1, 16)",
  "(!P1.any) ifcall (M1, 16)",
  "(!P1.all) ifcall (M1, 16)",
  "(P1) ifcall (M1, 8)",
  "(P1) ifcall (M3, 8)",
  "(P1.any) ifcall (M3, 8)",
  "ifcall (M1_NM, 16)",
  "ifcall (M1_NM, 1)",
  "(P1) ifcall (M1_NM, 1)",
  "(P1) ifcall (M3_NM, 1)",
  "(P1) ifcall (M4_NM, 1)",
];
const active = 0b0000_0011_1111_1111;
const predicate = 0b1111_0000_0101_0101;

/**
 * A kernel in which the active lanes come to the call, of a function that writes 1 into %retval in the lanes that it
 * has.
 */
const program = (call) => `.version 3.6
.kernel "k"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl F v_type=G type=ud num_elts=1 align=GRF
.decl MARKS v_type=G type=ud num_elts=16 align=GRF alias=<%retval, 0>
.decl P1 v_type=P num_elts=16
.decl ACTIVE v_type=P num_elts=16
.input OUT offset=32 size=8
.kernel_attr SimdSize=16
.function "k_main"
k_main:
    faddr mark F(0,0)<1>
    mov (M1_NM, 16) MARKS(0,0)<1> 0:ud
    setp (M1_NM, 16) ACTIVE ${active}:ud
    setp (M1_NM, 16) P1 ${predicate}:ud
    (!ACTIVE) goto (M1, 16) over
    ${call} F(0,0)<0;1,0> 0 2
over:
    svm_block_st (4) OUT(0,0)<0;1,0> MARKS.0
    ret (M1, 1)
.global_function "mark"
.decl MARKS v_type=G type=ud num_elts=16 align=GRF alias=<%retval, 0>
.kernel_attr SimdSize=16
.kernel_attr ArgSize=0
.kernel_attr RetValSize=2
.function "mark_main"
mark_main:
    mov (M1, 16) MARKS(0,0)<1> 1:ud
    fret (M1, 16)
`;

const device = new Device();
const width = Math.max(...calls.map((call) => call.length));
const line = (name, marks) => console.log(`${name.padEnd(width)}  ${marks.map((mark) => (mark ? "#" : ".")).join("")}`);
const bits = (mask) => Array.from({ length: 16 }, (_, lane) => (mask >>> lane) & 1);

console.log(`${"lane".padEnd(width)}  0123456789012345`);
line("active", bits(active));
line("P1", bits(predicate));
console.log();
for (const call of calls) {
  const out = device.buffer("u32", 16);
  const inputs = [{ name: "OUT", kind: "arg", type: "u64" }];
  const kernel = device.load({ path: "call.isaasm", text: program(call) }, { inputs }).kernel("k");
  kernel.launch({ global: 16, local: 16, args: [out] });
  line(call, [...out.read()]);
}
