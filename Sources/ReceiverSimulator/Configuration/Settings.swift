// SPDX-License-Identifier: Apache-2.0

/// The settings of the host's port, from a configuration of any family.
struct Settings: Sendable, Equatable {
  var baudRate: UInt32 = 9600
  var readsUBX = true
  var readsNMEA = true
  var readsRTCM3 = false
  var readsSPARTN = false
  /// Whether SPARTN comes from the L-band (RXM-PMP), so that frames at a port are not used.
  var usesLBand = false
  var sendsUBX = true
  var sendsNMEA = true
  var sendsRTCM3 = false
  var measurementMilliseconds: UInt32 = 1000
  /// The number of measurements for each solution.
  var cycles: UInt32 = 1
  /// The interval of each message in epochs, by its index in `OutputMessage.all`; messages that are off are absent.
  var rates: [OutputRate] = []
  /// Information messages, bits error, warning, notice, test, debug.
  var textNMEA: UInt8 = 7
  var textUBX: UInt8 = 0
  var acknowledgesAiding = false
  var systems: SatelliteSystems = .gps
  /// The enabled signals: keys of items, or rows of CFG-GNSS.
  var signals: [UInt32] = []
  /// The NMEA version: 0x23 is 2.3, 0x4B is 4.11.
  var nmeaVersion: UInt8 = 0x40
  var powerSave = PowerSave()
  var batch = Batch()
  var hasOdometer = false
  var timeMode = TimeMode.Setting.off
  var logFilter = LogFilter()

  struct OutputRate: Sendable, Equatable {
    var message: Int
    var every: UInt8
  }

  var epochMilliseconds: UInt32 { measurementMilliseconds * max(1, cycles) }

  struct PowerSave: Sendable, Equatable {
    enum Mode: Sendable, Equatable { case continuous, onOff, cyclic }
    var mode = Mode.continuous
    /// The interval between fixes; 0 for fixes on request only.
    var updateSeconds = 1.0
    /// The interval between a failed search and the next; 0 for no further search.
    var searchSeconds = 10.0
    var gridOffsetSeconds = 0.0
    /// The duration of tracking after a fix.
    var onSeconds = 0.0
    var minimumAcquisitionSeconds = 0.0
    /// The limit of a search; 0 for no limit.
    var maximumAcquisitionSeconds = 0.0
    var waitsForTime = false
    var updatesEphemeris = true
    var doesNotEnterOff = false
  }

  struct Batch: Sendable, Equatable {
    var isEnabled = false
    var keepsPVT = false
    var keepsOdometer = false
    var size = 0
    var warning = 0
  }

  struct LogFilter: Sendable, Equatable {
    var records = false
    var minimumSeconds = 0
    var timeSeconds = 0
    var speedMetresPerSecond = 0
    var distanceMetres = 0
  }
}
