import Foundation
import Glibc
import MonotonicTime
import TestSupport
import Testing

@testable import SerialPort

@Suite("The poller")
struct PollerTests {
  private let other = Poller.Token(rawValue: 2)

  @Test("A deadline that has passed looks without waiting; one to come is waited for")
  func deadlines() throws {
    var poller = try Poller()
    #expect(try poller.wait(deadline: 0) == [.timeout])
    let deadline = SystemClock.monotonic.nanoseconds + 1_000_000
    #expect(try poller.wait(deadline: deadline) == [.timeout])
    #expect(SystemClock.monotonic.nanoseconds >= deadline)
    #expect(try poller.wait(deadline: deadline) == [.timeout], "the same deadline again")
  }

  @Test("Only the line that has bytes is named, and its hang-up after them")
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

  @Test("Room to write is told to who asks for it")
  func writable() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    var poller = try Poller()
    try poller.add(port.fileDescriptor, token: line)
    #expect(try poller.wait(deadline: 0) == [.timeout])
    try poller.change(port.fileDescriptor, token: line, interest: [.readable, .writable])
    #expect(try poller.wait(deadline: generousDeadline()) == [.writable(line)])
  }

  @Test("A line that is watched for nothing is silent until it hangs up, and loses nothing")
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

  @Test("A file is always readable, beside everything else")
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
    // Not a task: the wait below keeps a thread of their pool, and other tests may keep the rest.
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
    // pthread_kill(3) reaches this thread alone, so no other test sees the signal.
    _ = pthread_kill(pthread_self(), SIGINT)
    #expect(try poller.wait(deadline: generousDeadline()) == [.signal(.interrupt)])
    _ = pthread_kill(pthread_self(), SIGWINCH)
    #expect(try poller.wait(deadline: generousDeadline()) == [.signal(.windowChange)])
    #expect(try poller.wait(deadline: 0) == [.timeout])
  }

  @Test("The loss of the terminal becomes an event, unless the program was started to outlive it")
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

  @Test("A signal that is pending when the poller goes does not strike")
  func pendingSignal() throws {
    do {
      _ = try Poller(catching: [.terminate])
    }
    let poller = try Poller(catching: [.terminate])
    _ = pthread_kill(pthread_self(), SIGTERM)
    // Still here after this: the signal was taken away before it was let through again.
    _ = consume poller
  }
}
