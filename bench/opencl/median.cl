static uchar clamped_at(global const uchar *in, int n, int y, int x) {
  return in[clamp(y, 0, n - 1) * n + clamp(x, 0, n - 1)];
}
static void exchange(uchar *a, uchar *b) {
  uchar low = min(*a, *b);
  *b = max(*a, *b);
  *a = low;
}
static void sort(uchar *a, uchar *b, uchar *c) {
  exchange(a, b);
  exchange(b, c);
  exchange(a, b);
}
kernel void median(int n, global const uchar *restrict in, global uchar *restrict out) {
  int x = get_global_id(0), y = get_global_id(1);
  uchar p[3][3];
  for (int dx = 0; dx < 3; ++dx) {
    for (int dy = 0; dy < 3; ++dy) p[dx][dy] = clamped_at(in, n, y + dy - 1, x + dx - 1);
    sort(&p[dx][0], &p[dx][1], &p[dx][2]);
  }
  for (int dy = 0; dy < 3; ++dy) sort(&p[0][dy], &p[1][dy], &p[2][dy]);
  sort(&p[2][0], &p[1][1], &p[0][2]);
  out[y * n + x] = p[1][1];
}
