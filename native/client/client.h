/* The client library inside of the CUDA program: one connection to the server, and calls through it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

/* An entry point of the CUDA runtime or driver. `index` in the tables is its number in messages. */
struct lw_entry {
  const char *name;
  void *function;
};

/* Generated: the runtime's names, then the driver's. */
extern const struct lw_entry lw_entries[];
extern const uint32_t lw_runtime_count;
extern const uint32_t lw_entry_count;

/* The number of an entry point; lw_entry_count if there is none. */
uint32_t lw_index_of(const char *name);
void *lw_function_of(const char *name);

/* 0 if the server answers; otherwise the runtime's error for it. */
int lw_connect(void);
/* Whether this process has a connection already. */
int lw_is_connected(void);
const struct lw_header *lw_header(void);
/* Maps or hides pages of device memory for the host. */
void lw_protect(uint64_t address, uint64_t bytes, int protection);

/* The descriptor of device memory. */
int lw_arena(void);
/* Copies between the program's memory and a byte of the device's. Negative if some of the program's is not mapped. */
int lw_copy(void *host, uint64_t offset, uint64_t bytes, int to_device);

/* Sends a call and waits for its answer, with which it does what the answer says. */
uint64_t lw_request(uint32_t index, const void *data, uint32_t bytes);
/* The same without an answer. `more` follows `data`. */
void lw_send(uint32_t index, const void *data, uint32_t bytes, const void *more, uint32_t more_bytes);

/* Called by the assembly of each entry point: its index, its registers, its stack. */
uint64_t lw_call(uint32_t index, const uint64_t *registers, const uint64_t *stack);
/* Calls an entry point that the server answers, by name, with up to six words. */
uint64_t lw_call_named(const char *name, const uint64_t words[6]);

/* Remembers a registration until the server is there, or sends it. */
void lw_register(const char *name, const uint64_t words[6]);

/* Kernels whose launches may go one way. */
void lw_learn(uint64_t function, const struct lw_kernel *kernel, uint32_t bytes);
void lw_forget(uint64_t function);

/* Tells the server of accesses to device memory that is closed to the host. */
void lw_watch_faults(void);

/* Starts the thread that runs functions of the program for the server. */
void lw_start_callbacks(void);

/* The number of this thread in messages, and the last error of its runtime calls. */
extern _Thread_local uint32_t lw_last_error;
uint32_t lw_thread(void);

void lw_print_to_stdout(const char *text, size_t bytes);
