// SPDX-License-Identifier: Apache-2.0

// The program of libFuzzer. It has all targets, and runs the one named like the executable: run.sh links it under each
// name.

private let target: FuzzTarget = {
  let name = CommandLine.arguments[0].split(separator: "/").last.map(String.init) ?? ""
  guard let target = FuzzTarget(rawValue: name) else { fatalError("no target \(name)") }
  return target
}()

/// `unsafe` because the memory belongs to libFuzzer and is valid during this call. The target gets a copy of exactly
/// the same size, so that the sanitizer detects a read beyond it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  target.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
