// Launches into a stream, the first of which tells the client what it needs to send the others one way, and then into
// streams that are none. Prints the errors of each step, and how often the kernel has run.
#include <cstdio>

__global__ void add(int *sum) { *sum += 1; }

int main() {
  int *sum;
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int i = 0; i < 3; i++) add<<<1, 1, 0, stream>>>(sum);
  std::printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));
  cudaStreamDestroy(stream);

  cudaStream_t gone[] = {stream, (cudaStream_t)0x1234560};
  for (cudaStream_t other : gone) {
    add<<<1, 1, 0, other>>>(sum);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  }

  add<<<1, 1>>>(sum);
  int host = 0;
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost)));
  std::printf("%d\n", host);
}
