// SPDX-License-Identifier: Apache-2.0
import NMEA
import WireBytes

// NMEA sentences: the declaration of a sentence by its formatter.
extension JSONLine {
  /// Writes name, position and fields of a sentence. Returns whether its bytes should follow because its fields are not
  /// declared.
  mutating func message(_ sentence: Sentence, offset: UInt64) -> Bool {
    name("name")
    put(raw: UInt8(ascii: "\""))
    for index in 1..<1 + sentence.addressLength { character(sentence.bytes.u1(index)) }
    let formatter = sentence.formatter
    if formatter == PUBX00.formatter, sentence.isProprietary { messageNumber(sentence) }
    put(raw: UInt8(ascii: "\""))
    position(offset, sentence.bytes.byteCount)
    return sentence.isProprietary ? !proprietary(sentence, formatter) : !standard(sentence, formatter)
  }

  /// Writes the digits of the first field, which distinguishes the sentences of u-blox.
  private mutating func messageNumber(_ sentence: Sentence) {
    var at = 2 + sentence.addressLength
    while at < sentence.bytes.byteCount, case let byte = sentence.bytes.u1(at), byte >= 0x30, byte <= 0x39 {
      character(byte)
      at += 1
    }
  }

  private mutating func standard(_ sentence: Sentence, _ formatter: Formatter) -> Bool {
    switch formatter {
    case GGA.formatter: fields(sentence, GGA.self)
    case RMC.formatter: fields(sentence, RMC.self)
    case GSV.formatter: fields(sentence, GSV.self)
    case GSA.formatter: fields(sentence, GSA.self)
    case VTG.formatter: fields(sentence, VTG.self)
    case GLL.formatter: fields(sentence, GLL.self)
    case GNS.formatter: fields(sentence, GNS.self)
    case ZDA.formatter: fields(sentence, ZDA.self)
    case GST.formatter: fields(sentence, GST.self)
    case GBS.formatter: fields(sentence, GBS.self)
    case GRS.formatter: fields(sentence, GRS.self)
    case DTM.formatter: fields(sentence, DTM.self)
    case HDT.formatter: fields(sentence, HDT.self)
    case HDG.formatter: fields(sentence, HDG.self)
    case HDM.formatter: fields(sentence, HDM.self)
    case THS.formatter: fields(sentence, THS.self)
    case ROT.formatter: fields(sentence, ROT.self)
    case VBW.formatter: fields(sentence, VBW.self)
    case VHW.formatter: fields(sentence, VHW.self)
    case VLW.formatter: fields(sentence, VLW.self)
    case DPT.formatter: fields(sentence, DPT.self)
    case DBT.formatter: fields(sentence, DBT.self)
    case MTW.formatter: fields(sentence, MTW.self)
    case MWD.formatter: fields(sentence, MWD.self)
    case MWV.formatter: fields(sentence, MWV.self)
    case XDR.formatter: fields(sentence, XDR.self)
    case RLM.formatter: fields(sentence, RLM.self)
    case TXT.formatter: fields(sentence, TXT.self)
    case HPR.formatter: fields(sentence, HPR.self)
    case KSXT.formatter: sentence.hasAddress("KSXT") ? fields(sentence, KSXT.self) : false
    case UNIHEADINGA.formatter: sentence.hasAddress("UNIHEADINGA") ? fields(sentence, UNIHEADINGA.self) : false
    default: false
    }
  }

  private mutating func proprietary(_ sentence: Sentence, _ formatter: Formatter) -> Bool {
    switch formatter {
    case PUBX00.formatter:
      switch sentence.messageNumber {
      case PUBX00.messageNumber: fields(sentence, PUBX00.self)
      case PUBX03.messageNumber: fields(sentence, PUBX03.self)
      case PUBX04.messageNumber: fields(sentence, PUBX04.self)
      case PUBX40.messageNumber: fields(sentence, PUBX40.self)
      case PUBX41.messageNumber: fields(sentence, PUBX41.self)
      default: false
      }
    case PGRMV.formatter: fields(sentence, PGRMV.self)
    case PGRME.formatter: fields(sentence, PGRME.self)
    case PGRMF.formatter: fields(sentence, PGRMF.self)
    case PQGSV.formatter: fields(sentence, PQGSV.self)
    case PQGSA.formatter: fields(sentence, PQGSA.self)
    case PSTI030.formatter:
      switch sentence.messageNumber {
      case 30: fields(sentence, PSTI030.self)
      case 36: fields(sentence, PSTI036.self)
      default: false
      }
    case PQTMEPE.formatter: sentence.hasAddress("PQTMEPE") ? fields(sentence, PQTMEPE.self) : false
    case PQTMTAR.formatter: sentence.hasAddress("PQTMTAR") ? fields(sentence, PQTMTAR.self) : false
    case PTNLAVR.formatter: sentence.hasFirstField("AVR") ? fields(sentence, PTNLAVR.self) : false
    case PSSNHRP.formatter: sentence.hasFirstField("HRP") ? fields(sentence, PSSNHRP.self) : false
    default: false
    }
  }

  private mutating func fields<Content: SentenceContent>(_ sentence: Sentence, _: Content.Type) -> Bool {
    beginObject("fields")
    var content = Content()
    var printer = SentencePrinter(sentence, consume self)
    content.fields(&printer)
    self = printer.finish()
    endObject()
    return true
  }
}
