#include <math.h>

#include "run.h"

static int escape(float cx, float cy, int limit) {
  float x = 0, y = 0;
  int i = 0;
  while (i < limit && fmaf(x, x, y * y) <= 4.0f) {
    float next = fmaf(-y, y, fmaf(x, x, cx));
    y = fmaf(x + x, y, cy);
    x = next;
    ++i;
  }
  return i;
}

static void mandelbrot(int n, float x0, float y0, float step, int limit, int *out) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int py = 0; py < n; ++py)
    for (int px = 0; px < n; ++px) out[py * n + px] = escape(fmaf(px, step, x0), fmaf(py, step, y0), limit);
}

void run(void *const *b, const double *s) { mandelbrot(s[0], s[1], s[2], s[3], s[4], b[0]); }
