/* When the server is there. It is called, and told of the program's kernels, once the program really uses CUDA. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

enum { error_initialization = 3, error_driver = 35 };

/* A child of a process that has used CUDA cannot use it. */
enum { not_yet, connected, in_child, no_server };
static atomic_int state;
static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;

int lw_is_connected(void) { return atomic_load(&state) == connected; }

/* Registrations that the server has not been told. */
struct registration {
  uint32_t index;
  uint64_t words[LW_CALL_WORDS];
};
static struct registration *registrations;
static size_t registration_count;
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;

void lw_register(const char *name, const uint64_t words[6]) {
  struct registration r = {lw_index_of(name), {0}};
  memcpy(r.words, words, 6 * sizeof *words);
  pthread_mutex_lock(&registering);
  if (lw_is_connected()) {
    lw_send(r.index, r.words, sizeof r.words, NULL, 0);
  } else {
    struct registration *grown = realloc(registrations, (registration_count + 1) * sizeof r);
    if (grown != NULL) {
      registrations = grown;
      registrations[registration_count++] = r;
    }
  }
  pthread_mutex_unlock(&registering);
}

static void after_fork(void) {
  if (lw_is_connected()) atomic_store(&state, in_child);
  pthread_mutex_init(&connecting, NULL);
  pthread_mutex_init(&registering, NULL);
  lw_channel_in_child();
}

static void open_once(void) {
  pthread_mutex_lock(&registering);
  if (lw_open_channel() == 0) {
    pthread_atfork(NULL, NULL, after_fork);
    for (size_t i = 0; i < registration_count; i++) {
      const struct registration *r = &registrations[i];
      lw_send(r->index, r->words, sizeof r->words, NULL, 0);
    }
    if (lw_header()->stacks) lw_watch_faults();
    atomic_store(&state, connected);
  } else {
    fputs("lanewise: this program is not run by `lanewise exec`\n", stderr);
    atomic_store(&state, no_server);
  }
  pthread_mutex_unlock(&registering);
}

int lw_connect(void) {
  if (lw_is_connected()) return 0;
  pthread_mutex_lock(&connecting);
  if (atomic_load(&state) == not_yet) open_once();
  pthread_mutex_unlock(&connecting);
  if (lw_is_connected()) return 0;
  return atomic_load(&state) == in_child ? error_initialization : error_driver;
}
