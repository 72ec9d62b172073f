// Linux functions that are missing in Swift's Glibc and Musl modules. These modules are built
// without _GNU_SOURCE and can't import variadic functions.
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

// Weak, because not every libc has both. Without them, the functions below fail with ENOSYS.
extern int renameat2(int, const char *, int, const char *, unsigned int) __attribute__((weak));
extern int syncfs(int) __attribute__((weak));

// Moves a file. Fails with EEXIST if `new_name` exists (RENAME_NOREPLACE is 1).
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
// Returns a non-blocking descriptor that reports when files in a folder are written, created or
// removed, are moved there, or get other attributes; -1 with errno on failure.
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
// Starts writing a file's content to disk, without waiting (SYNC_FILE_RANGE_WRITE is 2).
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
