#define SIDE 16
#define STEPS 2
kernel void ghost_zone(int n, float rate, global const float *restrict in, global float *restrict out) {
  local float now[SIDE][SIDE], next[SIDE][SIDE];
  int tx = get_local_id(0), ty = get_local_id(1), inner = SIDE - 2 * STEPS;
  int x = (int)get_group_id(0) * inner + tx - STEPS, y = (int)get_group_id(1) * inner + ty - STEPS;
  int lastX = min(SIDE - 1, n - 1 - (x - tx)), lastY = min(SIDE - 1, n - 1 - (y - ty));
  int firstX = max(0, -(x - tx)), firstY = max(0, -(y - ty));
  bool isInside = x >= 0 && x < n && y >= 0 && y < n;
  if (isInside) now[ty][tx] = in[y * n + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  int west = max(tx - 1, firstX), east = min(tx + 1, lastX), north = max(ty - 1, firstY), south = min(ty + 1, lastY);
  bool isDone = false;
  for (int step = 0; step < STEPS; ++step) {
    isDone = false;
    if (tx > step && tx < SIDE - 1 - step && ty > step && ty < SIDE - 1 - step && isInside) {
      isDone = true;
      float here = now[ty][tx];
      next[ty][tx] = here + rate * (now[north][tx] + now[south][tx] + now[ty][west] + now[ty][east] - 4.0f * here);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (step == STEPS - 1) break;
    if (isDone) now[ty][tx] = next[ty][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (isDone) out[y * n + x] = next[ty][tx];
}
