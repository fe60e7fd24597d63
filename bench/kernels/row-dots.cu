// Dot products of the rows of two matrices: half a warp takes a row, so that its shuffles are 16 wide
extern "C" __global__ void row_dots(int n, int columns, const float *__restrict__ a, const float *__restrict__ b,
                                    float *__restrict__ dots) {
  int lane = threadIdx.x % 16, row = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
  float sum = 0.0f;
  if (row < n)
    for (int x = lane; x < columns; x += 16) sum += a[row * columns + x] * b[row * columns + x];
  for (int distance = 8; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance, 16);
  if (row < n && lane == 0) dots[row] = sum;
}
