// Sums of blocks, with two mistakes.
#include <cstdio>

__global__ void reduce(const float* in, float* out, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i <= n ? in[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

int main() {
  const int n = 1000;
  float *in, *out;
  cudaMallocManaged(&in, n * sizeof(float));
  cudaMallocManaged(&out, 4 * sizeof(float));
  for (int i = 0; i < n; i++) in[i] = i;
  reduce<<<4, 256>>>(in, out, n);
  cudaDeviceSynchronize();
  for (int b = 0; b < 4; b++) std::printf("%g\n", out[b]);
}
