#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sextant bridge` with PyPI's pyserial as its client: `socket://` for plain bytes, `rfc2217://` for telnet with the COM-PORT option.

usage: bridge.py FOLDER [CHECK]...; FOLDER has sextant, sextant-track and sextantd

  plain     every byte value passes both ways, also 255 first and alone; a client that leaves at once loses none of its bytes
  telnet    the same with RFC 2217; the rate of the line, purge, modem lines
  rates     a client changes the receiver's rate by RFC 2217 and leaves: the rate is found and set back; ^C while it is changed
  readers   further clients read only, also with RFC 2217; the writer leaves and another one comes
  slow      a client that does not read, beside one that does: bounded memory, and no wait for the others
  killed    kill -9 of the bridge while a client has changed the rate; unplugging while a client is connected
  service   sextantd's programs wait while a client has the line, and get the receiver back
  users     programs of a user who may not open the device, and web pages in a browser, send nothing to the receiver
  refused   addresses and devices that are refused
  warned    the warning at an address of all interfaces
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "needs": ["PyPI", "root"], "seconds": 30, "ci": True}

import os
import pty
import select
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import tty

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
from packages import install_peers  # noqa: E402

install_peers()
import serial  # noqa: E402
from daemon import WALK, Daemon  # noqa: E402
from harness import (LIMIT, Program, Simulator, arguments, environment, expect, expect_equal, program, run,  # noqa: E402
                     run_checks, wait_until)

EVERY = bytes(range(256)) + b"\xff" * 7 + bytes(reversed(range(256)))
LISTENS, COMMANDS, READS = "clients connect to", "commands the receiver", "reads only"
LEFT = "has left"
RESTS = r"the receiver is (at \d+ baud|there); waiting for the next client"


def sentence(body):
    check = 0
    for byte in body.encode():
        check ^= byte
    return f"${body}*{check:02X}\r\n".encode()


def ubx(message_class, number, payload):
    body = bytes([message_class, number]) + struct.pack("<H", len(payload)) + payload
    a = b = 0
    for byte in body:
        a = (a + byte) & 255
        b = (b + a) & 255
    return b"\xb5\x62" + body + bytes([a, b])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Line:
    """A receiver that sends a sentence ten times a second, and nothing else by itself; what it gets is kept."""

    def __init__(self, folder):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        settings = termios.tcgetattr(slave)
        settings[4] = settings[5] = termios.B9600
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        self.slave = slave
        self.link = f"{folder}/line"
        os.symlink(os.ttyname(slave), self.link)
        self.changed = threading.Condition()
        self.received = b""
        self.stop = threading.Event()
        self.quiet = threading.Event()
        self.writes = threading.Lock()
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._send)]
        for thread in self.threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(LIMIT)
        os.close(self.master)
        os.close(self.slave)

    def _read(self):
        while not self.stop.is_set():
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            data = os.read(self.master, 65536)
            with self.changed:
                self.received += data
                self.changed.notify_all()

    def _send(self):
        while not self.stop.wait(0.1):
            if not self.quiet.is_set():
                self.send(sentence("GNGGA,120000.00,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"))

    def send(self, data):
        with self.writes:
            while data:
                data = data[os.write(self.master, data):]

    def wait_for(self, data, seconds=LIMIT):
        with self.changed:
            expect(self.changed.wait_for(lambda: data in self.received, seconds),
                   f"the receiver got {self.received[-600:]!r}, and not {data[:60]!r}…")

    @property
    def rate(self):
        settings = termios.tcgetattr(self.master)
        return {getattr(termios, name): int(name[1:]) for name in dir(termios) if name[0] == "B" and name[1:].isdigit()}[settings[5]]


class Bridge(Program):
    def __init__(self, folder, device, *options, **variables):
        self.port = free_port()
        variables.setdefault("SEXTANT_SERVICE", "none")
        device = ["--device", device] if device else []
        super().__init__(program(), "bridge", *device, "--listen", f"127.0.0.1:{self.port}", *options,
                         env=environment(folder, **variables))
        self.wait_for_message(LISTENS)

    def connect(self, scheme="socket", rate=9600):
        """A client of pyserial, once the bridge has accepted it."""
        # pyserial gives up a negotiation after 3 s, which a busy machine may take.
        limit = f"?timeout={LIMIT}" if scheme == "rfc2217" else ""
        one = serial.serial_for_url(f"{scheme}://127.0.0.1:{self.port}{limit}", rate, timeout=0.1, do_not_open=True)
        one.open()
        return one

    def writer(self, scheme="socket", rate=9600):
        one = self.connect(scheme, rate)
        self.wait_for_message(COMMANDS)
        return one


