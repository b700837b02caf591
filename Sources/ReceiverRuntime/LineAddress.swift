// SPDX-License-Identifier: Apache-2.0
import Receiver
import SerialPort

/// The meaning of a device's name in `--device`, GNSS_DEVICE and the configuration file: a path, or a scheme, a colon
/// and the rest of the address.
package enum LineAddress: Equatable, Sendable {
  /// A tty, pseudo-terminal, FIFO, file or character device.
  case port(String)
  /// `i2c:/dev/i2c-1`, or with the receiver's address `i2c:/dev/i2c-1@0x42`.
  case i2c(bus: String, address: UInt8)
  /// `replay:FILE`, or with a speed `replay:FILE@10`, `replay:FILE@max`.
  case replay(file: String, Replay.Speed)
  /// `tcp://HOST:PORT`, `udp://[HOST]:PORT` or `gpsd://HOST[:PORT][/DEVICE]`.
  case network(NetworkSource)
  /// `sim:SCENARIO`, the built-in simulator: the name of a scenario or the path of one; `sim:` is the default one.
  case simulator(scenario: String)

  /// The default scenario.
  package static let usualScenario = "walk"

  private static let (i2c, replay, simulator) = ("i2c:", "replay:", "sim:")
  /// The schemes before which a comma separates two devices in GNSS_DEVICE.
  static let beginnings = ["/", simulator, i2c, replay] + NetworkSource.beginnings

  /// - Throws: `malformed` with the mistake in the name and the correct form.
  package init(_ name: String) throws(SerialPortError) {
    do throws(NetworkSource.Mistake) {
      if let source = try NetworkSource(name) {
        self = .network(source)
        return
      }
    } catch {
      throw Self.malformed(name, error.text)
    }
    if let rest = name.after(Self.i2c) {
      let (bus, suffix) = rest.splitAtLast("@")
      guard !bus.isEmpty else { throw Self.malformed(name, "names no bus; write it like i2c:/dev/i2c-1") }
      guard let suffix else {
        self = .i2c(bus: bus, address: DDCReader.usualAddress)
        return
      }
      let digits = suffix.hasPrefix("0x") ? suffix.dropFirst(2) : suffix[...]
      // 0x00…0x07 and 0x78…0x7F are reserved (I2C-bus specification, 3.1.12).
      guard let address = UInt8(digits, radix: suffix.hasPrefix("0x") ? 16 : 10), (0x08...0x77).contains(address) else {
        throw Self.malformed(name, "\(suffix) is not an I2C address; a receiver's is 0x42 unless it was changed")
      }
      self = .i2c(bus: bus, address: address)
    } else if let rest = name.after(Self.replay) {
      guard !rest.isEmpty, rest.first != "@" else {
        throw Self.malformed(name, "names no file; write it like replay:FILE or replay:FILE@10")
      }
      let (file, suffix) = rest.splitAtLast("@")
      if let suffix, let speed = Replay.Speed(suffix) {
        self = .replay(file: file, speed)
      } else {
        // A file name may contain an @.
        self = .replay(file: rest, .times(1))
      }
    } else if let rest = name.after(Self.simulator) {
      self = .simulator(scenario: rest.isEmpty ? Self.usualScenario : rest)
    } else {
      self = .port(name)
    }
  }

  /// The operations that the source supports, as far as its name shows.
  package var capabilities: SourceCapabilities {
    switch self {
    case .port, .simulator: SourceCapabilities(isWritable: true, hasBaudRate: true)
    case .i2c: SourceCapabilities(isWritable: true, hasBaudRate: false)
    case .replay: SourceCapabilities(isWritable: false, hasBaudRate: false)
    case .network(let source): source.capabilities
    }
  }

  package static let refusalOfFile = "a file accepts no commands; name the device of a receiver"

  /// The reason why a command that sends cannot use the source, with the next step; nil if the source accepts bytes.
  package var refusalToSend: String? {
    switch self {
    case .port, .i2c, .simulator: nil
    case .replay: Self.refusalOfFile
    case .network(let source): source.refusalToSend
    }
  }

  /// The network source; nil for another kind of source.
  package var networkSource: NetworkSource? { if case .network(let source) = self { source } else { nil } }

  private static func malformed(_ name: String, _ text: String) -> SerialPortError {
    SerialPortError(malformed: text, path: name)
  }
}

extension String {
  /// The text after a prefix; nil if the prefix differs.
  fileprivate func after(_ beginning: String) -> String? {
    hasPrefix(beginning) ? String(dropFirst(beginning.count)) : nil
  }

  fileprivate func splitAtLast(_ mark: Character) -> (String, String?) {
    guard let at = lastIndex(of: mark) else { return (self, nil) }
    return (String(self[..<at]), String(self[index(after: at)...]))
  }
}
