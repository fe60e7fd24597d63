#define BLOCK 256
kernel void reduce_tree(int n, global const float *restrict in, global float *restrict sums) {
  local float part[BLOCK];
  int t = get_local_id(0), i = get_group_id(0) * (2 * BLOCK) + t;
  part[t] = (i < n ? in[i] : 0.0f) + (i + BLOCK < n ? in[i + BLOCK] : 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = BLOCK / 2; rest > 0; rest >>= 1) {
    if (t < rest) part[t] += part[t + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) sums[get_group_id(0)] = part[0];
}
