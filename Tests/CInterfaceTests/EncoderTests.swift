// SPDX-License-Identifier: Apache-2.0
import CInterface
import CSextant
import TestSupport
import Testing
import UBX

@Suite("Encoders for C")
struct CEncoderTests {
  /// The bytes that an encoder writes into `room` bytes.
  private func encoded(room: Int = 9000, _ body: (UnsafeMutableRawPointer?, Int) -> Int) -> [UInt8] {
    var output = [UInt8](repeating: 0xEE, count: room)
    let count = output.withUnsafeMutableBytes { body($0.baseAddress, $0.count) }
    return Array(output.prefix(count))
  }

  private func nmea(_ content: String, room: Int = 9000) -> [UInt8] {
    encoded(room: room) { sextant_encode_nmea(content, content.utf8.count, $0, $1) }
  }

  @Test("A sentence has its checksum and line end; an invalid one is refused")
  func sentences() {
    #expect(nmea("PUBX,00") == Wire.nmea("PUBX,00"))
    #expect(nmea("PUBX,00", room: 13) == Wire.nmea("PUBX,00"))
    let refused = ["", "pubx", "PUBX*00", "PUBX,$", "PUBX\r", "PÜBX", "A" + String(repeating: "0", count: 1018)]
    for content in refused { #expect(nmea(content) == []) }
    #expect(nmea("A" + String(repeating: "0", count: 1017)).count == 1024)
    #expect(nmea("PUBX,00", room: 12) == [])
  }

  @Test("Frames of UBX and RTCM 3 have their checksums; too long ones are refused")
  func frames() {
    let payload = [UInt8](1...200)
    #expect(encoded { sextant_encode_ubx(6, 0x8A, payload, 200, $0, $1) } == Wire.ubx(6, 0x8A, payload))
    #expect(encoded { sextant_encode_ubx(10, 4, nil, 0, $0, $1) } == Wire.ubx(10, 4))
    #expect(encoded { sextant_encode_ubx(10, 4, nil, 1, $0, $1) } == [])
    #expect(encoded(room: 207) { sextant_encode_ubx(6, 0x8A, payload, 200, $0, $1) } == [])
    let long = [UInt8](repeating: 0, count: 8193)
    #expect(encoded { sextant_encode_ubx(6, 0x8A, long, 8192, $0, $1) }.count == 8200)
    #expect(encoded { sextant_encode_ubx(6, 0x8A, long, 8193, $0, $1) } == [])
    #expect(encoded { sextant_encode_rtcm3(payload, 200, $0, $1) } == Wire.rtcm3(payload))
    #expect(encoded { sextant_encode_rtcm3(long, 1023, $0, $1) }.count == 1029)
    #expect(encoded { sextant_encode_rtcm3(long, 1024, $0, $1) } == [])
    #expect(encoded(room: 205) { sextant_encode_rtcm3(payload, 200, $0, $1) } == [])
  }

  @Test("Every configuration item is found by name and key, with the type, scale and unit of module UBX")
  func items() {
    var count = 0
    withUnsafeMutablePointer(to: &count) {
      sextant_configuration_items(
        { context, _ in
          context!.assumingMemoryBound(to: Int.self).pointee += 1
          return true
        }, $0)
    }
    #expect(count == ConfigurationItem.all.count)
    for expected in ConfigurationItem.all {
      var item = sextant_configuration_item()
      let isFound = sextant_configuration_item_named("\(expected.name)", &item)
      #expect(isFound)
      #expect(item.key == expected.id)
      #expect(String(cString: item.name) == "\(expected.name)")
      #expect(String(cString: item.unit) == "\(expected.unit)")
      #expect(Int(item.size) == expected.type.size)
      var byKey = sextant_configuration_item()
      #expect(sextant_configuration_item_with_key(expected.id, &byKey) && byKey.name == item.name)
      // One unit of the wire is the same value in both directions.
      let one = ConfigurationPair(id: expected.id, bits: 1).value(of: expected)
      #expect(sextant_configuration_value_in_unit(&item, 1) == one)
      var value = sextant_configuration_value()
      let isMade = sextant_configuration_value_make(&item, one, &value)
      #expect(isMade == (ConfigurationPair(expected, one) != nil))
      #expect(value.bits == ConfigurationPair(expected, one)?.bits ?? 0)
    }
    var item = sextant_configuration_item()
    for name in ["", "CFG-RATE-MEA", "CFG-RATE-MEASX", "cfg-rate-meas"] {
      let isFound = sextant_configuration_item_named(name, &item)
      #expect(!isFound)
    }
  }

  @Test("Negative values and logical ones are checked as their types require")
  func values() {
    func bits(_ name: String, _ value: Double) -> UInt64? {
      var item = sextant_configuration_item()
      var result = sextant_configuration_value()
      guard sextant_configuration_item_named(name, &item),
        sextant_configuration_value_make(&item, value, &result)
      else { return nil }
      return result.bits
    }
    #expect(bits("CFG-TMODE-LAT", -47.2852395) == UInt64(UInt32(bitPattern: -472_852_395)))
    #expect(bits("CFG-TMODE-LAT", 300) == nil)
    #expect(bits("CFG-TP-TP1_ENA", 2) == nil)
    #expect(bits("CFG-RATE-MEAS", 0.1) == 100)
    #expect(bits("CFG-RATE-MEAS", .nan) == nil)
  }

  @Test("The configuration frames conform to the interface description")
  func configuration() {
    let values = [sextant_configuration_value(key: 0x3021_0001, bits: 100), .init(key: 0x1005_0007, bits: 1)]
    let set: [UInt8] = [0, 1, 0, 0, 1, 0, 0x21, 0x30, 100, 0, 7, 0, 5, 0x10, 1]
    #expect(encoded { sextant_encode_valset(1, values, 2, $0, $1) } == Wire.ubx(6, 0x8A, set))
    let keys: [UInt32] = [0x3021_0001]
    let get: [UInt8] = [0, 7, 0x40, 0, 1, 0, 0x21, 0x30]
    #expect(encoded { sextant_encode_valget(7, 64, keys, 1, $0, $1) } == Wire.ubx(6, 0x8B, get))
    let delete: [UInt8] = [0, 6, 0, 0, 1, 0, 0x21, 0x30]
    #expect(encoded { sextant_encode_valdel(6, keys, 1, $0, $1) } == Wire.ubx(6, 0x8C, delete))
    #expect(encoded(room: 15) { sextant_encode_valget(7, 0, keys, 1, $0, $1) } == [])
    let many = [UInt32](repeating: 0x3021_0001, count: 65)
    #expect(encoded { sextant_encode_valget(7, 0, many, 65, $0, $1) } == [])
    #expect(encoded { sextant_encode_valget(7, 0, many, 64, $0, $1) }.count == 268)
    let invalid = [sextant_configuration_value(key: 0, bits: 0)]
    #expect(encoded { sextant_encode_valset(1, invalid, 1, $0, $1) } == [])
  }
}
