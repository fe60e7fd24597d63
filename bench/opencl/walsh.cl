kernel void walsh(int length, global const float *restrict in, global float *restrict out, local float *restrict run) {
  int t = get_local_id(0), threads = get_local_size(0), base = get_group_id(0) * length;
  for (int i = t; i < length; i += threads) run[i] = in[base + i];
  for (int stride = length / 2; stride > 0; stride >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int pair = t; pair < length / 2; pair += threads) {
      int low = pair & (stride - 1), at = ((pair - low) << 1) + low;
      float a = run[at], b = run[at + stride];
      run[at] = a + b;
      run[at + stride] = a - b;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = t; i < length; i += threads) out[base + i] = run[i];
}
