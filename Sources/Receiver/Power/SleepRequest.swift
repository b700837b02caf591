// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

/// The request to sleep: RXM-PMREQ in the form of the receiver's generation (interface descriptions, RXM-PMREQ).
///
/// It has no reply. The edge of any byte after it wakes the receiver.
public enum SleepRequest {
  /// The longest sleep: twelve days.
  public static let longest = Milliseconds(12 * 86_400_000)
  /// The shortest sleep that differs from an ignored request.
  public static let shortest = Milliseconds(5000)

  /// Returns the request; nil if this receiver cannot sleep, or would not wake, at this port.
  ///
  /// - Parameters:
  ///   - duration: the time to sleep, limited to what the receiver can; nil for until it is woken.
  ///   - receiver: the receiver.
  ///   - port: the receiver's port of the line; nil for a UART.
  public static func command(
    _ duration: Milliseconds?, for receiver: ReceiverDescription, port: ReceiverPortNumber?
  ) -> Command? {
    if let language = receiver.family?.language {
      guard receiver.can(.standby) || receiver.can(.timedSleep) else { return nil }
      return language.sleep(for: clamped(duration, for: receiver), on: receiver)
    }
    guard let generation = receiver.generation, receiver.can(.backup) else { return nil }
    let time = clamped(duration, for: receiver)
    let wakes = wakeUpSources(of: port)
    // Only the time wakes a receiver at a port that cannot.
    if wakes == 0, time == nil { return nil }
    let version = receiver.protocolVersion ?? ProtocolVersion(0, 0)
    let isLong = ![.m6, .m7, .m8].contains(generation) || version >= ProtocolVersion(18, 0)
    // The short form does not work with a host at the USB port.
    if !isLong, port == .usb { return nil }
    var payload = [UInt8](repeating: 0, count: isLong ? 16 : 8)
    payload.set(u4: UInt32(time?.count ?? 0), at: isLong ? 4 : 0)
    payload.set(u4: isLong ? backup | force : backup, at: isLong ? 8 : 4)
    if isLong { payload.set(u4: wakes, at: 12) }
    return Command(MessageIdentity(0x02, 0x41), payload, answer: .none)
  }

  /// Returns the duration within the limits.
  static func clamped(_ duration: Milliseconds?, for receiver: ReceiverDescription) -> Milliseconds? {
    duration.map { min(max($0, SessionTimes.shortestSleep(of: receiver)), SessionTimes.longestSleep(of: receiver)) }
  }

  private static let backup: UInt32 = 1 << 1
  private static let force: UInt32 = 1 << 2

  /// Whether bytes at the port wake a u-blox receiver.
  static func isWoken(at port: ReceiverPortNumber?) -> Bool { wakeUpSources(of: port) != 0 }

  /// The bits of wakeupSources: 3 UART RX, 7 SPI CS. Traffic on I2C wakes nothing, and the USB port is off.
  private static func wakeUpSources(of port: ReceiverPortNumber?) -> UInt32 {
    switch port {
    case nil, .uart1, .uart2: 1 << 3
    case .spi: 1 << 7
    case .i2c, .usb: 0
    }
  }
}
