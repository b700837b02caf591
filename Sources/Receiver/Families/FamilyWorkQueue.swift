// SPDX-License-Identifier: Apache-2.0

/// The tasks that a program has requested for a receiver of another maker, in their order.
struct FamilyWorkQueue {
  private var submitted: [(ticket: SessionTicket, tasks: [ReceiverTask])] = []

  var isEmpty: Bool { submitted.isEmpty }

  mutating func submit(_ tasks: [ReceiverTask], _ ticket: SessionTicket) { submitted.append((ticket, tasks)) }

  mutating func next() -> (ticket: SessionTicket, tasks: [ReceiverTask])? {
    submitted.isEmpty ? nil : submitted.removeFirst()
  }

  mutating func cancel() -> [(ticket: SessionTicket, tasks: [ReceiverTask])] {
    defer { submitted = [] }
    return submitted
  }
}
