// SPDX-License-Identifier: Apache-2.0

// Names that `import CoreLocation` also provides on Apple's systems and that Foundation on Linux does not have.
// Location programs use them to sleep and to run the main loop. Names of another module have precedence.
@_exported import CRunLoop.Functions
@_exported import Foundation

/// The result of `CFRunLoopGetCurrent()` and the argument of `CFRunLoopStop(_:)`.
public typealias CFRunLoop = c_run_loop

/// Nanoseconds in a second, as in `Task.sleep(nanoseconds: 2 * NSEC_PER_SEC)`.
@_disfavoredOverload
public var NSEC_PER_SEC: UInt64 { 1_000_000_000 }

/// Nanoseconds in a millisecond.
@_disfavoredOverload
public var NSEC_PER_MSEC: UInt64 { 1_000_000 }

/// Nanoseconds in a microsecond.
@_disfavoredOverload
public var NSEC_PER_USEC: UInt64 { 1000 }

/// Microseconds in a second.
@_disfavoredOverload
public var USEC_PER_SEC: UInt64 { 1_000_000 }

/// Runs `body`. Without Objective-C no object is released later.
@_disfavoredOverload
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

/// The type of a C `Boolean`, which old programs have in their interfaces.
public typealias DarwinBoolean = ObjCBool

// On Apple's systems `import CoreLocation` re-exports Foundation: programs use `NSObject`, `Date` and `print` of dates
// without importing it.
