import Receiver

extension DesiredConfiguration {
  /// The rate that a serial line is raised to, in baud: all u-blox receivers have it.
  public static let savingPortRate: UInt32 = 115_200

  /// What a fix is made of, on a line that is fast enough for short looks.
  ///
  /// An epoch of some 400 bytes takes 0.42 s at 9600 baud and 0.035 s at 115200, and so do the questions whether a sleep has
  /// cost the receiver its settings; a look takes 1.6 s besides. Where the rate cannot be raised, or does not outlive a sleep,
  /// the session leaves it.
  public static func saving(for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = DesiredConfiguration.navigation(for: receiver)
    desired.leastPortRate = savingPortRate
    return desired
  }
}
