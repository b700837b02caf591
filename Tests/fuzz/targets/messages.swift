// SPDX-License-Identifier: Apache-2.0

// UBX messages as JSON. The input is class, id and payload; it becomes a frame with a correct checksum.
import UBX

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: InputStart, _ count: Int) -> CInt {
  guard count >= 2, count <= UBXFrame.longestPayload else { return 0 }
  let input = unsafe [UInt8](start, count)
  printMessage(ubx(input[0], input[1], Array(input[2...])))
  return 0
}
