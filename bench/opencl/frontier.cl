kernel void visit(int n, global const int *restrict start, global const int *restrict edge, global uchar *frontier,
                  global uchar *next, global int *level) {
  int node = get_global_id(0);
  if (node >= n || !frontier[node]) return;
  frontier[node] = 0;
  for (int k = start[node]; k < start[node + 1]; ++k) {
    int to = edge[k];
    if (level[to] < 0) next[to] = 1;
  }
}
kernel void advance(int n, int depth, global uchar *frontier, global uchar *next, global int *level) {
  int node = get_global_id(0);
  if (node >= n || !next[node]) return;
  next[node] = 0;
  frontier[node] = 1;
  level[node] = depth;
}
