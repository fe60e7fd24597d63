// The sum of integers: threads stride through the input, warps add by shuffles, blocks by an atomic
__device__ static unsigned warpSum(unsigned v) {
  for (int half = 16; half > 0; half >>= 1) v += __shfl_down_sync(0xffffffffu, v, half);
  return v;
}
extern "C" __global__ void reduce_shuffle(int n, const unsigned *__restrict__ in, unsigned *__restrict__ sum) {
  __shared__ unsigned part[32];
  unsigned v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warpSum(v);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp > 0) return;
  v = warpSum(lane < blockDim.x / 32 ? part[lane] : 0);
  if (lane == 0) atomicAdd(sum, v);
}
