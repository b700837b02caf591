// SPDX-License-Identifier: Apache-2.0

/// An ability that not every receiver has. The names match `sextant probe --json`.
public enum Capability: String, Sendable, CaseIterable {
  /// Configuration items: CFG-VALSET, VALGET and VALDEL.
  case valset
  /// The older CFG messages.
  case legacyConfig
  /// Stores fixes in its memory, and sends them on request (MON-BATCH and LOG-RETRIEVEBATCH, or the logger of another maker).
  case batching
  /// Switches itself off between fixes.
  case powerSaveOnOff
  /// Tracks cyclically, or in Super-E mode.
  case powerSaveCyclic
  /// Sleeps on request (RXM-PMREQ).
  case backup
  /// Stores fixes in its flash (LOG-…).
  case flashLog
  /// Accepts time, position and orbits (AID or MGA).
  case assistance
  /// Accepts corrections in RTCM 3.
  case rtcmInput
  /// Accepts corrections in SPARTN.
  case spartnInput
  /// Watches circles (NAV-GEOFENCE).
  case geofence
  /// Reports raw measurements (RXM-RAWX; receivers of other makers: RTCM 3 MSM).
  case rawMeasurements
  /// Receivers of other makers: rate, messages, constellations and baud rate can be set.
  case configure
  /// Sleeps by a command, and is woken over the line at any time.
  case standby
  /// Sleeps by a command for a given time.
  case timedSleep
  /// Stores fixes in its own memory (LOCUS and the like).
  case logger
  /// Restarts by a command.
  case restart

  /// Returns the capabilities by the interface descriptions and data sheets of a generation and its firmware.
  static func of(_ generation: Generation, version: ProtocolVersion?, firmware: String?, hasFlash: Bool) -> [Capability]
  {
    // D9 PMP 1.04 interface description: items, and no message of a position or of a measurement.
    if generation == .d9 { return [.valset] }
    let type = firmware?.split(separator: " ").first.map(String.init) ?? ""
    // An unknown version proves no ability: neither one that came with a version nor one that ended with it.
    let isBefore34v10 = version.map { $0 < ProtocolVersion(34, 10) } ?? false
    let version = version ?? ProtocolVersion(0, 0)
    let isSuperE = generation == .m8 && version.major == 23
    // Firmware with sensors, high precision or frequency outputs never saves power (M8 interface description, "Power
    // save mode"; M9: standard precision only).
    let cannotSave = ["ADR", "UDR", "FTS", "HPG", "HPS", "MDR", "LAP", "TIM"].contains(type)
    var able: [Capability] = []
    func add(_ capability: Capability, _ condition: Bool) { if condition { able.append(capability) } }

    add(.valset, version >= ProtocolVersion(27, 0) || [.m9, .m10, .f9, .f10, .x20].contains(generation))
    add(.legacyConfig, [.m6, .m7, .m8, .f9].contains(generation) || generation == .m10 && isBefore34v10)
    add(.batching, isSuperE && version >= ProtocolVersion(23, 1) || [.m9, .m10].contains(generation))
    let saves = [.m6, .m7, .m8, .m9].contains(generation) || generation == .m10 && version >= ProtocolVersion(34, 10)
    // Protocol version 23 has Super-E mode in place of cyclic tracking and intervals in place of on/off operation, both
    // by CFG-PMS (u-blox 8 / M8 receiver description, "Power management" and "UBX-CFG-PMS").
    add(.powerSaveOnOff, saves && !cannotSave)
    add(.powerSaveCyclic, saves && !cannotSave)
    add(.backup, true)
    add(.flashLog, [.m9, .f9, .x20].contains(generation) || [.m7, .m8].contains(generation) && hasFlash)
    add(.assistance, true)
    add(.rtcmInput, [.m9, .f9, .x20].contains(generation) || generation == .m8 && type == "HPG")
    // The interface descriptions with CFG-SPARTN and RXM-SPARTNKEY: F9 HPG 1.30, LAP 1.30 and HPS 1.30 are the first.
    let firstWithSPARTN = [
      "HPG": ProtocolVersion(27, 30), "LAP": ProtocolVersion(30, 30), "HPS": ProtocolVersion(33, 30),
    ]
    add(.spartnInput, generation == .x20 || generation == .f9 && firstWithSPARTN[type].map { version >= $0 } ?? false)
    add(.geofence, [.m9, .f9, .x20].contains(generation) || generation == .m8 && version >= ProtocolVersion(18, 0))
    add(.rawMeasurements, [.f9, .x20].contains(generation) || generation == .m8 && ["HPG", "TIM"].contains(type))
    return able
  }
}
