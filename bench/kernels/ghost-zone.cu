// Two steps of diffusion a launch: a tile shrinks by its border in each step, and the border is computed twice
#define SIDE 16
#define STEPS 2
extern "C" __global__ void ghost_zone(int n, float rate, const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float now[SIDE][SIDE], next[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y, inner = SIDE - 2 * STEPS;
  int x = blockIdx.x * inner + tx - STEPS, y = blockIdx.y * inner + ty - STEPS;
  int lastX = min(SIDE - 1, n - 1 - (x - tx)), lastY = min(SIDE - 1, n - 1 - (y - ty));
  int firstX = max(0, -(x - tx)), firstY = max(0, -(y - ty));
  bool isInside = x >= 0 && x < n && y >= 0 && y < n;
  if (isInside) now[ty][tx] = in[y * n + x];
  __syncthreads();
  int west = max(tx - 1, firstX), east = min(tx + 1, lastX), north = max(ty - 1, firstY), south = min(ty + 1, lastY);
  bool isDone = false;
  for (int step = 0; step < STEPS; ++step) {
    isDone = false;
    if (tx > step && tx < SIDE - 1 - step && ty > step && ty < SIDE - 1 - step && isInside) {
      isDone = true;
      float here = now[ty][tx];
      next[ty][tx] = here + rate * (now[north][tx] + now[south][tx] + now[ty][west] + now[ty][east] - 4.0f * here);
    }
    __syncthreads();
    if (step == STEPS - 1) break;
    if (isDone) now[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (isDone) out[y * n + x] = next[ty][tx];
}
