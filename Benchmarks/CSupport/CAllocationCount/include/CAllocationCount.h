// Counts the calls of malloc and its kin in this process, by standing before the C library's, and what they hold.
#ifndef C_ALLOCATION_COUNT_H
#define C_ALLOCATION_COUNT_H

/// Allocations of this process so far.
unsigned long c_allocation_count(void);

/// Bytes that this process has allocated and not freed, mallinfo2(3), without what this thread keeps of freed ones.
unsigned long c_allocated_bytes(void);

#endif
