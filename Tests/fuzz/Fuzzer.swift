// SPDX-License-Identifier: Apache-2.0

// The program of libFuzzer. It has all targets, and runs the one that its own name is: run.sh links it under each name.

private let target: FuzzTarget = {
  let name = CommandLine.arguments[0].split(separator: "/").last.map(String.init) ?? ""
  guard let target = FuzzTarget(rawValue: name) else { fatalError("no target \(name)") }
  return target
}()

/// The memory is libFuzzer's for this call: the target gets a copy, of exactly its size, so that the sanitizer sees a read beyond
/// it. That is the reason for `unsafe`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  target.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
