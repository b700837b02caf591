// SPDX-License-Identifier: Apache-2.0
import GPSD
import LocationService
import MonotonicTime
import Positioning
import Receiver
import ReceiverStream
import WireBytes

extension GPSDServer {
  /// Sends a sample of the clock to the clients that requested samples.
  func deliver(_ sample: TimeSample, of path: String) {
    guard clients.values.contains(where: \.client.watch.pps), isPermitted else { return }
    let text = GPSDState.text(of: sample, device: path)
    for client in clients.values { client.client.deliver(timing: text, of: path, at: SystemClock.monotonic) }
  }

  /// - Parameter servesClock: whether TOFF is sent with the samples of the clock.
  func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, of receiver: Int, servesClock: Bool = false,
    at now: Moment
  ) {
    guard !clients.isEmpty, isPermitted else { return }
    let watches = clients.values.map(\.client.watch)
    let wanted = GPSDState.Wanted(
      nmea: watches.contains(where: \.nmea), timeOffset: !servesClock && watches.contains(where: \.pps))
    let found = details[receiver] ?? FrameDetails()
    guard let epoch = state.receive(report, sky, of: receiver, wanted: wanted, details: found, received: now.utc)
    else { return }
    if !report.isUpdate { details[receiver]?.endEpoch() }
    for client in clients.values { client.client.deliver(epoch, at: now.instant) }
  }

  func receive(_ bytes: RawSpan, of receiver: Int, at now: Instant) {
    guard clients.values.contains(where: { $0.client.watch.raw == .verbatim }),
      let device = state.device(number: receiver), isPermitted
    else { return }
    let copy = [UInt8](copying: bytes)
    for client in clients.values { client.client.deliver(verbatim: copy, of: device.path, at: now) }
  }

  /// Sends a frame: a sentence to clients that read NMEA or all frames, any other frame in hexadecimal digits to the
  /// latter, and a correction as a report.
  func receive(_ frame: borrowing Frame, of receiver: Int, at now: Instant) {
    guard !clients.isEmpty, let index = state.devices.firstIndex(where: { $0.number == receiver }) else { return }
    details[receiver, default: FrameDetails()].receive(frame)
    // For a receiver that sends UBX, the sentences are made from the fix.
    let isOwn = !state.devices[index].isBinary
    let isCorrection = frame.kind == .rtcm3 && clients.values.contains { $0.client.watch.json }
    let wantsText = clients.values.contains {
      $0.client.watch.raw == .hexadecimal || (frame.kind == .nmea && isOwn && $0.client.watch.nmea)
    }
    guard wantsText || isCorrection, isPermitted else { return }
    let path = state.devices[index].path
    if isCorrection, let json = GPSDState.correctionReport(frame, device: path) {
      for client in clients.values { client.client.deliver(DeviceReport(device: path, json: json), at: now) }
    }
    guard wantsText else { return }
    let text = GPSDState.text(of: frame)
    for client in clients.values {
      if frame.kind == .nmea {
        client.client.deliver(sentence: text, of: path, isOwn: isOwn, at: now)
      } else {
        client.client.deliver(hexadecimal: text, of: path, at: now)
      }
    }
  }
}
