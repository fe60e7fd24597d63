#define BLOCK 256
#define REACH 4
kernel void two_halos(int n, global const float *restrict u, global const float *restrict v,
                      global float *restrict out) {
  local float su[BLOCK + 2 * REACH], sv[BLOCK + 2 * REACH];
  int t = get_local_id(0), i = get_global_id(0);
  su[t + REACH] = u[i];
  sv[t + REACH] = v[i];
  if (t < REACH) {
    su[t] = i >= REACH ? u[i - REACH] : 0.0f;
    sv[t] = i >= REACH ? v[i - REACH] : 0.0f;
    su[t + BLOCK + REACH] = i + BLOCK < n ? u[i + BLOCK] : 0.0f;
    sv[t + BLOCK + REACH] = i + BLOCK < n ? v[i + BLOCK] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int d = -REACH; d <= REACH; ++d) sum += su[t + REACH + d] * sv[t + REACH - d];
  out[i] = sum;
}
