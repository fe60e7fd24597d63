// Costs of the cheapest paths down a grid: eight rows a launch, with clamped neighbours and a halo of eight columns
#define BLOCK 256
#define ROWS 8
extern "C" __global__ void cheapest_path(int columns, int first, const int *__restrict__ cost, const int *__restrict__ from,
                                         int *__restrict__ to) {
  __shared__ int before[BLOCK], after[BLOCK];
  int t = threadIdx.x, start = blockIdx.x * (BLOCK - 2 * ROWS) - ROWS, x = start + t;
  int lowest = max(0, -start), highest = min(BLOCK - 1, columns - 1 - start);
  int left = max(t - 1, lowest), right = min(t + 1, highest);
  bool isInside = t >= lowest && t <= highest, isDone = false;
  if (isInside) before[t] = from[x];
  __syncthreads();
  for (int row = 0; row < ROWS; ++row) {
    isDone = false;
    if (t > row && t < BLOCK - 1 - row && isInside) {
      isDone = true;
      after[t] = cost[(first + row) * columns + x] + min(before[t], min(before[left], before[right]));
    }
    __syncthreads();
    if (row == ROWS - 1) break;
    if (isDone) before[t] = after[t];
    __syncthreads();
  }
  if (t >= ROWS && t < BLOCK - ROWS && isDone) to[x] = after[t];
}
