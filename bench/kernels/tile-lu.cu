// Factors of many matrices of 16 by 16: a block of 16 threads takes one, a thread a row and a column
#define SIDE 16
extern "C" __global__ void tile_lu(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float tile[SIDE][SIDE];
  int t = threadIdx.x, base = blockIdx.x * SIDE * SIDE;
  for (int y = 0; y < SIDE; ++y) tile[y][t] = in[base + y * SIDE + t];
  __syncthreads();
  for (int k = 0; k < SIDE - 1; ++k) {
    if (t > k) {
      for (int j = 0; j < k; ++j) tile[t][k] -= tile[t][j] * tile[j][k];
      tile[t][k] /= tile[k][k];
    }
    __syncthreads();
    if (t > k)
      for (int j = 0; j <= k; ++j) tile[k + 1][t] -= tile[k + 1][j] * tile[j][t];
    __syncthreads();
  }
  for (int y = 0; y < SIDE; ++y) out[base + y * SIDE + t] = tile[y][t];
}
