// SPDX-License-Identifier: Apache-2.0
import Receiver
import ReceiverStream
import SerialPort

extension ReceiverConnection {
  /// Whether a port is open.
  package var isOpen: Bool { read { _ in true } ?? false }
  /// The port with its udev attributes, even while it is absent; nil for a port without device events.
  package var announcedPort: ReceiverPort? { reopening.policy?.port }
  /// Whether the line accepts bytes; nil while it is closed.
  package var isWritable: Bool? { read { $0.line.isWritable } }
  /// Whether the session has ended normally.
  package var isEnded: Bool { hasEnded || (read { $0.session.isEnded } ?? true) }
  /// The description that the receiver sent.
  /// The family of commands of another maker's receiver, also where its sentences alone show it.
  package var family: ReceiverFamily? { read { $0.session.family } }
  package var description: ReceiverDescription? { read { $0.session.description } ?? memory?.description }
  /// Whether a receiver sends valid frames on the line.
  package var isDetected: Bool { read { $0.session.isReceiving } ?? false }
  /// The rate of the line, baud.
  package var rate: UInt32? { read { $0.session.rate } }
  /// The temporary rate of the line, if it differs from the found one.
  package var raisedRate: RaisedRate? { read { $0.session.raisedRate } }
  /// The rate that the line has without the one that the session raised it to, in baud; nil for a line without a rate.
  package var configuredRate: UInt32? { raisedRate?.found ?? rate }
  /// The tasks that undo what the last tasks changed.
  package var undoingTasks: [ReceiverTask] { read { $0.session.undoingTasks } ?? [] }
  /// The changed settings of the crash-recovery record.
  package var recoverySettings: CrashRecoverySettings? { read { $0.session.recoverySettings } }
  /// Whether the end of the session restores settings of the receiver.
  package var needsRestoring: Bool { read { $0.session.putsBack || $0.session.awaitsRecovery } ?? false }
  /// Whether the receiver sends NMEA after the end of the session, where the end restores that; nil where it does not.
  package var sendsNMEAAfterEnd: Bool? { read { $0.session.sendsNMEAAfterEnd } }
  /// The receiver's port at this line, if known.
  package var port: ReceiverPortNumber? { read { $0.session.port } }
  /// The orbits that the receiver returned at the end of its session, if they were requested.
  package var navigationDatabase: [AssistanceRecord.Message] {
    read { $0.session.memory.database } ?? memory?.database ?? []
  }
  /// The desired configuration of the session.
  package var desired: DesiredConfiguration? { read { $0.session.desired } }
  /// The counts of the open line; 0 while it is closed.
  package var counters: StreamCounters { read { $0.session.counters } ?? StreamCounters() }
  /// The counts of all lines that were opened, even after the end: equal to the counts of a decoder of all received
  /// bytes.
  package var totalCounters: StreamCounters {
    var total = closedCounters
    total.add(counters)
    return total
  }
  package var rejectedFields: Int { read { $0.session.rejectedFields } ?? 0 }
  /// Whether the receiver has the desired state and accepts commands.
  package var isSteady: Bool { read { $0.session.isSteady } ?? false }

  /// Whether messages without a reply can be sent: the kernel has taken all earlier ones. A line whose other end reads slowly, such as a
  /// serial port server, takes no more than it carries.
  package var isReadyForStream: Bool { isSteady && unsentCount == 0 }

  /// Whether device events report the presence of the receiver. There are none for a pseudo-terminal, a file, standard
  /// input or a bus.
  package var isAnnounced: Bool { Self.isAnnounced(path) }

  /// The same for the line at a path.
  package static func isAnnounced(_ path: String) -> Bool {
    guard case .port(let path)? = try? LineAddress(path) else { return false }
    return path.hasPrefix("/dev/") && !path.hasPrefix("/dev/pts/") && path != "/dev/stdin"
  }
}

extension StreamCounters {
  /// Adds the counts of another stream.
  mutating func add(_ other: StreamCounters) {
    nmeaFrames += other.nmeaFrames
    ubxFrames += other.ubxFrames
    rtcm3Frames += other.rtcm3Frames
    spartnFrames += other.spartnFrames
    skippedBytes += other.skippedBytes
    badChecksums += other.badChecksums
    tooLong += other.tooLong
    brokenSentences += other.brokenSentences
    withoutChecksum += other.withoutChecksum
    cutFrames += other.cutFrames
  }
}
