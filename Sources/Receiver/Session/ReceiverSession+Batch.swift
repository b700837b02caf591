import MonotonicTime

/// The receiver's batch, or its log in flash, read out.
extension ReceiverSession {
  mutating func takeBatched(_ payload: [UInt8], at now: Instant) {
    if retrieval != nil {
      retrieval?.receive(logBATCH: payload, at: now)
    } else if settings.intent != .readOnly, unaskedBatch.count < Self.mostUnasked {
      unaskedBatch.append(payload)
    }
  }

  /// Says what the retrieval has to say; whether there was something.
  mutating func startRetrieving(at now: Instant) -> Bool {
    retrieval?.wake(at: now)
    guard let command = retrieval?.next() else { return false }
    isRetrievalInFlight = true
    begin(command)
    return true
  }

  mutating func reportRetrieval() {
    while let event = retrieval?.nextEvent() { actions.append(.batch(event)) }
    if retrieval?.isOver == true { retrieval = nil }
  }

  mutating func cutRetrieval() {
    retrieval?.cut()
    reportRetrieval()
  }
}
