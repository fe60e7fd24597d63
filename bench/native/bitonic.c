#include "run.h"

enum { PIECE = 4096 };

static void merge(int distance, int n, int up, int *low) {
  int *high = low + distance;
  for (int i = 0; i < n; ++i) {
    int a = low[i], b = high[i], less = a < b ? a : b, more = a < b ? b : a;
    low[i] = up ? less : more;
    high[i] = up ? more : less;
  }
}

// Runs of `run` keys, upwards and downwards in turn, become runs of twice the length; long ones piece by piece.
static void bitonic(int n, int *keys) {
  for (int run = 2; run <= n; run *= 2)
    for (int distance = run / 2; distance > 0; distance /= 2) {
      int piece = distance < PIECE ? distance : PIECE;
#pragma omp parallel for collapse(2)
      for (int first = 0; first < n; first += 2 * distance)
        for (int from = 0; from < distance; from += piece)
          merge(distance, piece, (first & run) == 0, keys + first + from);
    }
}

void run(void *const *b, const double *s) { bitonic(s[0], b[0]); }
