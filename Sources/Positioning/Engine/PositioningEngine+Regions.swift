// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The registration of regions. A region is registered regardless of the permission, and monitored once permission is
/// granted (RG-8): a program may start monitoring before the user has answered.
extension PositioningEngine {
  /// A region whose monitoring has not started, and the manager that receives the event when it does.
  struct AwaitedRegion: Sendable {
    var client: ClientID
    var region: Region
  }

  /// The permission for regions.
  enum RegionPermission {
    /// The user has not decided.
    case open
    case refused
    case granted
  }

  var regionPermission: RegionPermission {
    if authorization.status == .notDetermined { return .open }
    return authorization.status.isAuthorized && authorization.accuracy == .full ? .granted : .refused
  }

  /// Whether there is hardware to monitor the region (RG-21).
  func isSupported(_ shape: Region.Shape) -> Bool {
    shape.isBeacon ? hostCapabilities.hasBluetooth : hostCapabilities.hasSignificantChanges
  }

  mutating func startMonitoring(
    _ region: Region, _ marginMetres: Double?, for call: ClientCall, by index: Int, at now: Instant
  ) {
    let permission = regionPermission
    var failure: PositioningError?
    do throws(PositioningError) {
      guard isSupported(region.shape) else { throw .regionMonitoringFailure }
      try regions.start(region, marginMetres: marginMetres, at: now)
      outputs.append(.store(.regions))
      awaitedRegions.removeAll { $0.region.isSame(as: region) }
      if permission != .granted { awaitedRegions.append(AwaitedRegion(client: clients[index].id, region: region)) }
    } catch {
      failure = error
    }
    if permission == .refused { failure = .regionMonitoringDenied }
    if let failure {
      clients[index].emit(.monitoringDidFail(region, failure), &outputs)
    } else if permission == .granted {
      clients[index].emit(.didStartMonitoring(region), &outputs)
      clients[index].adviseIfNotInUse(for: .waking, &outputs)
    } else {
      askIfStarted(call, by: index, at: now)
    }
  }

  /// Reports the effect of a change of permission on regions.
  ///
  /// - Parameters:
  ///   - before: the previous permission.
  ///   - wasAuthorized: whether the app was authorized before, with any accuracy.
  mutating func regionPermissionChanged(from before: RegionPermission, wasAuthorized: Bool) {
    let now = regionPermission
    if now == .granted {
      for awaited in awaitedRegions { emit(.didStartMonitoring(awaited.region), to: awaited.client) }
      awaitedRegions = []
      return
    }
    guard now == .refused else { return }
    if before == .open {
      for awaited in awaitedRegions {
        emit(.monitoringDidFail(awaited.region, .regionMonitoringDenied), to: awaited.client)
      }
    }
    // The failure of regions that were monitored, or registered earlier, is reported as a failure of the whole service
    // (RG-26).
    let hasOthers = regions.monitored.contains { region in !awaitedRegions.contains { $0.region.isSame(as: region) } }
    guard wasAuthorized || before == .open, !authorization.status.isAuthorized, hasOthers else { return }
    for client in clients { client.emit(.monitoringDidFail(nil, .regionMonitoringDenied), &outputs) }
  }

  private mutating func emit(_ event: DelegateEvent, to id: ClientID) {
    guard let index = index(of: id) else { return }
    clients[index].emit(event, &outputs)
  }
}
