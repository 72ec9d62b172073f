#include "CTracer.h"

#ifndef __linux__

int tracer_run(int count, char *const *const arguments) { return -1; }

#else

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/// The kernel's description of a call. Its name in glibc depends on the version.
struct call_info {
  uint8_t op;
  uint8_t padding[3];
  uint32_t arch;
  uint64_t instruction_pointer;
  uint64_t stack_pointer;
  uint64_t number;
  uint64_t arguments[6];
  uint64_t more;
};

enum { get_syscall_info = 0x420e, at_entry = 1 };

enum kind { by_path, by_descriptor, by_flags };

struct call {
  long number;
  const char *name;
  enum kind kind;
};

static const struct call calls[] = {
#ifdef SYS_open
  {SYS_open, "open", by_flags},
#endif
  {SYS_openat, "openat", by_flags},
#ifdef SYS_creat
  {SYS_creat, "creat", by_path},
#endif
  {SYS_write, "write", by_descriptor},
  {SYS_writev, "writev", by_descriptor},
  {SYS_pwrite64, "pwrite64", by_descriptor},
  {SYS_ftruncate, "ftruncate", by_descriptor},
  {SYS_fallocate, "fallocate", by_descriptor},
  {SYS_fchmod, "fchmod", by_descriptor},
  {SYS_fsync, "fsync", by_descriptor},
  {SYS_fdatasync, "fdatasync", by_descriptor},
  {SYS_syncfs, "syncfs", by_descriptor},
  {SYS_flock, "flock", by_descriptor},
#ifdef SYS_rename
  {SYS_rename, "rename", by_path},
#endif
#ifdef SYS_renameat
  {SYS_renameat, "renameat", by_path},
#endif
  {SYS_renameat2, "renameat2", by_path},
#ifdef SYS_link
  {SYS_link, "link", by_path},
#endif
  {SYS_linkat, "linkat", by_path},
#ifdef SYS_unlink
  {SYS_unlink, "unlink", by_path},
#endif
  {SYS_unlinkat, "unlinkat", by_path},
#ifdef SYS_mkdir
  {SYS_mkdir, "mkdir", by_path},
#endif
  {SYS_mkdirat, "mkdirat", by_path},
#ifdef SYS_rmdir
  {SYS_rmdir, "rmdir", by_path},
#endif
};

/// Prints a call that changes files, and returns whether it is one.
static int report(pid_t process, const struct call_info *info, const char *folder) {
  for (size_t index = 0; index < sizeof calls / sizeof *calls; index++) {
    const struct call *call = &calls[index];
    if (call->number != (long)info->number) continue;
    char path[4096] = "";
    switch (call->kind) {
    case by_flags: {
      // The flags follow the path, which is the second argument of `openat`.
      int flags = (int)info->arguments[call->number == SYS_openat ? 2 : 1];
      if (!(flags & O_CREAT)) return 0;
      break;
    }
    case by_descriptor: {
      char link[64];
      snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)process, (int)info->arguments[0]);
      ssize_t length = readlink(link, path, sizeof path - 1);
      if (length < 0 || strncmp(path, folder, strlen(folder)) != 0) return 0;
      path[length] = 0;
      break;
    }
    case by_path:
      break;
    }
    printf("%s %s\n", call->name, path);
    return 1;
  }
  return 0;
}

int tracer_run(int count, char *const *const arguments) {
  if (count < 3) return -1;
  long last = atol(arguments[0]);
  const char *folder = arguments[1];
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(127);
    raise(SIGSTOP);
    execv(arguments[2], arguments + 2);
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) return -1;
  long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, child, 0, options) != 0) {
    kill(child, SIGKILL);
    return -1;
  }
  long number = 0;
  int ending = -1;
  pid_t process = child;
  long signal = 0;
  while (1) {
    // Fails if the thread has already ended.
    ptrace(PTRACE_SYSCALL, process, 0, signal);
    signal = 0;
    do process = waitpid(-1, &status, __WALL);
    while (process < 0 && errno == EINTR);
    if (process < 0) break;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (process == child)
        ending = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int reason = WSTOPSIG(status);
    if (reason == (SIGTRAP | 0x80)) {
      struct call_info info;
      memset(&info, 0, sizeof info);
      if (ptrace(get_syscall_info, process, (void *)sizeof info, &info) < 0) continue;
      if (info.op == at_entry && report(child, &info, folder) && ++number == last)
        kill(child, SIGKILL);
    } else if (reason != SIGTRAP && reason != SIGSTOP) {
      signal = reason;
    }
  }
  fflush(stdout);
  return ending;
}

#endif
