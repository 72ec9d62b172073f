#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

/// Starts counting the allocations of all threads.
void allocation_count_begin(void);

/// Stops counting and returns the number of allocations, or -1 if they can't be counted.
long allocation_count_end(void);

/// Returns the number of allocated bytes, or -1 if it is unknown.
long allocation_bytes(void);

/// Starts counting the instructions of all threads. Requires callgrind with --collect-atstart=no.
void instruction_count_begin(void);

/// Stops counting, and makes callgrind write the count to a file that contains `name`.
void instruction_count_end(const char *name);

#endif
