// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// A receiver in the form of DEVICE; gpsd_json(5), section "DEVICE".
package struct GPSDDevice: Equatable, Sendable {
  package enum Driver: String, Sendable {
    case uBlox = "u-blox"
    case nmea = "NMEA0183"
    /// Clients expect a driver even before a valid message.
    case unknown = "Unknown"
  }

  /// The node, or the name of a simulator.
  package var path: String
  /// The number of the receiver, which it keeps.
  package var number: Int
  /// Whether it is open and not asleep.
  package var isActive: Bool
  package var driver: Driver
  /// Whether it sends its binary protocol.
  package var isBinary = false
  /// The strings of MON-VER: software, hardware, and the rest.
  package var version: [String]
  package var bitsPerSecond: UInt32?
  /// The time between two epochs at full rate, in milliseconds; nil for the default of one second.
  package var cycleMilliseconds: UInt16?
  /// The shortest one, in milliseconds; nil for a receiver whose rate cannot be changed.
  package var shortestCycleMilliseconds: UInt16?
  /// The time at which it became active.
  package var activated: UTCTime?

  package init(
    path: String, number: Int = 0, isActive: Bool, driver: Driver = .unknown, version: [String] = [],
    bitsPerSecond: UInt32? = nil, cycleMilliseconds: UInt16? = nil, shortestCycleMilliseconds: UInt16? = nil
  ) {
    self.path = path
    self.number = number
    self.isActive = isActive
    self.driver = driver
    self.version = version
    self.bitsPerSecond = bitsPerSecond
    self.cycleMilliseconds = cycleMilliseconds
    self.shortestCycleMilliseconds = shortestCycleMilliseconds
  }

  /// The same receiver after it was closed.
  var inactive: GPSDDevice {
    var device = self
    (device.isActive, device.activated) = (false, nil)
    return device
  }
}

/// The reports of one epoch for all clients, each a whole number of lines.
package struct EpochReports: Equatable, Sendable {
  /// The path of the receiver.
  package var device: String
  /// TPV, SKY, GST and ATT, if they are new.
  package var json: [UInt8] = []
  /// TOFF.
  package var timeOffset: [UInt8] = []
  /// Sentences that are made from the fix; empty if the receiver sends its own.
  package var nmea: [UInt8] = []

  package init(device: String, json: [UInt8] = [], timeOffset: [UInt8] = [], nmea: [UInt8] = []) {
    self.device = device
    self.json = json
    self.timeOffset = timeOffset
    self.nmea = nmea
  }
}

/// A report of a receiver other than its epochs: it was connected, removed, or identified, or sent a correction.
package struct DeviceReport: Equatable, Sendable {
  package var device: String
  package var json: [UInt8]

  package init(device: String, json: [UInt8]) {
    self.device = device
    self.json = json
  }
}
