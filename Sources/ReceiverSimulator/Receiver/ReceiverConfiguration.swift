// SPDX-License-Identifier: Apache-2.0

/// The configuration of a receiver of any family.
enum ReceiverConfiguration: Sendable {
  /// A fixed configuration.
  case none
  case legacy(LegacyConfiguration)
  case items(ItemConfiguration)

  init(_ traits: ModelTraits) {
    switch traits.configuration {
    case .none: self = .none
    case .legacy: self = .legacy(LegacyConfiguration(traits))
    case .items, .itemsAndLegacy: self = .items(ItemConfiguration(traits))
    }
  }

  /// The settings in force for a port.
  func settings(port: Int, _ traits: ModelTraits) -> Settings {
    switch self {
    case .legacy(let configuration): return configuration.settings(port: port)
    case .items(let configuration): return configuration.settings(port: port)
    case .none:
      var settings = Settings()
      settings.baudRate = traits.defaultBaudRate
      settings.systems = traits.defaultSystems
      settings.nmeaVersion = traits.nmeaVersion
      settings.sendsUBX = false
      settings.textNMEA = 0
      // GGA, GSA and RMC each second, GSV every five seconds.
      for (index, message) in OutputMessage.all.enumerated() {
        let every: UInt8? =
          switch message.identity.key {
          case 0xF000, 0xF002, 0xF004: 1
          case 0xF003: 5
          default: nil
          }
        if let every { settings.rates.append(Settings.OutputRate(message: index, every: every)) }
      }
      return settings
    }
  }

  func value(ofItem key: UInt32) -> UInt64? {
    guard case .items(let configuration) = self, configuration.database.contains(key) else { return nil }
    return configuration.value(key)
  }

  /// Rebuilds the settings in force, as at each start.
  mutating func restart() {
    switch self {
    case .none: break
    case .legacy(var configuration):
      configuration.restart()
      self = .legacy(configuration)
    case .items(var configuration):
      configuration.restart()
      self = .items(configuration)
    }
  }

  /// Clears battery-backed memory: the battery is empty.
  mutating func clearBackup() {
    switch self {
    case .none: break
    case .legacy(var configuration):
      configuration.clearBackup()
      self = .legacy(configuration)
    case .items(var configuration):
      configuration.clearBackup()
      self = .items(configuration)
    }
  }
}
