// A sparse matrix in compressed rows times a vector, a warp for each row
extern "C" __global__ void warp_rows(int rows, const int *__restrict__ start, const int *__restrict__ column,
                                     const float *__restrict__ value, const float *__restrict__ x,
                                     float *__restrict__ y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float sum = 0;
  for (int k = start[row] + lane; k < start[row + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int distance = 16; distance > 0; distance >>= 1) sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (lane == 0) y[row] = sum;
}
