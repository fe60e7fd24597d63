// The sums of runs of 512 elements, each by a block of 256 threads through a tree in shared memory
#define BLOCK 256
extern "C" __global__ void reduce_tree(int n, const float *__restrict__ in, float *__restrict__ sums) {
  __shared__ float part[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * (2 * BLOCK) + t;
  part[t] = (i < n ? in[i] : 0.0f) + (i + BLOCK < n ? in[i + BLOCK] : 0.0f);
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}
