// Breadth-first search of a graph, level by level: which nodes are reached next is a byte for each of them
extern "C" __global__ void visit(int n, const int *__restrict__ start, const int *__restrict__ edge,
                                 unsigned char *frontier, unsigned char *next, int *level) {
  int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= n || !frontier[node]) return;
  frontier[node] = 0;
  for (int k = start[node]; k < start[node + 1]; ++k) {
    int to = edge[k];
    if (level[to] < 0) next[to] = 1;
  }
}

extern "C" __global__ void advance(int n, int depth, unsigned char *frontier, unsigned char *next, int *level) {
  int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= n || !next[node]) return;
  next[node] = 0;
  frontier[node] = 1;
  level[node] = depth;
}
