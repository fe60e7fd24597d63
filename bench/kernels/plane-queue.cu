// A point and its six neighbours in space: a block walks along z, with the plane before and the one behind in registers
#define WIDTH 32
#define HEIGHT 8
extern "C" __global__ void plane_queue(int nx, int ny, int nz, const float *__restrict__ in, float *__restrict__ out,
                                       float own, float others) {
  __shared__ float plane[HEIGHT + 2][WIDTH + 2];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
  bool isInside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
  int size = nx * ny, at = y * nx + x;
  float before = in[at], here = in[at + size];
  for (int z = 1; z < nz - 1; ++z) {
    at += size;
    float behind = in[at + size];
    __syncthreads();
    plane[ty][tx] = here;
    if (threadIdx.x == 0 && x > 0) plane[ty][0] = in[at - 1];
    if (threadIdx.x == WIDTH - 1 && x < nx - 1) plane[ty][WIDTH + 1] = in[at + 1];
    if (threadIdx.y == 0 && y > 0) plane[0][tx] = in[at - nx];
    if (threadIdx.y == HEIGHT - 1 && y < ny - 1) plane[HEIGHT + 1][tx] = in[at + nx];
    __syncthreads();
    if (isInside) {
      float sum = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + before + behind;
      out[at] = own * here + others * sum;
    }
    before = here;
    here = behind;
  }
}
