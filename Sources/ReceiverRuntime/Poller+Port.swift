// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import SerialPort

/// The poller's calls with the error of a port, for functions that also open or use one.
extension Poller {
  mutating func addPort(
    _ descriptor: Int32, token: Token, interest: Interest = .readable
  ) throws(SerialPortError) {
    do { try add(descriptor, token: token, interest: interest) } catch { throw SerialPortError(error) }
  }

  mutating func changePort(_ descriptor: Int32, token: Token, interest: Interest) throws(SerialPortError) {
    do { try change(descriptor, token: token, interest: interest) } catch { throw SerialPortError(error) }
  }
}
