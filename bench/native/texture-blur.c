#include <math.h>

#include "run.h"

static int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// The texels around a point, with weights of 8 bits of fraction, as a texture unit has them; the sum is rounded once.
static float sample(const float *restrict in, int n, float u, float v) {
  float x = u - 0.5f, y = v - 0.5f, fx = floorf(x), fy = floorf(y);
  int a = (int)floorf((x - fx) * 256.0f + 0.5f), b = (int)floorf((y - fy) * 256.0f + 0.5f);
  int x0 = clamped((int)fx, n), x1 = clamped((int)fx + 1, n), y0 = clamped((int)fy, n), y1 = clamped((int)fy + 1, n);
  double sum = (double)in[y0 * n + x0] * ((256 - a) * (256 - b)) + (double)in[y0 * n + x1] * (a * (256 - b)) +
               (double)in[y1 * n + x0] * ((256 - a) * b) + (double)in[y1 * n + x1] * (a * b);
  return (float)(sum * (1.0 / 65536.0));
}

static void texture_blur(int n, const float *restrict in, float *restrict out) {
#pragma omp parallel for
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      float u = x + 0.5f, v = y + 0.5f;
      float sum = sample(in, n, u - 0.6f, v - 0.6f) + sample(in, n, u + 0.6f, v - 0.6f) +
                  sample(in, n, u - 0.6f, v + 0.6f) + sample(in, n, u + 0.6f, v + 0.6f);
      out[y * n + x] = sum * 0.25f;
    }
}

void run(void *const *b, const double *s) { texture_blur(s[0], b[0], b[1]); }
