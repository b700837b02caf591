// SPDX-License-Identifier: Apache-2.0
import Testing
import WireBytes

@Suite("Numbers as integers")
struct ClampedNumbersTests {
  @Test("A number in range is cut towards zero, as by the conversion of the standard library")
  func inRange() {
    for number in [
      0, -0.0, 0.999, -0.999, 1, -1, 126.7, -127.9, Double.leastNonzeroMagnitude, -Double.leastNonzeroMagnitude,
    ] {
      #expect(Int8(clamping: number) == Int8(number))
      #expect(Int(clamping: number) == Int(number))
    }
    for number in [9_007_199_254_740_993.0, -9_007_199_254_740_993.0, 0x1p62, -0x1p63, (0x1p63).nextDown] {
      #expect(Int64(clamping: number) == Int64(number))
    }
    #expect(UInt64(clamping: (0x1p64).nextDown) == UInt64((0x1p64).nextDown))
    #expect(UInt64(clamping: 0x1p63) == 1 << 63)
  }

  @Test("A number out of range is the nearest limit of the type, and NaN is 0")
  func outOfRange() {
    func check<Integer: FixedWidthInteger>(_ type: Integer.Type) {
      for number in [0x1p64, 1e300, Double.greatestFiniteMagnitude, .infinity] {
        #expect(Integer(clamping: number) == .max, "\(number) as \(type)")
        #expect(Integer(clamping: -number) == .min, "\(-number) as \(type)")
      }
      for number in [Double.nan, -.nan, .signalingNaN] { #expect(Integer(clamping: number) == 0) }
      #expect(Integer(clamping: Double(Integer.max) * 2) == .max)
      #expect(Integer(clamping: Double(Integer.min) * 2 - 1) == .min)
    }
    check(Int.self)
    check(Int8.self)
    check(Int16.self)
    check(Int32.self)
    check(Int64.self)
    check(UInt.self)
    check(UInt8.self)
    check(UInt16.self)
    check(UInt32.self)
    check(UInt64.self)
  }
}
