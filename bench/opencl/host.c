// Builds the program of an OpenCL file on PoCL's processor and measures the plan's launches: host FILE.cl. The exit
// status is 2 where there is no PoCL.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../plan.h"

enum { NO_POCL = 2, MAX_PLATFORMS = 16, LOG = 16384 };

struct host {
  struct plan *plan;
  cl_command_queue queue;
  cl_mem memory[MAX_BUFFERS];
  cl_kernel *kernel;
};

static void check(cl_int status, const char *what) {
  char number[16];
  snprintf(number, sizeof number, "%d", status);
  if (status != CL_SUCCESS) fail(what, number);
}

static cl_device_id find_device(void) {
  cl_platform_id platforms[MAX_PLATFORMS];
  cl_uint count = 0;
  clGetPlatformIDs(MAX_PLATFORMS, platforms, &count);
  for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; ++i) {
    char name[NAME] = "";
    cl_device_id device;
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (strcmp(name, "Portable Computing Language") != 0) continue;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS) return device;
  }
  exit(NO_POCL);
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail("cannot read", path);
  fseek(file, 0, SEEK_END);
  long bytes = ftell(file);
  rewind(file);
  char *text = calloc(1, bytes + 1);
  if (!text || fread(text, 1, bytes, file) != (size_t)bytes) fail("cannot read", path);
  fclose(file);
  return text;
}

static cl_program build(cl_context context, cl_device_id device, const char *path) {
  const char *text = read_text(path);
  cl_int status;
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
  check(status, "clCreateProgramWithSource");
  if (clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL) == CL_SUCCESS) return program;
  static char log[LOG];
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fail(path, log);
}

static void set_argument(const struct host *host, cl_kernel kernel, int index, const struct argument *argument) {
  cl_int i = argument->number;
  cl_float f = argument->number;
  cl_double d = argument->number;
  switch (argument->type) {
    case 'i': check(clSetKernelArg(kernel, index, sizeof i, &i), "an int"); break;
    case 'f': check(clSetKernelArg(kernel, index, sizeof f, &f), "a float"); break;
    case 'd': check(clSetKernelArg(kernel, index, sizeof d, &d), "a double"); break;
    case 'b': check(clSetKernelArg(kernel, index, sizeof(cl_mem), &host->memory[i]), "a buffer"); break;
    case 'l': check(clSetKernelArg(kernel, index, i, NULL), "local memory"); break;
    default: fail("plan", "type of argument");
  }
}

static void reset(void *context) {
  struct host *host = context;
  for (int i = 0; i < host->plan->buffers; ++i) {
    const struct buffer *buffer = &host->plan->buffer[i];
    if (buffer->mode != INOUT) continue;
    check(clEnqueueWriteBuffer(host->queue, host->memory[i], CL_TRUE, 0, buffer->bytes, buffer->initial, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
  }
}

static void run(void *context) {
  struct host *host = context;
  for (int i = 0; i < host->plan->launches; ++i) {
    const struct launch *launch = &host->plan->launch[i];
    check(clEnqueueNDRangeKernel(host->queue, host->kernel[i], 3, NULL, launch->global, launch->local, 0, NULL, NULL),
          launch->kernel);
  }
  check(clFinish(host->queue), "clFinish");
}

int main(int count, char **words) {
  if (count != 2) fail("usage", "host FILE.cl");
  struct host host = {.plan = plan_read()};
  cl_int status;
  cl_device_id device = find_device();
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  host.queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  cl_program program = build(context, device, words[1]);
  for (int i = 0; i < host.plan->buffers; ++i) {
    const struct buffer *buffer = &host.plan->buffer[i];
    host.memory[i] =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, buffer->bytes, buffer->data, &status);
    check(status, buffer->name);
  }
  host.kernel = calloc(host.plan->launches, sizeof *host.kernel);
  for (int i = 0; i < host.plan->launches; ++i) {
    const struct launch *launch = &host.plan->launch[i];
    host.kernel[i] = clCreateKernel(program, launch->kernel, &status);
    check(status, launch->kernel);
    for (int j = 0; j < launch->arguments; ++j) set_argument(&host, host.kernel[i], j, &launch->argument[j]);
  }
  plan_measure(host.plan, reset, run, &host);
  for (int i = 0; i < host.plan->buffers; ++i) {
    const struct buffer *buffer = &host.plan->buffer[i];
    if (buffer->mode == IN) continue;
    check(clEnqueueReadBuffer(host.queue, host.memory[i], CL_TRUE, 0, buffer->bytes, buffer->data, 0, NULL, NULL),
          "clEnqueueReadBuffer");
  }
  plan_save(host.plan);
}
