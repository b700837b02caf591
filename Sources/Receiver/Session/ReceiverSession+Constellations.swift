import UBX

/// Constellations that a wish leaves out, and the way back: they are as they were found when it ends.
extension ReceiverSession {
  /// The wish as items; constellations that it leaves out no more are as they were found.
  func items(of desired: DesiredConfiguration) -> [Setting] {
    var desired = desired
    // Where a killed program leaves no word (`recovery`), nobody would switch them on again.
    if !hasRateSearch { desired.withoutConstellations = nil }
    var list = desired.itemSettings(port ?? .uart1)
    guard let without = desired.withoutConstellations else { return list }
    for one in foundConstellations where !without.contains(one) {
      list.append(.item(ConfigurationPair(id: one.enablingKey, bits: 1)))
    }
    return list
  }

  /// Those that were on before this host wrote them.
  private var foundConstellations: [DesiredConfiguration.Constellation] {
    DesiredConfiguration.Constellation.allCases.filter { one in
      memory.found.contains { $0.setting == .item(ConfigurationPair(id: one.enablingKey, bits: 1)) }
    }
  }

  /// Those of them that the wish leaves out.
  var constellationsLeftOut: [DesiredConfiguration.Constellation] {
    guard let without = desired?.withoutConstellations else { return [] }
    return foundConstellations.filter { without.contains($0) }
  }

  /// An earlier program did not live to switch them on again: they were on when it found the receiver.
  mutating func takeBackConstellations(_ description: ReceiverDescription) {
    guard let recovery = settings.recovery, !recovery.without.isEmpty, description.can(.valset) else { return }
    for one in recovery.without {
      let pair = ConfigurationPair(id: one.enablingKey, bits: 1)
      // This program's own, before its line was lost.
      if memory.found.contains(where: { $0.setting.isOfSame(.item(pair)) }) { continue }
      memory.found.append(Configuration.Found(setting: .item(pair)))
      // What outlives sleep says that they are off.
      memory.backup.kept.append(pair)
    }
    // Not through the optional: Swift 6.2's optimizer ends there.
    if var desired {
      desired.withoutConstellations = []
      self.desired = desired
    }
  }
}
