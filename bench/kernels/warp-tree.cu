// Sums of 512 elements; the last warp adds without barriers, as its threads go together
#define BLOCK 256
extern "C" __global__ void warp_tree(const unsigned *__restrict__ in, unsigned *__restrict__ sums) {
  __shared__ volatile unsigned part[BLOCK + 16];
  int t = threadIdx.x, i = blockIdx.x * (2 * BLOCK) + t;
  part[t] = in[i] + in[i + BLOCK];
  __syncthreads();
  for (int half = BLOCK / 2; half >= 32; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t < 32) {
    part[t] += part[t + 16];
    part[t] += part[t + 8];
    part[t] += part[t + 4];
    part[t] += part[t + 2];
    part[t] += part[t + 1];
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}
