// Counts the calls of malloc and its kin in this process, by standing before the C library's.
#ifndef C_ALLOCATION_COUNT_H
#define C_ALLOCATION_COUNT_H

/// Allocations of this process so far.
unsigned long c_allocation_count(void);

#endif
