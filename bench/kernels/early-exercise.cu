// Values of options that may be exercised early, each by a block that walks a tree back in shared memory
extern "C" __global__ void early_exercise(int steps, float up, float down, float growth, const float *__restrict__ price,
                                          const float *__restrict__ strike, float *__restrict__ value) {
  __shared__ float node[256];
  int t = threadIdx.x;
  float spot = price[blockIdx.x] + growth * (2 * t - steps), worth = strike[blockIdx.x];
  node[t] = fmaxf(worth - spot, 0.0f);
  __syncthreads();
  for (int last = steps; last > 0; --last) {
    float next = 0.0f;
    if (t < last) {
      spot += growth;
      next = fmaxf(up * node[t + 1] + down * node[t], worth - spot);
    }
    __syncthreads();
    if (t < last) node[t] = next;
    __syncthreads();
  }
  if (t == 0) value[blockIdx.x] = node[0];
}
