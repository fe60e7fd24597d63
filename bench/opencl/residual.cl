// A tree in local memory over the whole group stands for the shuffles of its warps
#define THREADS 256
kernel void residual(int n, global const float *restrict in, global float *restrict out, global float *sums) {
  local float part[THREADS];
  int x = get_global_id(0), y = get_global_id(1), t = get_local_id(1) * 16 + get_local_id(0);
  float change = 0.0f;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
    float here = in[y * n + x];
    float mean = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
    out[y * n + x] = mean;
    change = (mean - here) * (mean - here);
  }
  part[t] = change;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = THREADS / 2; rest > 0; rest >>= 1) {
    if (t < rest) part[t] += part[t + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) sums[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = part[0];
}
