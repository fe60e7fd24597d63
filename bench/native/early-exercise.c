#include "run.h"

static void early_exercise(int n, int steps, float up, float down, float growth, const float *restrict price,
                           const float *restrict strike, float *restrict value) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float node[256], spot[256];
    for (int t = 0; t <= steps; ++t) {
      spot[t] = price[i] + growth * (2 * t - steps);
      float worth = strike[i] - spot[t];
      node[t] = worth > 0.0f ? worth : 0.0f;
    }
    for (int last = steps; last > 0; --last)
      for (int t = 0; t < last; ++t) {
        spot[t] += growth;
        float kept = up * node[t + 1] + down * node[t], worth = strike[i] - spot[t];
        node[t] = kept > worth ? kept : worth;
      }
    value[i] = node[0];
  }
}

void run(void *const *b, const double *s) { early_exercise(s[0], s[1], s[2], s[3], s[4], b[0], b[1], b[2]); }
