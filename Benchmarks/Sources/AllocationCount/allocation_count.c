#include "allocation_count.h"

#include <stddef.h>

#if defined(__linux__)
#include <features.h>
#endif

// Requests to valgrind. Without valgrind, they do nothing and cost a few instructions.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

void instruction_count_begin(void) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
}

void instruction_count_end(const char *name) {
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(name);
}

#else

void instruction_count_begin(void) {}
void instruction_count_end(const char *name) {}

#endif

#if defined(__GLIBC__)

// These functions replace those of the C library in the program and in all libraries that it loads.
// They call the originals by their internal names. Functions that free memory aren't replaced. If
// counting is off, each call costs an additional load and jump, for all engines.

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_bool is_counting;
static atomic_long count;

static void note(void) {
  if (atomic_load_explicit(&is_counting, memory_order_relaxed))
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note();
  return __libc_calloc(number, size);
}

void *realloc(void *start, size_t size) {
  note();
  return __libc_realloc(start, size);
}

void *memalign(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
    return EINVAL;
  note();
  void *start = __libc_memalign(alignment, size);
  if (start == NULL) return ENOMEM;
  *result = start;
  return 0;
}

void allocation_count_begin(void) {
  atomic_store(&count, 0);
  atomic_store(&is_counting, 1);
}

long allocation_count_end(void) {
  atomic_store(&is_counting, 0);
  return atomic_load(&count);
}

long allocation_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (long)(info.uordblks + info.hblkhd);
}

#else

// Other C libraries: allocations aren't counted.
void allocation_count_begin(void) {}
long allocation_count_end(void) { return -1; }
long allocation_bytes(void) { return -1; }

#endif
