// Running sums within blocks of 256: of warps by shuffles, then of the warps' sums
extern "C" __global__ void warp_scan(const int *__restrict__ in, int *__restrict__ out, int *__restrict__ sums) {
  __shared__ int warps[8];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5, at = blockIdx.x * blockDim.x + t;
  int sum = in[at];
  for (int distance = 1; distance < 32; distance <<= 1) {
    int before = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += before;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  if (warp == 0 && lane < 8) {
    int total = warps[lane];
    for (int distance = 1; distance < 8; distance <<= 1) {
      int before = __shfl_up_sync(0xff, total, distance);
      if (lane >= distance) total += before;
    }
    warps[lane] = total;
  }
  __syncthreads();
  if (warp > 0) sum += warps[warp - 1];
  out[at] = sum;
  if (t == blockDim.x - 1) sums[blockIdx.x] = sum;
}
