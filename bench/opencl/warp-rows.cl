// A tree in local memory for each row stands for the shuffles, and all items of a group reach its barriers
#define BLOCK 256
kernel void warp_rows(int rows, global const int *restrict start, global const int *restrict column,
                      global const float *restrict value, global const float *restrict x, global float *restrict y) {
  local float part[BLOCK];
  int t = get_local_id(0), row = get_global_id(0) >> 5, lane = t & 31;
  float sum = 0;
  if (row < rows)
    for (int k = start[row] + lane; k < start[row + 1]; k += 32) sum += value[k] * x[column[k]];
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = 16; rest > 0; rest >>= 1) {
    if (lane < rest) part[t] += part[t + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < rows && lane == 0) y[row] = part[t];
}
