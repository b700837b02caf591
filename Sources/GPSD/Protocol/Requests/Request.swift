// SPDX-License-Identifier: Apache-2.0

import Messages
import WireBytes

/// A request of a client; gpsd_json(5), section "Core protocol commands".
package enum Request: Equatable, Sendable {
  case version
  case devices
  case device(DeviceChange?)
  case watch(WatchChange?)
  case poll
  /// A request that cannot be served, with the reason.
  case invalid(String)

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - name: the characters between `?` and `=`, or the end.
  ///   - arguments: the JSON after `=`; nil if there is none.
  init(name: [UInt8], arguments: [UInt8]?) {
    let text = String(decoding: name, as: UTF8.self)
    switch text {
    case "VERSION": self = .version
    case "DEVICES": self = .devices
    case "POLL": self = .poll
    case "DEVICE", "WATCH":
      guard let arguments else {
        self = text == "WATCH" ? .watch(nil) : .device(nil)
        return
      }
      do throws(Mistake) {
        let members = try Members(arguments)
        self = text == "WATCH" ? .watch(try WatchChange(members)) : .device(try DeviceChange(members))
      } catch {
        self = .invalid("\(text): \(error.text)")
      }
    default: self = .invalid("unknown request ?\(text)")
    }
  }
}

/// An attribute of a request with an invalid value.
private struct Mistake: Error { var text: String }

/// The members of a JSON object, keyed by name.
private struct Members {
  private let object: JSON

  init(_ text: [UInt8]) throws(Mistake) {
    // A character of another encoding, such as in the name of a device, does not refuse the request.
    let text = Array(String(decoding: text, as: UTF8.self).utf8)
    do { object = try JSON(parsing: text) } catch { throw Mistake(text: error.description) }
    if !object.isObject { throw Mistake(text: "the attributes are not a JSON object") }
  }

  private init(_ object: JSON) { self.object = object }

  func object(_ name: String) throws(Mistake) -> Members? {
    guard let value = object[name] else { return nil }
    if !value.isObject { throw Mistake(text: "\(name) is not an object") }
    return Members(value)
  }

  func bool(_ name: String) throws(Mistake) -> Bool? {
    switch object[name] {
    case nil: nil
    case .bool(let value)?: value
    case .integer(let value)?: value != 0
    default: throw Mistake(text: "\(name) is neither true nor false")
    }
  }

  func number(_ name: String) throws(Mistake) -> Double? {
    switch object[name] {
    case nil, .null?: nil
    case .bool(let value)?: value ? 1 : 0
    case .integer(let value)?: Double(value)
    case .double(let value)?: value
    default: throw Mistake(text: "\(name) is not a number")
    }
  }

  func integer(_ name: String, _ range: ClosedRange<Int64>) throws(Mistake) -> Int? {
    switch object[name] {
    case nil: return nil
    case .integer(let value)? where range.contains(value): return Int(value)
    case .bool(let value)? where range.contains(1): return value ? 1 : 0
    default: throw Mistake(text: "\(name) is not an integer of \(range.lowerBound) to \(range.upperBound)")
    }
  }

  func string(_ name: String) throws(Mistake) -> String? {
    switch object[name] {
    case nil: nil
    case .string(let text)?: text
    default: throw Mistake(text: "\(name) is not a string")
    }
  }
}

extension WatchChange {
  /// The longest interval, seconds: a day.
  private static let longestIntervalSeconds = 86_400.0
  /// The greatest accuracy, metres: half the circumference of the earth, which any location satisfies.
  private static let greatestAccuracyMetres = 20_000_000.0

  fileprivate init(_ members: Members) throws(Mistake) {
    enable = try members.bool("enable")
    json = try members.bool("json")
    nmea = try members.bool("nmea")
    // As in gpsd, each number above 1 is the verbatim form.
    raw = try members.number("raw").map { $0 >= 2 ? .verbatim : $0 >= 1 ? .hexadecimal : .off }
    scaled = try members.bool("scaled")
    timing = try members.bool("timing")
    split24 = try members.bool("split24")
    pps = try members.bool("pps")
    device = try members.string("device")
    remote = try members.string("remote")
    guard let less = try members.object("sextant") else { return }
    let (accuracy, interval) = (try less.number("accuracy"), try less.number("interval"))
    if let accuracy, !(accuracy > 0 && accuracy <= Self.greatestAccuracyMetres) {
      throw Mistake(text: "accuracy is not in 0 to \(Int(clamping: Self.greatestAccuracyMetres)) metres")
    }
    if let interval, !(interval > 0 && interval <= Self.longestIntervalSeconds) {
      throw Mistake(text: "interval is not in 0 to \(Int(clamping: Self.longestIntervalSeconds)) seconds")
    }
    demand = Demand(accuracyMetres: accuracy, intervalSeconds: interval)
  }
}

extension DeviceChange {
  fileprivate init(_ members: Members) throws(Mistake) {
    path = try members.string("path")
    bitsPerSecond = try members.integer("bps", 0...4_000_000).map { UInt32($0) }
    parity = try members.string("parity")
    stopBits = try members.integer("stopbits", 0...2)
    native = try members.integer("native", 0...1)
    cycleSeconds = try members.number("cycle")
    guard let digits = try members.string("hexdata") else { return }
    bytes = [UInt8](hexadecimalDigits: digits)
    if bytes == nil { throw Mistake(text: "hexdata is not made of pairs of hexadecimal digits") }
  }
}

/// The attributes of a `?WATCH` request; nil if absent.
package struct WatchChange: Equatable, Sendable {
  /// The attribute `sextant`, which requests less than every epoch.
  package struct Demand: Equatable, Sendable {
    package var accuracyMetres: Double?
    package var intervalSeconds: Double?
  }

  package var enable: Bool?
  package var json: Bool?
  package var nmea: Bool?
  package var raw: WatchPolicy.Raw?
  package var scaled: Bool?
  package var timing: Bool?
  package var split24: Bool?
  package var pps: Bool?
  package var device: String?
  package var remote: String?
  package var demand: Demand?

  package init() {}
}

/// The attributes of a `?DEVICE` request; nil if absent.
package struct DeviceChange: Equatable, Sendable {
  package var path: String?
  package var bitsPerSecond: UInt32?
  package var parity: String?
  package var stopBits: Int?
  /// 1 for the receiver's binary protocol, 0 for NMEA.
  package var native: Int?
  /// The time between two epochs, seconds.
  package var cycleSeconds: Double?
  /// Bytes for the receiver.
  package var bytes: [UInt8]?

  package init() {}

  /// Whether it requests a change, and not only the state.
  package var changes: Bool {
    bitsPerSecond != nil || parity != nil || stopBits != nil || native != nil || cycleSeconds != nil || bytes != nil
  }
}
