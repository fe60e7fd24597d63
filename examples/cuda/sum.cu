// Sums 64 numbers, and checks the sum. A barrier is missing in the loop, and the check passes nonetheless.
#include <cstdio>

__global__ void sum(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
  }
  if (t == 0) *out = s[0];
}

int main() {
  int host[64], *in, *out, result = 0;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof result);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 64>>>(in, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  printf("%d%s\n", result, result == 2016 ? "" : ", which is wrong");
  cudaFree(out);
  return result != 2016;
}
