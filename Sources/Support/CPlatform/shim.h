// Calls of Linux that Swift's Glibc and Musl modules hide, since they build without _GNU_SOURCE, or
// cannot import, since they take any arguments.
#ifndef CPLATFORM_SHIM_H
#define CPLATFORM_SHIM_H

#if defined(__linux__)
#include <errno.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef FICLONE
#define FICLONE _IOW(0x94, 9, int)
#endif

// Weak, since not every libc has both: the store then takes the longer way.
extern int renameat2(int, const char *, int, const char *, unsigned int) __attribute__((weak));
extern int syncfs(int) __attribute__((weak));

// RENAME_NOREPLACE is 1: a file that is there already is EEXIST.
static inline int cplatform_move(int folder, const char *name, int other, const char *new_name) {
  if (renameat2 == 0) {
    errno = ENOSYS;
    return -1;
  }
  return renameat2(folder, name, other, new_name, 1);
}
static inline int cplatform_syncfs(int folder) {
  if (syncfs == 0) {
    errno = ENOSYS;
    return -1;
  }
  return syncfs(folder);
}
// Tells of files of a folder that are written, touched, made, removed or moved there; -1 with errno if it cannot.
static inline int cplatform_watch(const char *folder) {
  int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (watch < 0) return -1;
  if (inotify_add_watch(
          watch, folder, IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_TO) < 0) {
    int reason = errno;
    close(watch);
    errno = reason;
    return -1;
  }
  return watch;
}
// Lets the system begin to write what a file has, without waiting for that (SYNC_FILE_RANGE_WRITE).
static inline void cplatform_begin_sync(int file) {
#if defined(SYS_sync_file_range) && __SIZEOF_LONG__ == 8
  (void)syscall(SYS_sync_file_range, file, 0L, 0L, 2);
#endif
}
static inline int cplatform_clone(int source, int file) {
  return ioctl(file, FICLONE, source);
}
#endif

#endif
