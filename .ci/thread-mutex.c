// Preloaded for ThreadSanitizer: Swift's Mutex takes and gives a lock that others wait for inside its
// own library, which is not instrumented, so that what it guards would look like a race. Each call
// does what the library does, and says so.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SELF __attribute__((swift_context)) void *self
#define SWIFT __attribute__((swiftcall))
#define SYMBOL(name) "$s15Synchronization12_MutexHandleV" name

// Only the program under test has these.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(SYMBOL("9_lockSlowyys6UInt32VF"));
SWIFT bool try_lock_slow(SELF) __asm__(SYMBOL("12_tryLockSlowSbyF"));
SWIFT void unlock_slow(SELF) __asm__(SYMBOL("11_unlockSlowyyF"));

SWIFT void lock_slow(uint32_t thread, SELF) {
  SWIFT void (*next)(uint32_t, SELF) = dlsym(RTLD_NEXT, SYMBOL("9_lockSlowyys6UInt32VF"));
  next(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool try_lock_slow(SELF) {
  SWIFT bool (*next)(SELF) = dlsym(RTLD_NEXT, SYMBOL("12_tryLockSlowSbyF"));
  bool is_locked = next(self);
  if (is_locked && __tsan_acquire) __tsan_acquire(self);
  return is_locked;
}

SWIFT void unlock_slow(SELF) {
  SWIFT void (*next)(SELF) = dlsym(RTLD_NEXT, SYMBOL("11_unlockSlowyyF"));
  if (__tsan_release) __tsan_release(self);
  next(self);
}
