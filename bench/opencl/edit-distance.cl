#define LETTERS 32
kernel void edit_distance(int n, global const uchar *restrict a, global const uchar *restrict b,
                          global int *restrict distances) {
  int i = get_global_id(0);
  if (i >= n) return;
  uchar row[LETTERS + 1];
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
