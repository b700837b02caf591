// SPDX-License-Identifier: Apache-2.0
import NMEA

/// Uses the content of a sentence.
protocol ContentUse {
  mutating func use<Content: SentenceContent>(_: Content.Type, _ sentence: Sentence)
}

/// Reads the content and keeps it.
struct ContentsKept: ContentUse {
  private var rejected = 0

  @inline(__always)
  mutating func use<Content: SentenceContent>(_: Content.Type, _ sentence: Sentence) {
    keep(sentence.decode(Content.self, rejected: &rejected))
  }
}

/// Counts the values that are present.
struct ContentsCounted: ContentUse {
  private(set) var values = 0
  private var rejected = 0

  mutating func use<Content: SentenceContent>(_: Content.Type, _ sentence: Sentence) {
    var content = sentence.decode(Content.self, rejected: &rejected)
    var counter = PresentValues()
    content.fields(&counter)
    values += counter.count
  }
}

/// Passes on the content of a sentence that has a type. Returns false for other sentences.
@inline(__always)
func visit<Use: ContentUse>(_ sentence: Sentence, _ user: inout Use) -> Bool {
  switch sentence.formatter {
  case GGA.formatter: user.use(GGA.self, sentence)
  case RMC.formatter: user.use(RMC.self, sentence)
  case GSV.formatter: user.use(GSV.self, sentence)
  case GSA.formatter: user.use(GSA.self, sentence)
  case VTG.formatter: user.use(VTG.self, sentence)
  case GLL.formatter: user.use(GLL.self, sentence)
  case GNS.formatter: user.use(GNS.self, sentence)
  case ZDA.formatter: user.use(ZDA.self, sentence)
  case GST.formatter: user.use(GST.self, sentence)
  case GBS.formatter: user.use(GBS.self, sentence)
  case GRS.formatter: user.use(GRS.self, sentence)
  case DTM.formatter: user.use(DTM.self, sentence)
  case HDT.formatter: user.use(HDT.self, sentence)
  case HDG.formatter: user.use(HDG.self, sentence)
  case HDM.formatter: user.use(HDM.self, sentence)
  case THS.formatter: user.use(THS.self, sentence)
  case ROT.formatter: user.use(ROT.self, sentence)
  case VBW.formatter: user.use(VBW.self, sentence)
  case VHW.formatter: user.use(VHW.self, sentence)
  case VLW.formatter: user.use(VLW.self, sentence)
  case DPT.formatter: user.use(DPT.self, sentence)
  case DBT.formatter: user.use(DBT.self, sentence)
  case MTW.formatter: user.use(MTW.self, sentence)
  case MWD.formatter: user.use(MWD.self, sentence)
  case MWV.formatter: user.use(MWV.self, sentence)
  case XDR.formatter: user.use(XDR.self, sentence)
  case RLM.formatter: user.use(RLM.self, sentence)
  case TXT.formatter: user.use(TXT.self, sentence)
  case PGRMV.formatter where sentence.isProprietary: user.use(PGRMV.self, sentence)
  case PGRME.formatter where sentence.isProprietary: user.use(PGRME.self, sentence)
  case PGRMF.formatter where sentence.isProprietary: user.use(PGRMF.self, sentence)
  default: return false
  }
  return true
}

/// Counts the fields of a content that have a value; a coordinate is one.
struct PresentValues: FieldVisitor {
  private(set) var count = 0

  private mutating func add(_ isPresent: Bool) { if isPresent { count += 1 } }

  mutating func time(_: StaticString, _ value: inout TimeOfDay?) { add(value != nil) }
  mutating func date(_: StaticString, _ value: inout ShortDate?) { add(value != nil) }
  mutating func latitude(_: StaticString, _: StaticString, _ value: inout Coordinate?) { add(value != nil) }
  mutating func longitude(_: StaticString, _: StaticString, _ value: inout Coordinate?) { add(value != nil) }
  mutating func decimal(_: StaticString, _ value: inout FixedPoint?) { add(value != nil) }
  mutating func integer(_: StaticString, _ value: inout Int32?, _: ClosedRange<Int32>, digits: Int) {
    add(value != nil)
  }
  mutating func hexadecimal(_: StaticString, _ value: inout Int32?, digits: Int) { add(value != nil) }
  mutating func character(_: StaticString, _ value: inout UInt8?) { add(value != nil) }
  mutating func constant(_: StaticString, _: StaticString, isPresent: Bool) {}
  mutating func text(_: StaticString, _ value: inout ShortText?) { add(value != nil) }
  mutating func text(_: StaticString, _ value: inout TextRange?) { add(value != nil) }
  mutating func blocks(of _: Int, have: Int, most: Int) -> Int { have }
  mutating func hasMore(isPresent: Bool) -> Bool { isPresent }
}
