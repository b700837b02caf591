// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The number of random cases of a test: all of them in `make test`, a quarter in `make check`, which runs after each change and
/// sets SEXTANT_TESTS.
public func repetitions(_ all: Int) -> Int {
  // Safe: the environment does not change while tests run, and the value is not read.
  unsafe getenv("SEXTANT_TESTS") == nil ? all : max(all / 4, 1)
}

/// The numbers from 1 to `last` in `make test`, every fourth in `make check`.
public func numbers(to last: Int) -> StrideThrough<Int> {
  stride(from: 1, through: last, by: max(last / repetitions(last), 1))
}
