// C = A B for square matrices: one thread an element, everything from global memory
extern "C" __global__ void matmul_naive(int n, const float *__restrict__ A, const float *__restrict__ B,
                                        float *__restrict__ C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
  C[row * n + col] = sum;
}
