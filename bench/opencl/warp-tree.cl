// OpenCL 1.2 promises no warps: the last steps have barriers, too
#define BLOCK 256
kernel void warp_tree(global const uint *restrict in, global uint *restrict sums) {
  local uint part[BLOCK];
  int t = get_local_id(0), i = get_group_id(0) * (2 * BLOCK) + t;
  part[t] = in[i] + in[i + BLOCK];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = BLOCK / 2; rest > 0; rest >>= 1) {
    if (t < rest) part[t] += part[t + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) sums[get_group_id(0)] = part[0];
}
