// SPDX-License-Identifier: Apache-2.0
import Receiver

extension ReceiverCapabilities {
  /// The capabilities of an identified receiver at its port in use.
  ///
  /// They come from its family (ReceiverModels.swift), without functions that its firmware or the port excludes.
  public init(_ receiver: ReceiverDescription, port: ReceiverPortNumber?) {
    defer {
      if backup?.wakesByLine == false { backup?.shortestSeconds = SessionTimes.shortestSleep(of: receiver).seconds }
    }
    if let family = receiver.family {
      self = Self.otherMaker(family, receiver, port: port)
      return
    }
    self = Self.family(of: receiver)
    if !receiver.can(.powerSaveCyclic) { loseCyclicTracking() }
    // The session's on/off operation begins above what cyclic tracking covers.
    onOffShortestSeconds = receiver.can(.powerSaveOnOff) ? onOffShortestSeconds.map { max($0, 11) } : nil
    if !receiver.can(.batching) { batching = nil }
    // Older receivers change their constellations by a restart that the host has to command.
    if !receiver.can(.valset) { reducedCurrents = nil }
    flashLog = receiver.can(.flashLog)
    // Constellations that are off outlive a sleep. After a crash the next program switches them on again: it recognises
    // the receiver by its serial line.
    if port == .usb || port == .i2c || port == .spi { reducedCurrents = nil }
    switch port {
    case _ where !receiver.can(.backup): backup = nil
    // In backup a receiver leaves the USB: its device would go and come back at each position check.
    case .usb: backup = nil
    // Traffic on I2C wakes no receiver; only time does.
    case .i2c, .uart1, .uart2, .spi, nil: backup?.wakesByLine = receiver.isWoken(at: port)
    }
  }

  /// The constellations that are switched off where fewer will do: those that the smaller set of currents excludes.
  static func spareConstellations(_ receiver: ReceiverDescription) -> [DesiredConfiguration.Constellation] {
    receiver.generation == .m9 ? [.galileo, .beiDou] : [.galileo, .beiDou, .glonass]
  }

  private static func family(of receiver: ReceiverDescription) -> ReceiverCapabilities {
    switch receiver.generation {
    case .m6, .m7: .m6
    case .m8: receiver.can(.batching) ? .m8Batching : .m8
    case .m9: .m9
    case .m10: (receiver.protocolVersion ?? ProtocolVersion(0, 0)) >= ProtocolVersion(34, 10) ? .m10 : .m10SPG500
    case .f9: .f9
    case .f10: .f10
    case .x20: .x20
    case .d9, nil: .plainNMEA
    }
  }

  /// A receiver of another maker sleeps by a command where it has one; it has no other mode.
  private static func otherMaker(
    _ family: ReceiverFamily, _ receiver: ReceiverDescription, port: ReceiverPortNumber?
  ) -> ReceiverCapabilities {
    var capabilities =
      switch family {
      case .mediaTek: receiver.hardware == "MT3333" ? mt3333 : mt3339
      case .airoha: ag3352
      case .casic, .quectel, .unicore, .firebird, .teseo, .skyTraq, .allystar, .septentrio, .siRF: plainNMEA
      }
    if receiver.can(.standby) {
      // Traffic on I2C wakes none of them.
      capabilities.backup = port == .i2c ? nil : Backup()
    } else if receiver.can(.timedSleep) {
      capabilities.backup = Backup(longestSeconds: 86_400, wakesByLine: false)
    } else {
      capabilities.backup = nil
    }
    // The log of a user would miss the time of a sleep.
    if receiver.runningLog != nil { capabilities.backup = nil }
    if receiver.can(.batching) {
      // As many as are read in time at 9600 baud.
      capabilities.batching = Batching(
        plainEpochs: 1000, extendedEpochs: 1000, endsWithRead: true, outlivesRestart: receiver.keepsLogOverRestart)
    }
    return capabilities
  }

  private mutating func loseCyclicTracking() {
    cyclicLongestSeconds = nil
    currents.cyclic = nil
    reducedCurrents?.cyclic = nil
  }
}
