// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Writes the frames of the configuration interface: CFG-VALSET, and the key lists of CFG-VALGET and CFG-VALDEL.
///
///     var writer = ConfigurationWriter(.valset(layers: 1), output.mutableBytes)
///     _ = writer.append(ConfigurationPair(id: 0x3021_0001, bits: 1000))
///     let length = writer.finish()
public struct ConfigurationWriter: ~Copyable, ~Escapable {
  /// The frame to write.
  public enum Kind: Sendable {
    /// Sets items in the layers of the mask (1 RAM, 2 battery-backed RAM, 4 flash), without a transaction.
    case valset(layers: UInt8)
    /// Requests items of a layer (0 RAM, 1 battery-backed RAM, 2 flash, 7 default), from the result number `position`
    /// on.
    case valget(layer: UInt8, position: UInt16)
    /// Deletes items from the layers of the mask.
    case valdel(layers: UInt8)
  }

  /// The maximum number of keys in a frame (interface descriptions, CFG-VALSET).
  public static var mostItems: Int { 64 }

  private var output: MutableRawSpan
  private var end = 10
  private var items = 0

  /// Starts a frame at the start of `output`, which must have room for at least 12 bytes.
  @_lifetime(copy output)
  public init(_ kind: Kind, _ output: consuming MutableRawSpan) {
    self.output = output
    let identity: MessageIdentity
    switch kind {
    case .valset: identity = MessageIdentity(0x06, 0x8A)
    case .valget: identity = MessageIdentity(0x06, 0x8B)
    case .valdel: identity = MessageIdentity(0x06, 0x8C)
    }
    _ = beginFrame(identity, length: 4, in: &self.output)
    switch kind {
    case .valset(let layers), .valdel(let layers): self.output.setLittleEndian(layers, at: 7)
    case .valget(let layer, let position):
      self.output.setLittleEndian(layer, at: 7)
      self.output.setLittleEndian(position, at: 8)
    }
  }

  /// Adds a key with its value, for CFG-VALSET. Returns false, and adds nothing, when the frame or `output` is full or
  /// the key is invalid.
  @_lifetime(self: copy self)
  public mutating func append(_ pair: ConfigurationPair) -> Bool {
    guard let size = configurationValueSize(pair.id), hasRoom(4 + size) else { return false }
    output.setLittleEndian(pair.id, at: end)
    switch size {
    case 1: output.setLittleEndian(UInt8(truncatingIfNeeded: pair.bits), at: end + 4)
    case 2: output.setLittleEndian(UInt16(truncatingIfNeeded: pair.bits), at: end + 4)
    case 4: output.setLittleEndian(UInt32(truncatingIfNeeded: pair.bits), at: end + 4)
    default: output.setLittleEndian(pair.bits, at: end + 4)
    }
    end += 4 + size
    items += 1
    return true
  }

  /// Adds a key without a value, for CFG-VALGET and CFG-VALDEL. Returns false when the frame or `output` is full.
  @_lifetime(self: copy self)
  public mutating func append(key id: UInt32) -> Bool {
    guard hasRoom(4) else { return false }
    output.setLittleEndian(id, at: end)
    end += 4
    items += 1
    return true
  }

  private func hasRoom(_ size: Int) -> Bool { items < Self.mostItems && end + size + 2 <= output.byteCount }

  /// Writes length and checksum, and returns the length of the frame in bytes.
  @_lifetime(self: copy self)
  public mutating func finish() -> Int {
    output.setLittleEndian(UInt16(end - 6), at: 4)
    finishFrame(end + 2, in: &output)
    return end + 2
  }
}
