#include "run.h"

enum { REACH = 4 };

static float at(const float *x, int n, int i) { return i < 0 || i >= n ? 0.0f : x[i]; }

static void two_halos(int n, const float *restrict u, const float *restrict v, float *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float sum = 0.0f;
    if (i >= REACH && i < n - REACH)
      for (int d = -REACH; d <= REACH; ++d) sum += u[i + d] * v[i - d];
    else
      for (int d = -REACH; d <= REACH; ++d) sum += at(u, n, i + d) * at(v, n, i - d);
    out[i] = sum;
  }
}

void run(void *const *b, const double *s) { two_halos(s[0], b[0], b[1], b[2]); }
