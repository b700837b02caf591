// RTCM 3 messages as JSON. The input is the payload; a frame with a right CRC is made around it.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: InputStart, _ count: Int) -> CInt {
  guard count <= 1023 else { return 0 }
  printMessages(framed(unsafe [UInt8](start, count)))
  return 0
}
