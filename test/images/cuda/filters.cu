// Kernels of the kinds that NVIDIA's texture samples have, compiled by nvcc 13.0 -ptx -arch=compute_80 -O3.

extern "C" __global__ void rotated(cudaTextureObject_t tex, float* out, int width, int height, float cosine, float sine) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
  out[y * width + x] = tex2D<float>(tex, u * cosine - v * sine + 0.5f, v * cosine + u * sine + 0.5f);
}

extern "C" __global__ void negatedLayers(cudaTextureObject_t tex, float* out, int width, int height, int layers) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  for (int layer = 0; layer < layers; layer++)
    out[(layer * height + y) * width + x] = layer - tex2DLayered<float>(tex, x + 0.5f, y + 0.5f, layer);
}

extern "C" __global__ void faces(cudaTextureObject_t tex, float* out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= width) return;
  float u = (x + 0.5f) / width * 2.f - 1.f, v = (y + 0.5f) / width * 2.f - 1.f;
  const float3 toward[6] = {{1, -v, -u}, {-1, -v, u}, {u, 1, v}, {u, -1, -v}, {u, -v, 1}, {-u, -v, -1}};
  for (int face = 0; face < 6; face++)
    out[(face * width + y) * width + x] = texCubemap<float>(tex, toward[face].x, toward[face].y, toward[face].z);
}

extern "C" __global__ void sobel(cudaTextureObject_t tex, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int p[3][3];
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) p[j][i] = tex2D<unsigned char>(tex, x + i - 1, y + j - 1);
  int h = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
  int v = p[0][0] + 2 * p[0][1] + p[0][2] - p[2][0] - 2 * p[2][1] - p[2][2];
  surf2Dwrite<unsigned char>(min(255, (abs(h) + abs(v)) / 2), to, x, y, cudaBoundaryModeTrap);
}

extern "C" __global__ void volume(cudaTextureObject_t tex, cudaSurfaceObject_t to, int size) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  float sum = 0;
  for (int d = -1; d <= 1; d++) sum += tex3D<float>(tex, x + 0.5f + d, y + 0.5f, z + 0.5f - d);
  surf3Dwrite(sum, to, x * 4, y, z);
}

extern "C" __global__ void halved(cudaTextureObject_t tex, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float4 c = tex2D<float4>(tex, (x + 0.5f) / width, (y + 0.5f) / height);
  surf2Dwrite(make_uchar4(c.x * 255.f + 0.5f, c.y * 255.f + 0.5f, c.z * 255.f + 0.5f, c.w * 255.f + 0.5f), to, x * 4, y);
}

extern "C" __global__ void levels(cudaTextureObject_t tex, float* out, int count, float lod) {
  int x = threadIdx.x;
  for (int n = 0; n < count; n++) out[n * 32 + x] = tex2DLod<float>(tex, (x + 0.5f) / 32, 0.375f, lod + n);
}

extern "C" __global__ void gathered(cudaTextureObject_t tex, float4* out, int width) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * width + x] = tex2Dgather<float4>(tex, x + 1.f, y + 1.f, 0);
}

extern "C" __global__ void rows(cudaTextureObject_t tex, float* out, int count) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < count) out[x] = tex1Dfetch<float>(tex, count - 1 - x);
}
