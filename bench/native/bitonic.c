#include "run.h"

// Runs of `run` keys, upwards and downwards in turn, become runs of twice the length.
static void bitonic(int n, int *keys) {
  for (int run = 2; run <= n; run *= 2)
    for (int distance = run / 2; distance > 0; distance /= 2)
      for (int first = 0; first < n; first += 2 * distance) {
        int *low = keys + first, *high = low + distance;
        int up = (first & run) == 0;
        for (int i = 0; i < distance; ++i) {
          int a = low[i], b = high[i], less = a < b ? a : b, more = a < b ? b : a;
          low[i] = up ? less : more;
          high[i] = up ? more : less;
        }
      }
}

void run(void *const *b, const double *s) { bitonic(s[0], b[0]); }
