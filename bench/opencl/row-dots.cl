// A tree in local memory for each row stands for the shuffles
#define BLOCK 128
kernel void row_dots(int n, int columns, global const float *restrict a, global const float *restrict b,
                     global float *restrict dots) {
  local float part[BLOCK];
  int t = get_local_id(0), lane = t % 16, row = get_global_id(0) / 16;
  float sum = 0.0f;
  if (row < n)
    for (int x = lane; x < columns; x += 16) sum += a[row * columns + x] * b[row * columns + x];
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = 8; rest > 0; rest >>= 1) {
    if (lane < rest) part[t] += part[t + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < n && lane == 0) dots[row] = part[t];
}
