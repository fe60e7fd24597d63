// Hadamard transforms of tiles of 4 by 4, each by a block of 16 threads
extern "C" __global__ void small_blocks(int n, const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int rows[4][4], both[4][4];
  int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 4 + y) * n + blockIdx.x * 4 + x;
  rows[y][x] = in[at];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 4; ++k) sum += (__popc(k & x) & 1) ? -rows[y][k] : rows[y][k];
  both[y][x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 4; ++k) sum += (__popc(k & y) & 1) ? -both[k][x] : both[k][x];
  out[at] = sum;
}
