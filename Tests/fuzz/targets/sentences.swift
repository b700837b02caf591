// The fields of NMEA sentences. The input is the sentence's content; it gets a correct checksum, so that every input reaches the
// field readers. It is one frame, or none if its address is not one.
import NMEA

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: InputStart, _ count: Int) -> CInt {
  let input = unsafe [UInt8](start, count)
  let bytes = sentence(input.prefix(longestSentence - 6))
  let lengths = printMessages(bytes)
  guard lengths.isEmpty || lengths == [bytes.count] else { fatalError("\(bytes.count) bytes became \(lengths)") }
  return 0
}
