/// What a configuration means for the port that the host is at, whatever family it is written in.
struct Settings: Sendable, Equatable {
  var baudRate: UInt32 = 9600
  var readsUBX = true
  var readsNMEA = true
  var readsRTCM3 = false
  var sendsUBX = true
  var sendsNMEA = true
  var measurementMilliseconds: UInt32 = 1000
  /// Measurements for each solution.
  var cycles: UInt32 = 1
  /// How often each message is sent, in epochs, by its place in `OutputMessage.all`; those with 0 are not here.
  var rates: [OutputRate] = []
  /// Information messages, bits error, warning, notice, test, debug.
  var textNMEA: UInt8 = 7
  var textUBX: UInt8 = 0
  var acknowledgesAiding = false
  var systems: SatelliteSystems = .gps
  /// 0x23 is 2.3, 0x4B is 4.11.
  var nmeaVersion: UInt8 = 0x40
  var powerSave = PowerSave()
  var batch = Batch()
  var hasOdometer = false
  var logFilter = LogFilter()

  struct OutputRate: Sendable, Equatable {
    var message: Int
    var every: UInt8
  }

  var epochMilliseconds: UInt32 { measurementMilliseconds * max(1, cycles) }

  struct PowerSave: Sendable, Equatable {
    enum Mode: Sendable, Equatable { case continuous, onOff, cyclic }
    var mode = Mode.continuous
    /// From fix to fix; 0 for only when it is asked.
    var updateSeconds = 1.0
    /// From a search that failed to the next; 0 for never.
    var searchSeconds = 10.0
    var gridOffsetSeconds = 0.0
    /// Tracking after a fix.
    var onSeconds = 0.0
    var minimumAcquisitionSeconds = 0.0
    /// 0 for no limit.
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
    var usesPin = false
  }

  struct LogFilter: Sendable, Equatable {
    var records = false
    var minimumSeconds = 0
    var timeSeconds = 0
    var speedMetresPerSecond = 0
    var distanceMetres = 0
    var oncePerWake = false
  }
}
