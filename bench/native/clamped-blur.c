#include "run.h"

static int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static void clamped_blur(int n, const float *restrict in, float *restrict out) {
#pragma omp parallel for
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      float sum = 0.0f;
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) sum += in[clamped(y + dy, n) * n + clamped(x + dx, n)];
      out[y * n + x] = sum * (1.0f / 25.0f);
    }
}

void run(void *const *b, const double *s) { clamped_blur(s[0], b[0], b[1]); }
