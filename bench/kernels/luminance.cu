// The brightness of pixels of three bytes
extern "C" __global__ void luminance(int n, const unsigned char *__restrict__ rgb, unsigned char *__restrict__ grey) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) grey[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}
