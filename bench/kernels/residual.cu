// A step of Jacobi's method with the sum of its changes: warps add by shuffles, in blocks 16 wide
extern "C" __global__ void residual(int n, const float *__restrict__ in, float *__restrict__ out, float *sums) {
  __shared__ float part[8];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, t = threadIdx.y * 16 + threadIdx.x;
  float change = 0.0f;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
    float here = in[y * n + x];
    float mean = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
    out[y * n + x] = mean;
    change = (mean - here) * (mean - here);
  }
  for (int distance = 16; distance > 0; distance /= 2) change += __shfl_xor_sync(0xffffffff, change, distance);
  if (t % 32 == 0) part[t / 32] = change;
  __syncthreads();
  if (t == 0) {
    float sum = 0.0f;
    for (int warp = 0; warp < 8; ++warp) sum += part[warp];
    sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
  }
}
