#include "run.h"

static void walsh(int n, const float *restrict in, float *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float *run = out + 512 * i;
    for (int k = 0; k < 512; ++k) run[k] = in[512 * i + k];
    for (int stride = 256; stride > 0; stride >>= 1)
      for (int start = 0; start < 512; start += 2 * stride)
        for (int k = start; k < start + stride; ++k) {
          float a = run[k], b = run[k + stride];
          run[k] = a + b;
          run[k + stride] = a - b;
        }
  }
}

void run(void *const *b, const double *s) { walsh(s[0], b[0], b[1]); }
