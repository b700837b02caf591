// SPDX-License-Identifier: Apache-2.0

// Counts the calls of malloc and related functions in this process, by replacing the C library's, and the allocated
// bytes.
#ifndef C_ALLOCATION_COUNT_H
#define C_ALLOCATION_COUNT_H

/// The number of allocations of this process so far.
unsigned long c_allocation_count(void);

/// The bytes that this process has allocated and not freed, mallinfo2(3), without the thread's cache of freed blocks.
unsigned long c_allocated_bytes(void);

#endif
