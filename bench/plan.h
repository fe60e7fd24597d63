// What a peer (plain C, OpenCL) is told to do: one file of words that `lanewise bench` writes, and beside it a file
// with the contents of each buffer.
//
//     runs 5 250                          at least 5 runs, and as many as begin within 250 ms
//     sizes 1048576 2.5                   what the program in C is called with
//     buffer x 4194304 in                 bytes; in: only read. inout: filled anew before each run. out: only written
//     launch saxpy 1048576 1 1 256 1 1 4 i 1048576 f 2.5 b 0 b 1
//                                         work items and those of a group, in x, y, z; arguments: int, float, double,
//                                         buffer, and last bytes of local memory (l) whose size the launch decides
#pragma once
#include <stddef.h>

enum { MAX_BUFFERS = 8, MAX_SIZES = 8, MAX_ARGUMENTS = 12, NAME = 64 };

enum mode { IN, INOUT, OUT };

struct buffer {
  char name[NAME];
  size_t bytes;
  enum mode mode;
  // Where the program works, and what `data` holds before a run (not for OUT).
  void *data, *initial;
};

struct argument {
  char type;
  double number;
};

struct launch {
  char kernel[NAME];
  size_t global[3], local[3];
  int arguments;
  struct argument argument[MAX_ARGUMENTS];
};

struct plan {
  int runs, buffers, launches;
  double milliseconds;
  double sizes[MAX_SIZES];
  struct buffer buffer[MAX_BUFFERS];
  struct launch *launch;
};

// Reads `plan` and the buffers' files in the current directory; ends the process when something is missing.
struct plan *plan_read(void);

// Runs once to warm up and then as often as the plan says, `reset` outside of the time, and prints the milliseconds.
void plan_measure(const struct plan *plan, void (*reset)(void *), void (*run)(void *), void *context);

// Writes each buffer that was written to NAME.out.
void plan_save(const struct plan *plan);

_Noreturn void fail(const char *what, const char *which);
