#define LENGTH 64
kernel void local_alignment(global const uchar *restrict a, global const uchar *restrict b,
                            global int *restrict best) {
  local int score[3][LENGTH + 1], highest[LENGTH];
  local uchar other[LENGTH];
  int t = get_local_id(0), pair = get_group_id(0), most = 0;
  uchar letter = a[pair * LENGTH + t];
  other[t] = b[pair * LENGTH + t];
  for (int row = 0; row < 3; ++row) {
    score[row][t + 1] = 0;
    if (t == 0) score[row][0] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int diagonal = 0; diagonal < 2 * LENGTH - 1; ++diagonal) {
    local int *now = score[diagonal % 3], *before = score[(diagonal + 2) % 3], *earlier = score[(diagonal + 1) % 3];
    int x = diagonal - t;
    if (x >= 0 && x < LENGTH) {
      int match = earlier[t] + (letter == other[x] ? 3 : -1);
      now[t + 1] = max(max(match, 0), max(before[t], before[t + 1]) - 2);
      most = max(most, now[t + 1]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  highest[t] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = LENGTH / 2; rest > 0; rest >>= 1) {
    if (t < rest) highest[t] = max(highest[t], highest[t + rest]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) best[pair] = highest[0];
}
