#define THREADS 512
kernel void scan_blocks(global const uint *restrict in, global uint *restrict out, global uint *restrict sums) {
  local uint tree[2 * THREADS];
  int t = get_local_id(0), first = get_group_id(0) * (2 * THREADS);
  tree[t] = in[first + t];
  tree[t + THREADS] = in[first + t + THREADS];
  int stride = 1;
  for (int nodes = THREADS; nodes > 0; nodes >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < nodes) tree[(2 * t + 2) * stride - 1] += tree[(2 * t + 1) * stride - 1];
    stride *= 2;
  }
  if (t == 0) {
    sums[get_group_id(0)] = tree[2 * THREADS - 1];
    tree[2 * THREADS - 1] = 0;
  }
  for (int nodes = 1; nodes <= THREADS; nodes *= 2) {
    stride >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < nodes) {
      int left = (2 * t + 1) * stride - 1, right = (2 * t + 2) * stride - 1;
      uint sum = tree[left];
      tree[left] = tree[right];
      tree[right] += sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[first + t] = tree[t];
  out[first + t + THREADS] = tree[t + THREADS];
}
kernel void scan_add(global uint *restrict out, global const uint *restrict sums) {
  int i = get_group_id(0) * (2 * THREADS) + get_local_id(0);
  out[i] += sums[get_group_id(0)];
  out[i + THREADS] += sums[get_group_id(0)];
}
