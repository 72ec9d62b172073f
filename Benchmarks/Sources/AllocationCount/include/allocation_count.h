#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

/// Starts to count the allocations of all threads.
void allocation_count_begin(void);

/// Stops, and returns how many there were, or -1 where they cannot be counted.
long allocation_count_end(void);

#endif
