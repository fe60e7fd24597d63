// Prefix sums of runs of 512, through a tree whose words are spread over the banks of shared memory
#define RUN 512
#define AT(i) ((i) + ((i) >> 5))
extern "C" __global__ void padded_scan(const unsigned *__restrict__ in, unsigned *__restrict__ out) {
  __shared__ unsigned tree[AT(RUN)];
  int t = threadIdx.x, base = blockIdx.x * RUN, stride = 1;
  tree[AT(t)] = in[base + t];
  tree[AT(t + RUN / 2)] = in[base + t + RUN / 2];
  for (int nodes = RUN / 2; nodes > 0; nodes >>= 1, stride <<= 1) {
    __syncthreads();
    if (t < nodes) tree[AT((2 * t + 2) * stride - 1)] += tree[AT((2 * t + 1) * stride - 1)];
  }
  if (t == 0) tree[AT(RUN - 1)] = 0;
  for (int nodes = 1; nodes < RUN; nodes <<= 1) {
    stride >>= 1;
    __syncthreads();
    if (t < nodes) {
      int left = AT((2 * t + 1) * stride - 1), right = AT((2 * t + 2) * stride - 1);
      unsigned before = tree[left];
      tree[left] = tree[right];
      tree[right] += before;
    }
  }
  __syncthreads();
  out[base + t] = tree[AT(t)];
  out[base + t + RUN / 2] = tree[AT(t + RUN / 2)];
}
