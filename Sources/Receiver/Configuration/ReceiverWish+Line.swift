import UBX

extension ReceiverWish {
  /// The wish for a line of this rate: satellites, the longest message, less often where the line is slow.
  func adapted(to rate: UInt32?, isBound: Bool) -> ReceiverWish {
    guard let rate else { return self }
    var wish = self
    if !isBound, let least = leastPortRate, rate < least { wish.portRate = least }
    guard rate < 9600 else { return wish }
    for index in wish.messages.indices where [.navSAT, .navSVINFO].contains(wish.messages[index].message) {
      wish.messages[index].rate = max(wish.messages[index].rate, 5)
    }
    return wish
  }
}
