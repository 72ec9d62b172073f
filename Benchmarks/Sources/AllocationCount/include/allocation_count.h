#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

/// Starts to count the allocations of all threads.
void allocation_count_begin(void);

/// Stops, and returns how many there were, or -1 where they cannot be counted.
long allocation_count_end(void);

/// Returns how many bytes are allocated now, or -1 where that is not known.
long allocation_bytes(void);

/// Starts to count the instructions of all threads, under callgrind with --collect-atstart=no.
void instruction_count_begin(void);

/// Stops, and has callgrind write them to a file that names `name`.
void instruction_count_end(const char *name);

#endif