def read_until(client, data, seconds=LIMIT):
    """The bytes of a client up to some data."""
    found, limit = b"", time.monotonic() + seconds
    while data not in found:
        expect(time.monotonic() < limit, f"the client got {found[-300:]!r}, and not {data[:60]!r}…")
        found += client.read(4096)
    return found


def both_ways(bridge, line, scheme):
    client = bridge.writer(scheme)
    read_until(client, b"GNGGA")
    client.write(b"<" + EVERY + b">")
    line.wait_for(b"<" + EVERY + b">")
    line.quiet.set()
    line.send(b"<" + EVERY + b">")
    read_until(client, b"<" + EVERY + b">")
    line.quiet.clear()
    return client


# MARK: Checks

def plain(folder):
    with Line(folder) as line, Bridge(folder, line.link) as bridge:
        both_ways(bridge, line, "socket").close()
        bridge.wait_for_message(RESTS)
        # A byte 255 wakes a receiver; it is not the beginning of telnet.
        client = bridge.writer()
        before = len(line.received)
        client.write(b"\xff")
        with line.changed:
            expect(line.changed.wait_for(lambda: line.received[before:].endswith(b"\xff"), LIMIT), "a lone byte 255 does not pass")
        client.write(b"\xff\xfb\x2c telnet later\xff")
        line.wait_for(b"\xff\xfb\x2c telnet later\xff")
        client.close()
        bridge.wait_for_message(RESTS)
        with socket.create_connection(("127.0.0.1", bridge.port)) as one:
            bridge.wait_for_message(COMMANDS)
            one.sendall(b"begin" + EVERY * 20 + b"end")
        line.wait_for(b"begin" + EVERY * 20 + b"end")
        bridge.wait_for_message(RESTS)
        bridge.interrupt()


def telnet(folder):
    with Line(folder) as line, Bridge(folder, line.link) as bridge:
        client = both_ways(bridge, line, "rfc2217")
        for rate in 115200, 4800, 57600:
            client.baudrate = rate
            wait_until(lambda: line.rate == rate, lambda: f"the line has {line.rate} baud, not {rate}")
        client.reset_input_buffer()
        client.reset_output_buffer()
        client.rts = False
        client.dtr = True
        expect(client.cts and client.dsr and client.cd, "a line without modem lines is not ready")
        client.write(b"after" + EVERY)
        line.wait_for(b"after" + EVERY)
        client.close()
        bridge.wait_for_message(RESTS)
        expect_equal(line.rate, 9600, "the rate of the line after the client")
        bridge.terminate()
        with open(line.slave, "rb", closefd=False):
            expect_equal(line.rate, 9600, "the rate of the line after the bridge")


PORT_RATE = 0x40520001


def change_rate(client, rate):
    """The tool of a u-blox user: CFG-VALSET of the rate, in volatile memory, and the line follows."""
    client.write(ubx(0x06, 0x8A, struct.pack("<BBHII", 0, 1, 0, PORT_RATE, rate)))
    client.flush()
    time.sleep(0.3)  # A tool's own pause: the receiver changes its rate after the acknowledgement.
    client.baudrate = rate
    read_until(client, b"$GN")


def rates(folder):
    with Simulator(folder, "m9", scenario=WALK) as receiver:
        before = receiver.status()["rate"]
        with Bridge(folder, receiver.link) as bridge:
            client = bridge.writer("rfc2217", before)
            read_until(client, b"$GN")
            change_rate(client, 115200 if before != 115200 else 57600)
            client.close()
            bridge.wait_for_message("setting it back")
            bridge.wait_for_message(RESTS)
            expect_equal(receiver.status()["rate"], before, "the receiver's rate after the client")
            # The next plain client meets the receiver as it was.
            client = bridge.writer()
            read_until(client, b"$GN")
            client.close()
            bridge.wait_for_message(RESTS)
            client = bridge.writer("rfc2217", before)
            change_rate(client, 57600 if before != 57600 else 115200)
            bridge.interrupt()
        expect_equal(receiver.status()["rate"], before, "the receiver's rate after ^C")
        return f"from {before} baud and back"


