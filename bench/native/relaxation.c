#include "run.h"

static void step(int n, const float *restrict in, float *restrict out) {
  for (int i = 1; i < n - 1; ++i) out[i] = 0.5f * (in[i - 1] + in[i + 1]);
}

void run(void *const *b, const double *s) {
  for (int i = 0; i < s[1]; ++i) step(s[0], b[i % 2], b[1 - i % 2]);
}
