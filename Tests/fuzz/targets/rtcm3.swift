// SPDX-License-Identifier: Apache-2.0

// RTCM 3 messages as JSON. The input is the payload; it becomes a frame with a correct CRC.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: InputStart, _ count: Int) -> CInt {
  guard count <= 1023 else { return 0 }
  printMessage(framed(unsafe [UInt8](start, count)))
  return 0
}
