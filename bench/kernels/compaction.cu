// The positive numbers of an array, in their order: places within blocks, then where blocks begin, then the moves
#define BLOCK 256
#define MOST_BLOCKS 1024

// The sum of what the threads before this one have, by doubling distances; `all` is the sum over the block.
template <int SIZE> __device__ int sum_before(int value, int &all) {
  __shared__ int sums[2][SIZE];
  int t = threadIdx.x, from = 0;
  sums[0][t] = value;
  __syncthreads();
  for (int distance = 1; distance < SIZE; distance *= 2) {
    sums[1 - from][t] = sums[from][t] + (t >= distance ? sums[from][t - distance] : 0);
    from = 1 - from;
    __syncthreads();
  }
  all = sums[from][SIZE - 1];
  return sums[from][t] - value;
}

extern "C" __global__ void places(int n, const int *__restrict__ in, int *__restrict__ place, int *__restrict__ sums) {
  int i = blockIdx.x * BLOCK + threadIdx.x, all;
  int before = sum_before<BLOCK>(i < n && in[i] > 0, all);
  if (i < n) place[i] = before;
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

extern "C" __global__ void starts(int blocks, int *__restrict__ sums, int *__restrict__ count) {
  int t = threadIdx.x, all;
  int before = sum_before<MOST_BLOCKS>(t < blocks ? sums[t] : 0, all);
  if (t < blocks) sums[t] = before;
  if (t == 0) *count = all;
}

extern "C" __global__ void scatter(int n, const int *__restrict__ in, const int *__restrict__ place,
                                   const int *__restrict__ sums, int *__restrict__ out) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n && in[i] > 0) out[sums[blockIdx.x] + place[i]] = in[i];
}
