#define RUN 512
#define AT(i) ((i) + ((i) >> 5))
kernel void padded_scan(global const uint *restrict in, global uint *restrict out) {
  local uint tree[AT(RUN)];
  int t = get_local_id(0), base = get_group_id(0) * RUN, stride = 1;
  tree[AT(t)] = in[base + t];
  tree[AT(t + RUN / 2)] = in[base + t + RUN / 2];
  for (int nodes = RUN / 2; nodes > 0; nodes >>= 1, stride <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < nodes) tree[AT((2 * t + 2) * stride - 1)] += tree[AT((2 * t + 1) * stride - 1)];
  }
  if (t == 0) tree[AT(RUN - 1)] = 0;
  for (int nodes = 1; nodes < RUN; nodes <<= 1) {
    stride >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < nodes) {
      int left = AT((2 * t + 1) * stride - 1), right = AT((2 * t + 2) * stride - 1);
      uint before = tree[left];
      tree[left] = tree[right];
      tree[right] += before;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + t] = tree[AT(t)];
  out[base + t + RUN / 2] = tree[AT(t + RUN / 2)];
}
