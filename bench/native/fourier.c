#include <math.h>
#include <string.h>

#include "run.h"

enum { POINTS = 256, HALF = POINTS / 2 };

struct complex {
  float x, y;
};

static void fourier(int n, const struct complex *restrict in, struct complex *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    struct complex values[2][POINTS];
    int from = 0;
    memcpy(values[0], in + POINTS * i, sizeof values[0]);
    for (int size = 1; size < POINTS; size *= 2, from = 1 - from)
      for (int t = 0; t < HALF; ++t) {
        int k = t & (size - 1), to = 2 * (t - k) + k;
        float sine = sinf(-3.14159265f * k / size), cosine = cosf(-3.14159265f * k / size);
        struct complex a = values[from][t], b = values[from][t + HALF];
        struct complex turned = {b.x * cosine - b.y * sine, b.x * sine + b.y * cosine};
        values[1 - from][to] = (struct complex){a.x + turned.x, a.y + turned.y};
        values[1 - from][to + size] = (struct complex){a.x - turned.x, a.y - turned.y};
      }
    memcpy(out + POINTS * i, values[from], sizeof values[from]);
  }
}

void run(void *const *b, const double *s) { fourier(s[0], b[0], b[1]); }
