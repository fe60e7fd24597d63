// C = A B for square matrices whose side is a multiple of the tile's, through tiles in shared memory
#define TILE 16
extern "C" __global__ void matmul_tiled(int n, const float *__restrict__ A, const float *__restrict__ B,
                                        float *__restrict__ C) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += TILE) {
    a[ty][tx] = A[row * n + k0 + tx];
    b[ty][tx] = B[(k0 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}
