// SPDX-License-Identifier: Apache-2.0
import Positioning
import ReceiverStream

/// The expected effect of the program's own actions, visible in its reads before the service has answered.
extension ProgramState {
  mutating func predict(_ action: ClientAction) {
    switch action {
    case .addManager(let id): managers[id] = Manager()
    case .resumeManager(let id, let resumption):
      var manager = managers[id] ?? Manager()
      manager.services = resumption.services
      managers[id] = manager
    case .removeManager(let id): managers[id] = nil
    case .call(let id, let call): predict(call, by: id)
    case .openMonitor(let name): monitors[name] = monitors[name] ?? Monitor()
    case .addCondition(let condition, let identifier, let state, let name):
      // The time of the event comes from the service.
      let event = Positioning.Monitor.Event(
        identifier: identifier, state: state, date: newest?.timestamp ?? UTCTime(nanosecondsSince1970: 0))
      monitors[name]?.add(Positioning.Monitor.Record(condition: condition, lastEvent: event))
    case .removeCondition(let identifier, let name): monitors[name]?.remove(identifier)
    case .takeEvent(let event, let name): monitors[name]?.complete(event)
    case .beginLiveUpdates, .endLiveUpdates, .beginSession, .endSession, .beginBackgroundActivity,
      .resumeBackgroundActivity, .endBackgroundActivity, .application, .answer, .refreshNewest,
      .refreshHostCapabilities, .takeWaitingEvent:
      break
    }
  }

  /// A request to a service whose state has not arrived waits for it, because only the service knows whether it is
  /// permitted.
  mutating func assumePermission(for action: ClientAction) {
    guard case .call(let id, .requestLocation) = action, managers[id]?.services.wantsStandard == false else { return }
    managers[id]?.isRequestPending = true
  }

  private mutating func predict(_ call: ClientCall, by id: Int) {
    guard var manager = managers[id] else { return }
    let isRunning = manager.services.wantsStandard && status.isAuthorized
    manager.services.apply(call, conditions)
    switch call {
    case .startUpdatingLocation: manager.isRequestPending = false
    case .stopUpdatingLocation:
      manager.isRequestPending = false
      manager.deferral = nil
      manager.delivered = nil
    case .stopSignificantChanges: if !manager.services.wantsStandard { manager.delivered = nil }
    case .requestLocation: if status.isAuthorized, !isRunning { manager.isRequestPending = true }
    case .allowDeferredUpdates: manager.isRequestPending = false
    case .disallowDeferredUpdates: manager.deferral = nil
    case .startVisits: visitsAreRunning = true
    case .stopVisits: visitsAreRunning = false
    case .startMonitoring(let region, _): startMonitoring(region)
    case .stopMonitoring(let region): regions.removeAll { $0.isSame(as: region) }
    default: break
    }
    managers[id] = manager
  }

  private mutating func startMonitoring(_ region: Region) {
    let isSupported = region.shape.isBeacon ? hostCapabilities.hasBluetooth : hostCapabilities.hasSignificantChanges
    guard isSupported, region.shape.isPossible(maximumRadiusMetres: maximumRegionRadiusMetres)
    else { return }
    if let index = regions.firstIndex(where: { $0.isSame(as: region) }) {
      regions[index] = region
    } else if regions.count < Regions.limit {
      regions.append(region)
    }
  }
}

extension ProgramState.Monitor {
  mutating func add(_ record: Positioning.Monitor.Record) {
    let identifier = record.lastEvent.identifier
    waiting.removeAll { $0.identifier == identifier }
    if let index = records.firstIndex(where: { $0.lastEvent.identifier == identifier }) {
      records[index] = record
    } else {
      records.append(record)
    }
  }

  mutating func remove(_ identifier: String) {
    waiting.removeAll { $0.identifier == identifier }
    records.removeAll { $0.lastEvent.identifier == identifier }
  }

  /// Records a handled event. An event of the same condition that another process of the service created in its place
  /// is obsolete.
  mutating func complete(_ event: Positioning.Monitor.Event) {
    waiting.removeAll { $0 == event || event.state != .unmonitored && $0.identifier == event.identifier }
    guard let index = records.firstIndex(where: { $0.lastEvent.identifier == event.identifier }) else { return }
    records[index].lastEvent = event
  }
}
