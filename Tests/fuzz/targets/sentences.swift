// The fields of NMEA sentences. The input is the sentence's content; its checksum is made right, so that every input
// comes to the field readers.
import NMEA

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: InputStart, _ count: Int) -> CInt {
  let input = unsafe [UInt8](start, count)
  printMessages(sentence(input.prefix(longestSentence - 6)))
  return 0
}
