// Escape times. Every multiplication that is added to something is written as fma, so that each compiler rounds alike
extern "C" __global__ void mandelbrot(int n, float x0, float y0, float step, int limit, int *__restrict__ out) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= n || py >= n) return;
  float cx = fmaf((float)px, step, x0), cy = fmaf((float)py, step, y0);
  float x = 0, y = 0;
  int i = 0;
  while (i < limit && fmaf(x, x, y * y) <= 4.0f) {
    float next = fmaf(-y, y, fmaf(x, x, cx));
    y = fmaf(x + x, y, cy);
    x = next;
    ++i;
  }
  out[py * n + px] = i;
}
