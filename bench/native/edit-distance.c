#include "run.h"

enum { LETTERS = 32 };

static int smaller(int a, int b) { return a < b ? a : b; }

static void edit_distance(int n, const unsigned char *restrict a, const unsigned char *restrict b,
                          int *restrict distances) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    unsigned char row[LETTERS + 1];
    for (int x = 0; x <= LETTERS; ++x) row[x] = x;
    for (int y = 1; y <= LETTERS; ++y) {
      int diagonal = row[0], letter = a[i * LETTERS + y - 1];
      row[0] = y;
      for (int x = 1; x <= LETTERS; ++x) {
        int above = row[x];
        int changed = diagonal + (letter != b[i * LETTERS + x - 1]);
        row[x] = smaller(changed, smaller(above, row[x - 1]) + 1);
        diagonal = above;
      }
    }
    distances[i] = row[LETTERS];
  }
}

void run(void *const *b, const double *s) { edit_distance(s[0], b[0], b[1], b[2]); }
