// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// Feeds bytes to an assembler like a receiver, and stores the reports.
public struct Playback: ~Copyable {
  /// A report with its satellites.
  public struct Received: Sendable, Equatable {
    public var fix: Fix
    public var isUpdate: Bool
    public var fixChanged: Bool
    public var skyChanged: Bool
    public var hasDilutionsAlone: Bool
    public var satellites: [Satellite]
  }

  public private(set) var reports: [Received] = []
  private var stream = FrameStream()
  private var assembler: EpochAssembler

  public init(reference: UTCTime? = nil, isLive: Bool = false) {
    assembler = EpochAssembler(reference: reference, isLive: isLive)
  }

  public var fixes: [Fix] { reports.map(\.fix) }
  /// The reports that are not updates of an earlier epoch.
  public var epochs: Int { reports.filter { !$0.isUpdate }.count }
  public var last: Received? { reports.last }
  public var lastFix: Fix? { reports.last?.fix }
  public var rejectedFields: Int { assembler.rejectedFields }
  public var counters: StreamCounters { stream.counters }
  public var isOpen: Bool { assembler.isOpen }

  /// Receives sentences without `$` and checksum. A sentence that ends only with its CR LF is complete at once.
  public mutating func receive(_ sentences: String...) {
    for sentence in sentences { receive(Wire.nmea(sentence)) }
  }

  public mutating func receive(_ frames: [UInt8]...) {
    for bytes in frames { receive(bytes: bytes) }
  }

  private mutating func receive(bytes: [UInt8]) {
    var received: [Received] = []
    var assembler = EpochAssembler()
    swap(&assembler, &self.assembler)
    stream.receive(bytes.raw) { frame in
      assembler.receive(frame) { report, sky in received.append(Received(report, sky)) }
    }
    swap(&assembler, &self.assembler)
    reports += received
  }

  /// The epoch as if it ended now.
  public mutating func preview() -> Received {
    var received: Received?
    assembler.preview { report, sky in received = Received(report, sky) }
    return received!
  }

  /// Ends the epoch with silence on the line.
  public mutating func idle() {
    var received: [Received] = []
    assembler.idle { report, sky in received.append(Received(report, sky)) }
    reports += received
  }

  /// Ends the stream.
  public mutating func finish() {
    var received: [Received] = []
    var assembler = EpochAssembler()
    swap(&assembler, &self.assembler)
    stream.finish { frame in
      assembler.receive(frame) { report, sky in received.append(Received(report, sky)) }
    }
    assembler.finish { report, sky in received.append(Received(report, sky)) }
    swap(&assembler, &self.assembler)
    reports += received
  }
}

extension Playback.Received {
  public init(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    fix = report.fix
    isUpdate = report.isUpdate
    fixChanged = report.fixChanged
    skyChanged = report.skyChanged
    hasDilutionsAlone = report.hasDilutionsAlone
    satellites = []
    let span = sky.satellites
    for index in span.indices { satellites.append(span[index]) }
  }
}

extension UTCTime {
  /// A time in its usual form.
  public init(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0) {
    let seconds = Int64(hour * 3600 + minute * 60 + second)
    self.init(day: Day(year: year, month: month, day: day)!, nanosecondsOfDay: seconds * 1_000_000_000)
  }
}
