// Sums of rows of 16, by shuffles within blocks that are 16 wide
extern "C" __global__ void row_sums(const unsigned *__restrict__ in, unsigned *__restrict__ sums) {
  int row = blockIdx.x * 16 + threadIdx.y;
  unsigned sum = in[row * 16 + threadIdx.x];
  for (int distance = 8; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance, 16);
  if (threadIdx.x == 0) sums[row] = sum;
}
