import ReceiverStream

/// Plays bytes to an assembler as a receiver would send them, and stores the reports.
public struct Playback: ~Copyable {
  /// A report with its satellites.
  public struct Heard: Sendable, Equatable {
    public var fix: Fix
    public var isUpdate: Bool
    public var fixChanged: Bool
    public var skyChanged: Bool
    public var hasDilutionsAlone: Bool
    public var satellites: [Satellite]
  }

  public private(set) var reports: [Heard] = []
  private var stream = FrameStream()
  private var assembler: EpochAssembler

  public init(reference: UTCTime? = nil) { assembler = EpochAssembler(reference: reference) }

  public var fixes: [Fix] { reports.map(\.fix) }
  /// The reports that are not updates of an earlier epoch.
  public var epochs: Int { reports.filter { !$0.isUpdate }.count }
  public var last: Heard? { reports.last }
  public var lastFix: Fix? { reports.last?.fix }
  public var rejectedFields: Int { assembler.rejectedFields }
  public var counters: StreamCounters { stream.counters }
  public var isOpen: Bool { assembler.isOpen }

  /// Sentences without `$` and checksum. A sentence that only its CR LF ends is complete at once.
  public mutating func hear(_ sentences: String...) {
    for sentence in sentences { hear(Wire.nmea(sentence)) }
  }

  public mutating func hear(_ frames: [UInt8]...) {
    for bytes in frames { hear(bytes: bytes) }
  }

  private mutating func hear(bytes: [UInt8]) {
    var heard: [Heard] = []
    var assembler = EpochAssembler()
    swap(&assembler, &self.assembler)
    stream.receive(bytes.raw) { frame in
      assembler.receive(frame) { report, sky in heard.append(Heard(report, sky)) }
    }
    swap(&assembler, &self.assembler)
    reports += heard
  }

  /// The epoch as it would be if it ended now.
  public mutating func preview() -> Heard {
    var heard: Heard?
    assembler.preview { report, sky in heard = Heard(report, sky) }
    return heard!
  }

  /// The line becomes silent.
  public mutating func idle() {
    var heard: [Heard] = []
    assembler.idle { report, sky in heard.append(Heard(report, sky)) }
    reports += heard
  }

  /// The stream ends.
  public mutating func finish() {
    var heard: [Heard] = []
    var assembler = EpochAssembler()
    swap(&assembler, &self.assembler)
    stream.finish { frame in
      assembler.receive(frame) { report, sky in heard.append(Heard(report, sky)) }
    }
    assembler.finish { report, sky in heard.append(Heard(report, sky)) }
    swap(&assembler, &self.assembler)
    reports += heard
  }
}

extension Playback.Heard {
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
