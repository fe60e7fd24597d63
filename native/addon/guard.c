/*
 * A kernel may keep the server's only thread for long. Signals still have to reach the program then, and when one has
 * ended the program, the kernel has no purpose any more: both is done here, apart from that thread.
 */
#define _GNU_SOURCE
#include "guard.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_detach, pthread_detach@GLIBC_2.2.5");

enum { pidfd_open = 434, wait_for_pidfd = 3, grace_ms = 500 };

static struct {
  atomic_int program;
  int ended;
  /* Ready once the server has noticed the end itself. */
  int noticed[2];
  /* The socket, and the folder in which it lies. */
  char socket[512], folder[512];
} guard = {.ended = -1, .noticed = {-1, -1}};

/* The terminal sends these to the program too, and it decides what they mean. */
static const int own[] = {SIGINT, SIGQUIT};
static const int passed[] = {SIGTERM, SIGHUP};

static void leave_alone(int number) { (void)number; }

static void pass_on(int number) {
  int saved = errno;
  pid_t program = atomic_load(&guard.program);
  if (program > 0) kill(program, number);
  errno = saved;
}

static void handle(const int *numbers, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  for (int i = 0; i < 2; i++) sigaction(numbers[i], &action, NULL);
}

static void *watch(void *nothing) {
  struct pollfd end = {guard.ended, POLLIN, 0};
  while (poll(&end, 1, -1) < 0 && errno == EINTR);
  siginfo_t how;
  memset(&how, 0, sizeof how);
  int found = waitid((idtype_t)wait_for_pidfd, (id_t)guard.ended, &how, WEXITED | WNOHANG | WNOWAIT);
  if (found != 0 || (how.si_code != CLD_KILLED && how.si_code != CLD_DUMPED)) return nothing;
  struct pollfd notice = {guard.noticed[0], POLLIN, 0};
  if (poll(&notice, 1, grace_ms) != 0) return nothing;
  unlink(guard.socket);
  rmdir(guard.folder);
  _exit(128 + how.si_status);
}

int guard_begin(int program, const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL || strlen(path) >= sizeof guard.socket) return -EINVAL;
  strcpy(guard.socket, path);
  memcpy(guard.folder, path, (size_t)(slash - path));
  guard.folder[slash - path] = 0;
  atomic_store(&guard.program, program);
  handle(own, leave_alone);
  handle(passed, pass_on);
  guard.ended = (int)syscall(pidfd_open, (pid_t)program, 0u);
  pthread_t thread;
  if (guard.ended < 0 || pipe(guard.noticed) != 0) return -errno;
  int failed = pthread_create(&thread, NULL, watch, NULL);
  if (!failed) pthread_detach(thread);
  return -failed;
}

void guard_end(void) {
  atomic_store(&guard.program, 0);
  handle(own, SIG_DFL);
  handle(passed, SIG_DFL);
  if (guard.noticed[1] >= 0 && write(guard.noticed[1], "", 1) < 0) return;
}
