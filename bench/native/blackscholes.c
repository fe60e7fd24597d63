#include <math.h>

#include "run.h"

static float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = 0.39894228040f * expf(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

static void blackscholes(int n, float rate, float volatility, const float *restrict price, const float *restrict strike,
                         const float *restrict years, float *restrict call, float *restrict put) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float s = price[i], x = strike[i], t = years[i];
    float spread = volatility * sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread;
    float d2 = d1 - spread;
    float n1 = normal(d1), n2 = normal(d2), discounted = x * expf(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
  }
}

void run(void *const *b, const double *s) { blackscholes(s[0], s[1], s[2], b[0], b[1], b[2], b[3], b[4]); }
