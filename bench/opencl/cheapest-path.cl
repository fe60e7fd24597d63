#define BLOCK 256
#define ROWS 8
kernel void cheapest_path(int columns, int first, global const int *restrict cost, global const int *restrict from,
                          global int *restrict to) {
  local int before[BLOCK], after[BLOCK];
  int t = get_local_id(0), start = (int)get_group_id(0) * (BLOCK - 2 * ROWS) - ROWS, x = start + t;
  int lowest = max(0, -start), highest = min(BLOCK - 1, columns - 1 - start);
  int left = max(t - 1, lowest), right = min(t + 1, highest);
  bool isInside = t >= lowest && t <= highest, isDone = false;
  if (isInside) before[t] = from[x];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = 0; row < ROWS; ++row) {
    isDone = false;
    if (t > row && t < BLOCK - 1 - row && isInside) {
      isDone = true;
      after[t] = cost[(first + row) * columns + x] + min(before[t], min(before[left], before[right]));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row == ROWS - 1) break;
    if (isDone) before[t] = after[t];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t >= ROWS && t < BLOCK - ROWS && isDone) to[x] = after[t];
}
