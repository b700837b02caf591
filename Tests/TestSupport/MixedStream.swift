// SPDX-License-Identifier: Apache-2.0

/// A random stream of frames of all protocols with noise between them, and the positions of its frames.
public struct MixedStream: Sendable {
  public struct Piece: Sendable, Equatable {
    public var offset: Int
    public var bytes: [UInt8]
    public var range: Range<Int> { offset..<offset + bytes.count }
  }

  public private(set) var bytes: [UInt8] = []
  public private(set) var frames: [Piece] = []

  public init(frames count: Int, _ random: inout SeededRandomNumberGenerator) {
    for _ in 0..<count {
      if random.oneIn(4) { bytes += Self.noise(&random) }
      append(Self.frame(&random))
    }
  }

  public mutating func append(_ frame: [UInt8]) {
    frames.append(Piece(offset: bytes.count, bytes: frame))
    bytes += frame
  }

  /// Bytes without the beginning of a frame.
  static func noise(_ random: inout SeededRandomNumberGenerator) -> [UInt8] {
    random.bytes(random.int(1...40)).map { [0xB5, 0xD3, 0x24, 0x21].contains($0) ? 0 : $0 }
  }

  public static func frame(_ random: inout SeededRandomNumberGenerator) -> [UInt8] {
    switch random.int(0...5) {
    case 0...2: Wire.nmea(sentence(&random))
    case 3...4: Wire.ubx(random.element(of: [1, 2, 5, 6, 10, 13]), random.byte(), random.bytes(random.int(0...120)))
    default: Wire.rtcm3(random.bytes(random.int(2...150)))
    }
  }

  private static func sentence(_ random: inout SeededRandomNumberGenerator) -> String {
    var text = random.element(of: ["GP", "GN", "GL", "GA", "GB", "P"])
    text += random.element(of: ["GGA", "RMC", "GSV", "GSA", "VTG", "GLL", "UBX"])
    for _ in 0..<random.int(0...18) {
      text += ","
      for _ in 0..<random.int(0...7) { text += random.element(of: ["0", "1", "5", "9", ".", "A", "N", "E", "-"]) }
    }
    return text
  }

  /// The stream with each byte changed with a probability of `share`, and the unchanged frames.
  public func damaged(share: Double, _ random: inout SeededRandomNumberGenerator) -> (bytes: [UInt8], intact: [Piece]) {
    var damaged = bytes
    let threshold = UInt64(share * 0x1p32)
    for index in damaged.indices where random.next() >> 32 < threshold { damaged[index] ^= UInt8(random.int(1...255)) }
    return (damaged, frames.filter { damaged[$0.range].elementsEqual($0.bytes) })
  }
}
