// Doubled distances in local memory, over the whole group, stand for the shuffles of its warps
#define BLOCK 256
kernel void warp_scan(global const int *restrict in, global int *restrict out, global int *restrict sums) {
  local int running[2][BLOCK];
  int t = get_local_id(0), at = get_global_id(0), from = 0;
  running[0][t] = in[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < BLOCK; distance <<= 1) {
    running[1 - from][t] = running[from][t] + (t >= distance ? running[from][t - distance] : 0);
    from = 1 - from;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[at] = running[from][t];
  if (t == BLOCK - 1) sums[get_group_id(0)] = running[from][t];
}
