// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Receiver
import ReceiverStream
import Synchronization
import SystemPackage

/// The thread that waits for the edges of one source of pulses. The wait is bounded: the thread ends at most 1.5 s
/// after its owner, or 0.5 s if it waits on a port.
final class PulseSource: Sendable {
  struct FetchedEdge: Sendable {
    var edge: PulseShape.Edge
    var time: UTCTime
    /// The clocks after the fetch of the edge.
    var reading: ClockReading
  }

  private struct State {
    var edges: [FetchedEdge] = []
    var isEnding = false
    /// The reason why the source has ended.
    var failure: Errno?
  }

  /// The number of newest edges that are kept while the service is stalled.
  private static let kept = 16

  let path: String
  private let state = Mutex(State())

  /// - Parameter path: the node of the source, or of the port whose carrier line is observed.
  init(path: String) { self.path = path }

  /// Chooses the source of a receiver's pulses; nil without a source. The kernel's stamps are preferred: it takes them in an interrupt.
  ///
  /// - Parameters:
  ///   - port: the path of the receiver's port.
  ///   - descriptor: the open port; nil if it is not open.
  /// - Returns: the source, with the descriptor if this process observes the port's carrier line.
  static func chosen(
    _ policy: PulsePolicy, port: String, _ descriptor: Int32?
  ) -> (source: PulseSource, carrier: Int32?)? {
    if case .device(let path) = policy { return (PulseSource(path: path), nil) }
    if let node = node(ofPort: port) { return (PulseSource(path: node), nil) }
    guard policy == .carrier, let descriptor else { return nil }
    if let node = stampedCarrier(of: port, descriptor) { return (PulseSource(path: node), nil) }
    return (PulseSource(path: port), descriptor)
  }

  /// Opens the source and starts the thread.
  ///
  /// - Parameters:
  ///   - descriptor: the port whose carrier line is observed; nil for a source that the kernel stamps.
  ///   - wake: called on the thread when there are edges, or at its end.
  func start(carrierOf descriptor: Int32? = nil, wake: @escaping @Sendable () -> Void) throws(Errno) {
    // Opened here, so that the caller receives an error.
    let device =
      switch descriptor {
      case .some(let descriptor): try PulseDevice.carrier(ofPort: descriptor)
      case nil: try PulseDevice.open(path)
      }
    let handle = Mutex<PulseDevice?>(consume device)
    let isStarted = BackgroundWork.start { [self] in
      guard var device = handle.withLock({ $0.take() }) else { return }
      run(&device, wake)
    }
    if !isStarted { throw .resourceTemporarilyUnavailable }
  }

  /// Makes the kernel stamp the carrier of a port. Returns the source's node; nil if the kernel cannot: without module
  /// pps_ldisc, or for a port of cdc_acm, which does not report changes to a line discipline.
  private static func stampedCarrier(of port: String, _ descriptor: Int32) -> String? {
    let name = (FileLookup.resolved(port) ?? port).split(separator: "/").last ?? ""
    guard !name.hasPrefix("ttyACM"), (try? PulseDevice.stampCarrier(ofPort: descriptor)) != nil else { return nil }
    return node(ofPort: port)
  }

  private func run(_ device: inout PulseDevice, _ wake: () -> Void) {
    while !state.withLock({ $0.isEnding }) {
      do throws(Errno) {
        let edges = try device.fetch()
        if edges.isEmpty { continue }
        let reading = ClockReading.now()
        state.withLock { state in
          state.edges += edges.map { FetchedEdge(edge: $0.edge, time: $0.time, reading: reading) }
          if state.edges.count > Self.kept { state.edges.removeFirst(state.edges.count - Self.kept) }
        }
        wake()
      } catch {
        state.withLock { $0.failure = error }
        return wake()
      }
    }
  }

  /// Returns the edges since the last call, and the reason why there will be no more; nil while there may be more.
  func take() -> (edges: [FetchedEdge], failure: Errno?) {
    state.withLock { state in
      defer { state.edges = [] }
      return (state.edges, state.failure)
    }
  }

  func end() { state.withLock { $0.isEnding = true } }

  /// Returns the node of the source that stamps a serial port's carrier: /sys/class/pps/ppsN/path names the port; nil
  /// if there is none.
  static func node(ofPort port: String, root: String = "/sys/class/pps") -> String? {
    for name in FileLookup.names(in: root) {
      guard let text = AttributeFile.read("\(root)/\(name)/path") else { continue }
      let path = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
      if !path.isEmpty, path == port || FileLookup.areSame(path, port) { return "/dev/\(name)" }
    }
    return nil
  }
}
