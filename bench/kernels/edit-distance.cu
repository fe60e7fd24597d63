// The edit distances of pairs of words of 32 letters, a thread each, with a row of bytes of its own
#define LETTERS 32
extern "C" __global__ void edit_distance(int n, const unsigned char *__restrict__ a, const unsigned char *__restrict__ b,
                                         int *__restrict__ distances) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char row[LETTERS + 1];
  for (int x = 0; x <= LETTERS; ++x) row[x] = x;
  for (int y = 1; y <= LETTERS; ++y) {
    int diagonal = row[0], letter = a[i * LETTERS + y - 1];
    row[0] = y;
    for (int x = 1; x <= LETTERS; ++x) {
      int above = row[x];
      int changed = diagonal + (letter != b[i * LETTERS + x - 1]);
      row[x] = min(changed, min(above, (int)row[x - 1]) + 1);
      diagonal = above;
    }
  }
  distances[i] = row[LETTERS];
}
