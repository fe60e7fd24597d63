// Two sub-groups of 8 multiply the same matrix A, of which each has half, by matrices of their own. Compiled by ocloc for
// DG2: IGC_ShaderDumpEnable=1 ocloc compile -file multiply.cl -device dg2 --format zebin
int8 __builtin_IB_sub_group_idpasw_s8_s8_8_8(int8 acc, int4 a, int8 b);

__attribute__((intel_reqd_sub_group_size(8))) __attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void multiply(__global const uint* a, __global const uint* b, __global int* c) {
  int lane = get_sub_group_local_id();
  int half_ = get_sub_group_id() & 1;
  __global const uint* ma = a + half_ * 32;
  __global const uint* mb = b + half_ * 64;
  int4 mine = (int4)(ma[lane], ma[8 + lane], ma[16 + lane], ma[24 + lane]);
  int8 col = (int8)(mb[lane], mb[8 + lane], mb[16 + lane], mb[24 + lane], mb[32 + lane], mb[40 + lane], mb[48 + lane],
                    mb[56 + lane]);
  int8 acc = (int8)(1);
  for (int i = 0; i < 3; i++) {
    acc = __builtin_IB_sub_group_idpasw_s8_s8_8_8(acc, mine, col);
    mine = mine + (int4)(i);
  }
  __global int* out = c + half_ * 64;
  out[lane] = acc.s0, out[8 + lane] = acc.s1, out[16 + lane] = acc.s2, out[24 + lane] = acc.s3;
  out[32 + lane] = acc.s4, out[40 + lane] = acc.s5, out[48 + lane] = acc.s6, out[56 + lane] = acc.s7;
}
