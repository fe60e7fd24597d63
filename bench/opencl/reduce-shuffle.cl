// OpenCL 1.2 has no shuffles: a tree in local memory stands for those of the warps
kernel void reduce_shuffle(int n, global const uint *restrict in, global uint *restrict sum) {
  local uint part[256];
  uint v = 0;
  int t = get_local_id(0);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) v += in[i];
  part[t] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = 128; rest > 0; rest >>= 1) {
    if (t < rest) part[t] += part[t + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) atomic_add(sum, part[0]);
}
