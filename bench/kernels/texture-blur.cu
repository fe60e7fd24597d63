// A blur by four samples of a texture, each between four texels: linear filtering weighs them
extern "C" __global__ void texture_blur(cudaTextureObject_t in, float *__restrict__ out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = x + 0.5f, v = y + 0.5f;
  float sum = tex2D<float>(in, u - 0.6f, v - 0.6f) + tex2D<float>(in, u + 0.6f, v - 0.6f) +
              tex2D<float>(in, u - 0.6f, v + 0.6f) + tex2D<float>(in, u + 0.6f, v + 0.6f);
  out[y * n + x] = sum * 0.25f;
}
