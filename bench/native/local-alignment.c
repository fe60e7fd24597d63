#include "run.h"

enum { LENGTH = 64 };

static int larger(int a, int b) { return a > b ? a : b; }

static void local_alignment(int n, const unsigned char *restrict a, const unsigned char *restrict b,
                            int *restrict best) {
#pragma omp parallel for
  for (int pair = 0; pair < n; ++pair) {
    const unsigned char *rows = a + pair * LENGTH, *columns = b + pair * LENGTH;
    int score[LENGTH + 1] = {0}, most = 0;
    for (int y = 0; y < LENGTH; ++y) {
      int corner = 0;
      for (int x = 0; x < LENGTH; ++x) {
        int match = corner + (rows[y] == columns[x] ? 3 : -1);
        corner = score[x + 1];
        score[x + 1] = larger(larger(match, 0), larger(corner, score[x]) - 2);
        most = larger(most, score[x + 1]);
      }
    }
    best[pair] = most;
  }
}

void run(void *const *b, const double *s) { local_alignment(s[0], b[0], b[1], b[2]); }
