// SPDX-License-Identifier: Apache-2.0
import GPSDProtocol
import LocationService
import MonotonicTime
import Positioning
import ReceiverStream
import Timekeeping
import WireBytes

extension GPSDServer {
  /// Sends a sample of the clock to the clients that want them.
  func deliver(_ sample: TimeSample, of path: String) {
    guard clients.values.contains(where: \.client.watch.pps), isPermitted else { return }
    let text = GPSDState.text(of: sample, device: path)
    for client in clients.values { client.client.deliver(timing: text, of: path, at: SystemClock.monotonic) }
  }

  /// - Parameter servesClock: whether TOFF comes with the samples of the clock.
  func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, of receiver: Int, servesClock: Bool = false,
    at now: Moment
  ) {
    guard !clients.isEmpty, isPermitted else { return }
    let watches = clients.values.map(\.client.watch)
    let wanted = GPSDState.Wanted(
      nmea: watches.contains(where: \.nmea), timeOffset: !servesClock && watches.contains(where: \.pps))
    let details = frames[receiver]?.details ?? FrameDetails()
    guard
      let epoch = state.receive(report, sky, of: receiver, wanted: wanted, details: details, received: now.utc)
    else { return }
    for client in clients.values { client.client.deliver(epoch, at: now.instant) }
  }

  func receive(_ bytes: RawSpan, of receiver: Int, at now: Instant) {
    guard !clients.isEmpty, let device = state.device(number: receiver), isPermitted else { return }
    let watches = clients.values.map(\.client.watch)
    if watches.contains(where: { $0.raw == .verbatim }) {
      let copy = [UInt8](copying: bytes)
      for client in clients.values { client.client.deliver(verbatim: copy, of: device.path, at: now) }
    }
    // A receiver that sends UBX has its sentences made from the fix.
    let hasText = watches.contains { $0.raw == .hexadecimal || ($0.nmea && !device.isBinary) }
    let hasReports = watches.contains(where: \.json)
    guard hasText || hasReports else {
      frames[receiver] = nil
      return
    }
    let splitter = frames[receiver] ?? ReceiverFrames()
    frames[receiver] = splitter
    splitter.receive(bytes, hasText: hasText, reportsOf: hasReports ? device.path : nil) { frame in
      for client in clients.values {
        switch frame {
        case .sentence(let text):
          client.client.deliver(sentence: text, of: device.path, isOwn: !device.isBinary, at: now)
        case .other(let line): client.client.deliver(hexadecimal: line, of: device.path, at: now)
        case .report(let json): client.client.deliver(DeviceReport(device: device.path, json: json), at: now)
        }
      }
    }
  }
}
