// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxIO
import MonotonicTime
import TestSupport
import Testing

@testable import SerialPort

@Suite("The poller")
struct PollerTests {
  private let other = Poller.Token(rawValue: 2)

  @Test("A past deadline does not block; a future one is waited for")
  func deadlines() throws {
    var poller = try Poller()
    #expect(try poller.wait(deadline: 0) == [.timeout])
    let deadline = SystemClock.monotonic.nanoseconds + 1_000_000
    #expect(try poller.wait(deadline: deadline) == [.timeout])
    #expect(SystemClock.monotonic.nanoseconds >= deadline)
    #expect(try poller.wait(deadline: deadline) == [.timeout], "the same deadline again")
  }

  @Test("Only the line with bytes is reported, and its hang-up after them")
  func lines() throws {
    let quiet = try PseudoTerminal()
    let device = try PseudoTerminal()
    let quietPort = try SerialPort(opening: quiet.path, access: .readWrite, baud: nil)
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    var poller = try Poller()
    try poller.add(quietPort.fileDescriptor, token: other)
    try poller.add(port.fileDescriptor, token: line)
    #expect(try device.send([1]) == 1)
    #expect(try poller.wait(deadline: generousDeadline()) == [.readable(line)])
    #expect(try port.available() == [1])
    _ = consume device
    #expect(try poller.wait(deadline: generousDeadline()).last == .hangUp(line))
    poller.remove(port.fileDescriptor)
    #expect(try poller.wait(deadline: 0) == [.timeout])
  }

  @Test("Of several hundred ready descriptors a few waits report all, and each wait after them")
  func many() throws {
    var poller = try Poller()
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    for number in 0..<300 as Range<UInt32> {
      sockets.append(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
      // An unconnected socket has hung up.
      try poller.add(sockets.last!, token: Poller.Token(rawValue: number))
    }
    for _ in 0..<6 { _ = try poller.wait(deadline: nil) }
    for _ in 0..<3 {
      let events = try poller.wait(deadline: nil)
      #expect(Set(events).count == 300 && events.allSatisfy { if case .hangUp = $0 { true } else { false } })
    }
  }

  @Test("Space to write is reported on request")
  func writable() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    var poller = try Poller()
    try poller.add(port.fileDescriptor, token: line)
    #expect(try poller.wait(deadline: 0) == [.timeout])
    try poller.change(port.fileDescriptor, token: line, interest: [.readable, .writable])
    #expect(try poller.wait(deadline: generousDeadline()) == [.writable(line)])
  }

  @Test("A line without interest is silent until it hangs up, and loses no bytes")
  func watchedForNothing() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    var poller = try Poller()
    try poller.add(port.fileDescriptor, token: line, interest: [])
    #expect(try device.send([1, 2, 3]) == 3)
    #expect(try poller.wait(deadline: SystemClock.monotonic.nanoseconds + 1_000_000) == [.timeout])
    try poller.change(port.fileDescriptor, token: line, interest: .readable)
    #expect(try poller.wait(deadline: generousDeadline()) == [.readable(line)])
    #expect(try port.bytes(3) == [1, 2, 3])
    try poller.change(port.fileDescriptor, token: line, interest: [])
    _ = consume device
    #expect(try poller.wait(deadline: generousDeadline()) == [.hangUp(line)])
  }

  @Test("A file is always readable, together with other descriptors")
  func file() throws {
    let folder = try TemporaryFolder()
    let port = try SerialPort(opening: try folder.file("a", [1]), access: .readOnly, baud: nil)
    var poller = try Poller()
    try poller.add(port.fileDescriptor, token: line)
    poller.waker.wake()
    #expect(Set(try poller.wait(deadline: nil)) == [.woken, .readable(line)])
    #expect(try poller.wait(deadline: nil) == [.readable(line)])
    poller.remove(port.fileDescriptor)
    #expect(try poller.wait(deadline: 0) == [.timeout])
  }

  @Test("A waker wakes from another thread, once for several calls")
  func waker() throws {
    var poller = try Poller()
    let waker = poller.waker
    // Not a task: the wait below would block a thread of the task pool, and other tests may block the rest.
    Thread.detachNewThread { waker.wake() }
    #expect(try poller.wait(deadline: generousDeadline()) == [.woken])
    waker.wake()
    waker.wake()
    #expect(try poller.wait(deadline: nil) == [.woken])
    #expect(try poller.wait(deadline: 0) == [.timeout])
  }

  @Test("A signal to this thread becomes an event")
  func signal() throws {
    var poller = try Poller(catching: [.windowChange, .interrupt])
    // pthread_kill(3) reaches only this thread, so no other test sees the signal.
    _ = pthread_kill(pthread_self(), SIGINT)
    #expect(try poller.wait(deadline: generousDeadline()) == [.signal(.interrupt)])
    _ = pthread_kill(pthread_self(), SIGWINCH)
    #expect(try poller.wait(deadline: generousDeadline()) == [.signal(.windowChange)])
    #expect(try poller.wait(deadline: 0) == [.timeout])
  }

  @Test("The loss of the terminal is an event, unless the program ignores it from the start")
  func hangUpSignal() throws {
    let before = Glibc.signal(SIGHUP, SIG_DFL)
    defer { Glibc.signal(SIGHUP, before) }
    do {
      var poller = try Poller(catching: [.hangUp])
      _ = pthread_kill(pthread_self(), SIGHUP)
      #expect(try poller.wait(deadline: generousDeadline()) == [.signal(.hangUp)])
    }
    Glibc.signal(SIGHUP, SIG_IGN)
    var poller = try Poller(catching: [.hangUp])
    _ = pthread_kill(pthread_self(), SIGHUP)
    #expect(try poller.wait(deadline: 0) == [.timeout])
  }

  @Test("A signal that is pending at the end of the poller has no effect")
  func pendingSignal() throws {
    do {
      _ = try Poller(catching: [.terminate])
    }
    let poller = try Poller(catching: [.terminate])
    _ = pthread_kill(pthread_self(), SIGTERM)
    // The process is still running: the signal was removed before it was unblocked.
    _ = consume poller
    var next = try Poller(catching: [.terminate])
    #expect(try next.wait(deadline: 0) == [.timeout])
  }
}
