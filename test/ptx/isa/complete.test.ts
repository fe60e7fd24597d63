import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { instructionSet } from "../../../src/ptx/isa/index.ts";

/**
 * The instructions of chapter 9, from the headings of its sections. `{}` and `@` (9.7.12.1, 9.7.12.2) are left out as
 * syntax, rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 as forms of rcp and rsqrt.
 */
const names: Readonly<Record<string, string>> = {
  "9.7.1": `add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk dp4a dp2a`,
  "9.7.2": `add.cc addc sub.cc subc mad.cc madc`,
  "9.7.3": `testp copysign add sub mul fma mad div abs neg min max rcp sqrt rsqrt sin cos lg2 ex2 tanh`,
  "9.7.4": `add sub mul fma neg abs min max tanh ex2`,
  "9.7.5": `add sub fma`,
  "9.7.6": `set setp selp slct`,
  "9.7.7": `set setp`,
  "9.7.8": `and or xor not cnot lop3 shf shl shr`,
  "9.7.9": `mov shfl shfl.sync prmt ld ld.global.nc ldu st st.async st.bulk multimem.ld_reduce multimem.st multimem.red
    prefetch prefetchu applypriority discard createpolicy isspacep cvta cvt cvt.pack mapa getctarank
    cp.async cp.async.commit_group cp.async.wait_group cp.async.wait_all cp.async.bulk cp.reduce.async.bulk
    cp.async.bulk.prefetch multimem.cp.async.bulk multimem.cp.reduce.async.bulk cp.async.bulk.tensor
    cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor cp.async.bulk.commit_group cp.async.bulk.wait_group
    tensormap.replace`,
  "9.7.10": `tex tld4 txq istypep`,
  "9.7.11": `suld sust sured suq`,
  "9.7.12": `bra brx.idx call ret exit`,
  "9.7.13": `bar barrier bar.warp.sync barrier.cluster membar fence atom red red.async vote vote.sync match.sync activemask
    redux.sync griddepcontrol elect.sync mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx
    mbarrier.arrive mbarrier.arrive_drop cp.async.mbarrier.arrive mbarrier.test_wait mbarrier.try_wait
    mbarrier.pending_count tensormap.cp_fenceproxy clusterlaunchcontrol.try_cancel clusterlaunchcontrol.query_cancel`,
  "9.7.14": `wmma.load wmma.store wmma.mma mma ldmatrix stmatrix movmatrix mma.sp`,
  "9.7.15": `wgmma.mma_async wgmma.mma_async.sp wgmma.fence wgmma.commit_group wgmma.wait_group`,
  "9.7.16": `tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.st tcgen05.wait tcgen05.cp
    tcgen05.shift tcgen05.mma tcgen05.mma.sp tcgen05.mma.ws tcgen05.mma.ws.sp tcgen05.fence tcgen05.commit`,
  "9.7.17": `stacksave stackrestore alloca`,
  "9.7.18": `vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2
    vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4`,
  "9.7.19": `brkpt nanosleep pmevent trap setmaxnreg`,
};

test.each(Object.entries(names))("section %s has all its instructions", (section, text) => {
  const there = instructionSet.instructions.filter((i) => i.section.startsWith(`${section}.`)).map((i) => i.name);
  const wanted = text.split(/\s+/);
  expect(wanted.filter((name) => !there.includes(name))).toEqual([]);
  expect(there.filter((name) => !wanted.includes(name))).toEqual([]);
});

test("the opcodes of the manual's examples resolve, except for its mistakes", () => {
  const lines = readFileSync(new URL("opcodes.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const wrong = lines.flatMap((line) => {
    const isSlip = line.startsWith("! ");
    const opcodes = line.replace(/^! /, "").split(" ");
    return opcodes.filter((opcode) => (instructionSet.resolve(opcode).problem !== null) !== isSlip);
  });
  expect(lines.length).toBeGreaterThan(200);
  expect(wrong).toEqual([]);
});
