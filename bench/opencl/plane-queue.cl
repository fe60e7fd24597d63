#define WIDTH 32
#define HEIGHT 8
kernel void plane_queue(int nx, int ny, int nz, global const float *restrict in, global float *restrict out, float own,
                        float others) {
  local float plane[HEIGHT + 2][WIDTH + 2];
  int column = get_local_id(0), row = get_local_id(1), tx = column + 1, ty = row + 1;
  int x = get_global_id(0), y = get_global_id(1);
  bool isInside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
  int size = nx * ny, at = y * nx + x;
  float before = in[at], here = in[at + size];
  for (int z = 1; z < nz - 1; ++z) {
    at += size;
    float behind = in[at + size];
    barrier(CLK_LOCAL_MEM_FENCE);
    plane[ty][tx] = here;
    if (column == 0 && x > 0) plane[ty][0] = in[at - 1];
    if (column == WIDTH - 1 && x < nx - 1) plane[ty][WIDTH + 1] = in[at + 1];
    if (row == 0 && y > 0) plane[0][tx] = in[at - nx];
    if (row == HEIGHT - 1 && y < ny - 1) plane[HEIGHT + 1][tx] = in[at + nx];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (isInside) {
      float sum = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + before + behind;
      out[at] = own * here + others * sum;
    }
    before = here;
    here = behind;
  }
}
