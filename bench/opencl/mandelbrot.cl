kernel void mandelbrot(int n, float x0, float y0, float step, int limit, global int *restrict out) {
  int px = get_global_id(0), py = get_global_id(1);
  if (px >= n || py >= n) return;
  float cx = fma((float)px, step, x0), cy = fma((float)py, step, y0);
  float x = 0, y = 0;
  int i = 0;
  while (i < limit && fma(x, x, y * y) <= 4.0f) {
    float next = fma(-y, y, fma(x, x, cx));
    y = fma(x + x, y, cy);
    x = next;
    ++i;
  }
  out[py * n + px] = i;
}
