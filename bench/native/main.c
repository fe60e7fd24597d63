// Measures the `run` that it is linked with.
#include <string.h>

#include "run.h"

static void reset(void *context) {
  struct plan *plan = context;
  for (int i = 0; i < plan->buffers; ++i) {
    struct buffer *buffer = &plan->buffer[i];
    if (buffer->mode == INOUT) memcpy(buffer->data, buffer->initial, buffer->bytes);
  }
}

static void run_plan(void *context) {
  struct plan *plan = context;
  void *data[MAX_BUFFERS];
  for (int i = 0; i < plan->buffers; ++i) data[i] = plan->buffer[i].data;
  run(data, plan->sizes);
}

int main(void) {
  struct plan *plan = plan_read();
  plan_measure(plan, reset, run_plan, plan);
  plan_save(plan);
}
