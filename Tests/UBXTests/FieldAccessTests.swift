// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import UBX

@Suite("The functions of generated fields")
struct FieldAccessTests {
  @Test("A value of each wire type is read as it was written, in little-endian order")
  func wireTypes() {
    let bytes = written { output in
      output.setU1(0xFE, at: 0)
      output.setU2(0xFEDC, at: 1)
      output.setU4(0xFEDC_BA98, at: 3)
      output.setU8(0xFEDC_BA98_7654_3210, at: 7)
      output.setI1(-2, at: 15)
      output.setI2(-3, at: 16)
      output.setI3(-4, at: 18)
      output.setI4(-5, at: 21)
      output.setI8(-6, at: 25)
      output.setR4(-1.5, at: 33)
      output.setR8(2.5, at: 37)
      return 46
    }
    let input = bytes.raw
    #expect(input.u1(0) == 0xFE && input.u2(1) == 0xFEDC && input.u4(3) == 0xFEDC_BA98)
    #expect(input.u8(7) == 0xFEDC_BA98_7654_3210 && input.u1(7) == 0x10 && input.u1(14) == 0xFE)
    #expect(input.i1(15) == -2 && input.i2(16) == -3 && input.signed24(18) == -4 && input.i4(21) == -5)
    #expect(input.i8(25) == -6 && input.r4(33) == -1.5 && input.r8(37) == 2.5 && input.u1(45) == 0)
  }

  @Test("Blocks are in the payload, and the bytes after them")
  func blocks() {
    let bytes = [UInt8](0..<20)
    let payload = bytes.raw
    #expect(payload.blockCount(8, 5) == 2 && payload.blockCount(24, 5) == 0)
    #expect(payload.hasBlocks(8, 2, 6) && !payload.hasBlocks(8, 3, 6))
    #expect(payload.block(8, 1, 6, of: 2).u1(0) == 14 && payload.block(8, 1, 6, of: 2).byteCount == 6)
    #expect(payload.rest(18).byteCount == 2 && payload.rest(30).byteCount == 0)
  }

  @Test("Bits and scaled values are read at every width")
  func bits() {
    #expect((0x80 as UInt8).bit(7) && !(0x80 as UInt8).bit(6) && (0xB0 as UInt8).bits(4, 0x7) == 3)
    #expect((0x8000 as UInt16).bit(15) && (0xB000 as UInt16).bits(12, 0x7) == 3)
    #expect((0x8000_0000 as UInt32).bit(31) && (0xB000_0000 as UInt32).bits(28, 0x7) == 3)
    #expect((1 << 63 as UInt64).bit(63) && (0xB << 60 as UInt64).bits(60, 0x7) == 3)
    #expect((481_234_567 as Int32).divided(by: 1e7) == 48.1234567 && (-3 as Int8).scaled(by: 0.25) == -0.75)
  }
}
