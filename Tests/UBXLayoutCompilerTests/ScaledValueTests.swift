// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UBXLayoutCompiler

@Suite("Scaled values")
struct ScaledValueTests {
  private func swift(_ fields: String) throws -> String {
    var parser = Parser(file: "X.ubx")
    let messages = try parser.parse("message TST-ONE 01 0A output ; A test\n" + fields)
    var emitter = SwiftEmitter()
    for message in messages { emitter.emit(message) }
    return emitter.text
  }

  @Test("A field with a scale has a property with the value in its unit, in a name with the unit")
  func names() throws {
    let text = try swift("I4 lat 1e-7 deg\nI4 headMot 1e-5 deg\nU2 pDOP 0.01\nI2 t 2^-4 ms\n")
    #expect(text.contains("public var latitudeDegrees: Double { lat.divided(by: 1e7) }"))
    #expect(text.contains("public var headMotDegrees: Double { headMot.divided(by: 1e5) }"))
    #expect(text.contains("public var pDOPScaled: Double { pDOP.divided(by: 1e2) }"))
    #expect(text.contains("public var tMilliseconds: Double { t.scaled(by: 0x1p-4) }"))
  }

  @Test("Fields without a scale, arrays, reserved ones and units without a word have no such property")
  func others() throws {
    let text = try swift("U4 iTOW ms\nU1[3] reserved0 0.1\nI2[2] a 1e-2 deg\nI2 b 2^-30 arcsec/d\n")
    #expect(!text.contains(": Double"))
  }

  @Test("A field that earlier firmware does not send is optional in both forms, and a block has its own")
  func optionalAndBlocks() throws {
    let text = try swift("minimum 1\nU1 n\nI4 lon 1e-7 deg\n")
    #expect(text.contains("public var longitudeDegrees: Double? { lon.map { $0.divided(by: 1e7) } }"))
    let blocks = try swift("U1 n\nrepeat n as Thing\nI2 elev 1e-2 deg\nend\n")
    #expect(blocks.contains("public var elevDegrees: Double { elev.divided(by: 1e2) }"))
  }
}