def readers(folder):
    with Line(folder) as line, Bridge(folder, line.link) as bridge:
        writer = bridge.writer()
        reader = bridge.connect()
        bridge.wait_for_message(READS)
        telnet_reader = bridge.connect("rfc2217")
        bridge.wait_for_message(READS)
        for one in reader, telnet_reader:
            one.write(b"not for the receiver")
        try:
            bridge.connect("rfc2217", 115200)
            raise AssertionError
        except (ValueError, serial.SerialException):
            pass  # A client that reads only does not set the rate.
        line.quiet.set()
        line.send(b"<" + EVERY + b">")
        for one in writer, reader, telnet_reader:
            read_until(one, b"<" + EVERY + b">")
        line.quiet.clear()
        writer.write(b"first")
        line.wait_for(b"first")
        writer.close()
        bridge.wait_for_message(RESTS)
        read_until(reader, b"GNGGA")
        reader.write(b"still not for the receiver")
        second = bridge.writer()
        second.write(b"second")
        line.wait_for(b"second")
        read_until(reader, b"GNGGA")
        expect(b"not for the receiver" not in line.received, "a client that reads only has sent to the receiver")
        expect_equal(line.rate, 9600, "the rate of the line")
        bridge.interrupt()


def memory(process):
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def processor_time(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def slow(folder):
    with Line(folder) as line, Bridge(folder, line.link) as bridge:
        fast = bridge.writer()
        stopped = socket.socket()
        stopped.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stopped.connect(("127.0.0.1", bridge.port))
        bridge.wait_for_message(READS)
        read_until(fast, b"GNGGA")
        before = memory(bridge.process)
        line.quiet.set()
        sent = 0
        for piece in range(100):
            # The line is no faster than the client that reads.
            text = b"".join(sentence(f"GNTXT,01,01,02,{piece:03d},{number:03d},{'x' * 40}") for number in range(300))
            line.send(text + b"<end>")
            found = read_until(fast, b"<end>")
            expect(text in found, f"the client that reads lost bytes: it has {len(found)} of {len(text)}")
            sent += len(text)
        bridge.wait_for_message("reads too slowly")
        grown = memory(bridge.process) - before
        expect(grown < 8192, f"its memory grew by {grown} kB")
        stopped.close()
        line.quiet.clear()
        read_until(fast, b"GNGGA")
        bridge.interrupt()
        return f"{sent} bytes, memory grew by {grown} kB"


def killed(folder):
    with Simulator(folder, "m9", scenario=WALK) as receiver:
        before = receiver.status()["rate"]
        with Bridge(folder, receiver.link) as bridge:
            client = bridge.writer("rfc2217", before)
            change_rate(client, 115200 if before != 115200 else 57600)
            bridge.kill()
        found = run(program(), "probe", "--device", receiver.link, env=environment(folder, SEXTANT_SERVICE="none"))
        expect("NEO-M9N" in found.output, f"probe finds {found.output} {found.errors}")
        with Bridge(folder, receiver.link) as bridge:
            client = bridge.writer()
            read_until(client, b"$GN")
            receiver.command("fault unplug 2s")
            bridge.wait_for_message("disconnected")
            read_until(client, b"$GN")
            bridge.interrupt()
        with Bridge(folder, receiver.link) as bridge:
            # Its turn at the line is due soon after its connection.
            client = bridge.writer("rfc2217", before)
            time.sleep(2)
            receiver.command("fault unplug 4s")
            bridge.wait_for_message("disconnected")
            used, started = processor_time(bridge.process), time.monotonic()
            time.sleep(2)
            share = (processor_time(bridge.process) - used) / (time.monotonic() - started)
            expect(share < 0.2, f"it takes {share:.0%} of a processor while the receiver is unplugged")
            read_until(client, b"$GN")
            bridge.interrupt()
            return f"{share:.1%} of a processor while the receiver is unplugged"


def service(folder):
    with Simulator(folder, "m10", scenario=WALK) as receiver, Daemon(folder, receiver) as daemon, daemon.track() as track:
        track.wait_for_event("didUpdateLocations")

        def state():
            return daemon.status()["receivers"][0]["state"]
        with Bridge(folder, None, SEXTANT_SERVICE=daemon.socket) as bridge:
            expect(state() not in ("ending", "lent"), f"the line is {state()} without a client")
            client = bridge.writer()
            wait_until(lambda: state() == "lent", lambda: f"the line is {state()} while a client has it")
            read_until(client, b"$GN")
            client.write(ubx(0x0A, 0x04, b""))
            read_until(client, b"\xb5\x62\x0a\x04")
            reader = bridge.connect()
            bridge.wait_for_message(READS)
            read_until(reader, b"$GN")
            client.close()
            wait_until(lambda: state() not in ("ending", "lent", "returning"), lambda: f"the line is not back: {state()}")
            with track.changed:
                track.event_mark = len(track.events)
            track.wait_for_event("didUpdateLocations")
            # The reader gets the service's bytes now.
            expect(reader.read(1) is not None, "the reader has no bytes")
            read_until(reader, b"\xb5\x62")
            client = bridge.writer()
            wait_until(lambda: state() == "lent", lambda: f"the line is {state()} for the second client")
            bridge.kill()
        wait_until(lambda: state() not in ("ending", "lent", "returning"), lambda: f"the line is not back: {state()}")
        with track.changed:
            track.event_mark = len(track.events)
        track.wait_for_event("didUpdateLocations")


QUICK = """
import os, socket, sys
"127.0.0.1".encode("idna")  # Its module may be in a folder that the user cannot read.
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for number in range(200):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as one:
        try:
            one.sendall(b"EVIL%03d" % number)
            if number % 2:
                one.shutdown(socket.SHUT_WR)
        except OSError:
            pass
"""


def users(folder):
    with Line(folder) as line, Bridge(folder, line.link) as bridge:
        os.chmod(os.path.realpath(line.link), 0o600)
        subprocess.run([sys.executable, "-c", QUICK, str(bridge.port)], check=True)
        bridge.wait_for_message("its user may not open")
        request = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\n" + ubx(6, 4, b"EVIL")
        for size in (len(request), 3):
            with socket.create_connection(("127.0.0.1", bridge.port)) as page:
                page.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    for at in range(0, len(request), size):
                        page.sendall(request[at:at + size])
                except OSError:
                    pass
                bridge.wait_for_message("it speaks HTTP")
        client = bridge.writer()
        client.write(b"mine")
        line.wait_for(b"mine")
        expect(b"EVIL" not in line.received and b"POST" not in line.received, f"the receiver got {line.received[:200]!r}")
        client.close()
        bridge.interrupt()


def refused(folder):
    variables = environment(folder, SEXTANT_SERVICE="none")

    def fails(*words, code, says, **more):
        with Program(program(), "bridge", *words, env={**variables, **more}) as one:
            one.wait_for_exit(code)
            expect(says in one.errors and one.errors.count("\n") == 1, f"{words}: {one.errors!r}")
    with Line(folder) as line, Bridge(folder, line.link) as bridge:
        fails("--device", line.link, "--listen", f"127.0.0.1:{bridge.port}", code=75, says="another program listens")
        fails("--device", line.link, "--listen", "nowhere", code=64, says="--listen must be")
        fails("--device", f"{folder}/absent", "--listen", f"127.0.0.1:{free_port()}", code=66, says="absent")
        fails("--device", "tcp://127.0.0.1:1", "--listen", f"127.0.0.1:{free_port()}", code=64, says="on the network already")
        fails("--device", line.link, code=64, says="SEXTANT_READ_ONLY", SEXTANT_READ_ONLY="1")
        bridge.interrupt()


def warned(folder):
    with Line(folder) as line, \
            Program(program(), "bridge", "--device", line.link, "--listen", f"0.0.0.0:{free_port()}",
                    env=environment(folder, SEXTANT_SERVICE="none")) as bridge:
        bridge.wait_for_message("warning: .* commands the receiver")
        bridge.interrupt()


if __name__ == "__main__":
    options = arguments(__doc__)
    run_checks([plain, telnet, rates, readers, slow, killed, service, users, refused, warned], options.checks)
