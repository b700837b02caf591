# SPDX-License-Identifier: Apache-2.0
"""Receivers on a pseudo-terminal, written from u-blox's interface descriptions and pyubx2's tables.

It shares nothing with the simulator of this project, so that an assumption of the one is not checked against itself. A
`Receiver` has the properties of a data sheet (`Traits`) and peculiarities that make a driver fail (`Quirks`).
"""
import calendar
import dataclasses
import functools
import operator
import os
import pathlib
import random
import select
import struct
import sys
import termios
import threading
import time
import tty

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
from packages import install_peers  # noqa: E402

install_peers()
from harness import LIMIT, expect  # noqa: E402
from pyubx2 import UBX_CONFIG_DATABASE, UBX_MSGIDS  # noqa: E402

LATITUDE, LONGITUDE, HEIGHT, GEOID = 48.1646503, 11.6070248, 561.1, 45.6
ACK, NAK = (0x05, 0x01), (0x05, 0x00)
UART1 = 1
# A port refuses a higher rate, baud.
MOST_BAUD = 460800
RATES = {getattr(termios, name): int(name[1:]) for name in dir(termios) if name[0] == "B" and name[1:].isdigit()}


@dataclasses.dataclass
class Traits:
    """The properties of a model."""
    software: str
    hardware: str
    extensions: tuple = ()
    unique: bytes = b""
    rate: int = 9600
    items: bool = False
    legacy: bool = True
    version: float = 18
    talker: str = "GN"
    flash: bool = False


@dataclasses.dataclass
class Quirks:
    """Deviations from the simplest receiver."""
    # Acknowledgements and replies follow the next epoch.
    replies_late: bool = False
    # Requests are read once an epoch.
    reads_once_an_epoch: bool = False
    # It sends texts, ten times a second.
    sends_texts: bool = False
    # Only the first frame of one write is read.
    loses_bursts: bool = False
    # It lacks half of the configuration items.
    lacks_items: bool = False
    # It writes UBX alone, from the start.
    only_ubx: bool = False
    # It does not reply to unknown requests, in class CFG either.
    silent_on_unknown: bool = False


MODELS = {
    "f9p": Traits("EXT CORE 1.00 (3fda8e)", "00190000",
                  ("ROM BASE 0x118B2060", "FWVER=HPG 1.32", "PROTVER=27.31", "MOD=ZED-F9P", "GPS;GLO;GAL;BDS", "SBAS;QZSS"),
                  b"\x5b\xd3\x11\x02\x9c", 38400, items=True, version=27.31, flash=True),
    "m9": Traits("EXT CORE 4.04 (7f89f7)", "00190000",
                 ("ROM BASE 0x118B2060", "FWVER=SPG 4.04", "PROTVER=32.01", "MOD=NEO-M9N", "GPS;GLO;GAL;BDS", "SBAS;QZSS"),
                 b"\x77\x01\x20\x44\x0a", 38400, items=True, version=32.01, flash=True),
    "m10": Traits("ROM SPG 5.10 (7b202e)", "000A0000", ("FWVER=SPG 5.10", "PROTVER=34.10", "GPS;GLO;GAL;BDS", "SBAS;QZSS"),
                  b"\x40\x11\x42\x03\x99\x81", 9600, items=True, legacy=False, version=34.1),
    "m8": Traits("ROM CORE 3.01 (107888)", "00080000",
                 ("FWVER=SPG 3.01", "PROTVER=18.00", "GPS;GLO;GAL;BDS", "SBAS;IMES;QZSS"), b"\x31\x07\x55\x12\x9f"),
    "m7": Traits("1.00 (59842)", "00070000", ("PROTVER 14.00",), version=14, talker="GP"),
    "m6": Traits("7.03 (45969)", "00040007", version=13.03, talker="GP"),
}


def frame(identity, payload=b""):
    """A UBX frame."""
    body = bytes(identity) + struct.pack("<H", len(payload)) + payload
    a = b = 0
    for byte in body:
        a = (a + byte) & 255
        b = (b + a) & 255
    return b"\xb5\x62" + body + bytes((a, b))


def sentence(body):
    """An NMEA sentence."""
    return f"${body}*{functools.reduce(operator.xor, body.encode()):02X}\r\n".encode()


def size(key):
    """Bytes of an item's value."""
    return {1: 1, 2: 1, 3: 2, 4: 4, 5: 8}.get(key >> 28 & 7, 0)


def message_keys():
    """Items that switch a message at UART1: key → its class and id, or the sentence's name."""
    names = {name: (key[0], key[1]) for key, name in UBX_MSGIDS.items()}
    keys = {}
    for name, (key, _) in UBX_CONFIG_DATABASE.items():
        if not name.endswith("_UART1"):
            continue
        if name.startswith("CFG_MSGOUT_UBX_"):
            identity = names.get(name[len("CFG_MSGOUT_UBX_"):-len("_UART1")].replace("_", "-", 1))
            if identity:
                keys[key] = identity
        elif name.startswith("CFG_MSGOUT_NMEA_ID_"):
            keys[key] = name[len("CFG_MSGOUT_NMEA_ID_"):-len("_UART1")]
    return keys


MESSAGE_KEYS = message_keys()
KEYS = {name: key for name, (key, _) in UBX_CONFIG_DATABASE.items()}
SENTENCES = {"GGA": 0x00, "GLL": 0x01, "GSA": 0x02, "GSV": 0x03, "RMC": 0x04, "VTG": 0x05}


class Receiver(threading.Thread):
    """One receiver, on a pseudo-terminal of its own; `link` leads to it."""

    def __init__(self, traits, quirks, link):
        super().__init__(daemon=True)
        self.traits, self.quirks, self.link = traits, quirks, link
        self.random = random.Random(1)
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        os.symlink(os.ttyname(self.slave), link)
        self.rate = traits.rate
        self.next_rate = None
        self.input = b""
        self.requests = []  # frames that wait to be processed
        self.late = []  # replies that wait for the end of an epoch
        self.output = []  # frames that wait for the line
        self.received = 0
        self.sent = 0
        self.epoch = 0
        self.saved = None
        self.commands = 0  # requests that were processed
        self.asleep = False
        self.line_rate = traits.rate
        self.changed = threading.Condition()
        self.stopped = False
        self.restart()

    # MARK: Configuration

    def restart(self):
        """Loads the stored settings."""
        if self.traits.items:
            self.layers = getattr(self, "layers", {1: {}, 2: {}})
            self.standard = self.standard_items()
            self.items = {**self.standard, **self.layers[2], **self.layers[1]}
        else:
            self.records = dict(self.saved or self.standard_records())
        self.take_rate()
        if self.next_rate is not None:
            self.rate, self.next_rate = self.next_rate, None

    def standard_items(self):
        items = {}
        for name, (key, _) in UBX_CONFIG_DATABASE.items():
            if not self.traits.flash and ("UART2" in name or "SPI" in name or "_USB" in name):
                continue
            items[key] = 0
        items.update({
            KEYS["CFG_RATE_MEAS"]: 1000, KEYS["CFG_RATE_NAV"]: 1, KEYS["CFG_RATE_TIMEREF"]: 1,
            KEYS["CFG_UART1_BAUDRATE"]: self.traits.rate, KEYS["CFG_UART1_STOPBITS"]: 1, KEYS["CFG_UART1_ENABLED"]: 1,
            KEYS["CFG_UART1INPROT_UBX"]: 1, KEYS["CFG_UART1INPROT_NMEA"]: 1,
            KEYS["CFG_UART1OUTPROT_UBX"]: 1, KEYS["CFG_UART1OUTPROT_NMEA"]: 1,
            KEYS["CFG_NAVSPG_DYNMODEL"]: 0, KEYS["CFG_NAVSPG_FIXMODE"]: 3, KEYS["CFG_INFMSG_NMEA_UART1"]: 7,
            KEYS["CFG_SIGNAL_GPS_ENA"]: 1, KEYS["CFG_SIGNAL_GPS_L1CA_ENA"]: 1, KEYS["CFG_SIGNAL_GAL_ENA"]: 1,
            KEYS["CFG_SIGNAL_GAL_E1_ENA"]: 1,
        })
        for key, message in MESSAGE_KEYS.items():
            if message in SENTENCES:
                items[key] = 1
        if self.quirks.lacks_items:
            needed = [KEYS[name] for name in (
                "CFG_UART1_BAUDRATE", "CFG_UART1INPROT_UBX", "CFG_UART1INPROT_NMEA", "CFG_UART1OUTPROT_UBX",
                "CFG_UART1OUTPROT_NMEA", "CFG_RATE_MEAS", "CFG_NAVSPG_DYNMODEL")]
            needed += [key for key, message in MESSAGE_KEYS.items() if message in SENTENCES]
            unknown = [KEYS["CFG_MSGOUT_UBX_NAV_PVT_UART1"]]
            items = {key: value for key, value in items.items()
                     if key in needed or key not in unknown and (key * 2654435761 >> 16) & 1}
        return items

    def standard_records(self):
        version = self.traits.version
        output = 1 if self.quirks.only_ubx else 3
        uart = struct.pack("<BBHIIHHHH", 1, 0, 0, 0x8D0, self.traits.rate, 7, output, 0, 0)
        records = {
            (0x00, 0): struct.pack("<BBHIIHHHH", 0, 0, 0, 0x84, 0, 7, 3, 0, 0), (0x00, 1): uart,
            (0x00, 3): struct.pack("<BBHIIHHHH", 3, 0, 0, 0, 0, 7, 3, 0, 0),
            (0x02, 0): bytes([0, 0, 0, 0]) + bytes(6), (0x02, 1): bytes([1, 0, 0, 0]) + bytes([7] * 6),
            (0x08, None): struct.pack("<HHH", 1000, 1, 1),
            (0x24, None): struct.pack("<HBBiIbBHHHHBBBBHHB5x", 0xFFFF, 0, 3, 0, 10000, 5, 0, 250, 250, 100, 300, 0, 60, 0, 0, 0, 200, 0),
            (0x23, None): struct.pack("<HHI", 2, 0, 0) + bytes([0, 0, 3, 32, 6, 0, 1, 0, 0, 0]) + struct.pack("<H", 1867) + bytes(20),
            (0x16, None): bytes([1, 3, 3, 0]) + struct.pack("<I", 0x66), (0x13, None): struct.pack("<HH", 0x1B, 0xA98B),
            (0x11, None): bytes([8, 0]), (0x39, None): struct.pack("<II", 0x2D62ACF3, 0x31E),
            (0x31, 0): struct.pack("<BBHhhIIIIiI", 0, 1, 0, 50, 0, 1000000, 1000000, 0, 100000, 0, 0xF7),
            (0x31, 1): struct.pack("<BBHhhIIIIiI", 1, 1, 0, 50, 0, 4, 1, 125000, 100000, 0, 0xFE),
            (0x17, None): bytes([0, 0x40 if version >= 15 else 0x23, 0, 2]) + bytes(16 if version >= 15 else 8 if version >= 14 else 0),
            (0x3B, None): bytes([1, 6, 0, 0]) + struct.pack("<IIII", 0x9000, 1000, 10000, 0) + bytes(24),
        }
        if version >= 14:
            blocks = [(0, 8, 16, 1), (1, 1, 3, 1), (5, 0, 3, 1), (6, 8, 14, 1)]
            if version >= 18:
                blocks[2:2] = [(2, 4, 8, 0), (3, 8, 16, 0), (4, 0, 8, 0)]
            records[0x3E, None] = bytes([0, 32, 32, len(blocks)]) + b"".join(
                struct.pack("<BBBBI", gnss, low, high, 0, 0x10000 | on) for gnss, low, high, on in blocks)
        for name, number in SENTENCES.items():
            records[0x01, (0xF0, number)] = bytes([0, 0 if self.quirks.only_ubx else 1, 0, 1, 1, 0])
        for identity in self.messages():
            records[0x01, identity] = bytes([0, int(self.quirks.only_ubx and identity in ((1, 7), (1, 0x35))), 0, 0, 0, 0])
        return records

    def messages(self):
        """Its navigation messages."""
        every = [(1, 0x02), (1, 0x03), (1, 0x04), (1, 0x06), (1, 0x12), (1, 0x21), (1, 0x30)]
        if self.traits.version >= 14:
            every.append((1, 0x07))
        if self.traits.version >= 15:
            every.append((1, 0x35))
        if self.traits.version >= 18:
            every += [(1, 0x34), (1, 0x61)]
        if self.traits.version >= 27:
            every = [identity for identity in every if identity not in ((1, 0x06), (1, 0x30))]
        return every

    def setting(self, name):
        return self.items.get(KEYS[name], 0)

    @property
    def port(self):
        """Rate, protocols in and out of UART1."""
        if self.traits.items:
            return (self.setting("CFG_UART1_BAUDRATE"),
                    self.setting("CFG_UART1INPROT_UBX") | self.setting("CFG_UART1INPROT_NMEA") << 1,
                    self.setting("CFG_UART1OUTPROT_UBX") | self.setting("CFG_UART1OUTPROT_NMEA") << 1)
        return struct.unpack_from("<IHH", self.records[0x00, UART1], 8)

    def take_rate(self):
        """Changes the port's rate when the waiting output is sent."""
        self.next_rate = self.port[0] if self.port[0] != self.rate else None
        self.rate_after = self.sent + sum(map(len, self.output))

    @property
    def period(self):
        if self.traits.items:
            return self.setting("CFG_RATE_MEAS") * max(1, self.setting("CFG_RATE_NAV")) / 1000 or 1
        measurement, cycles, _ = struct.unpack("<HHH", self.records[0x08, None])
        return max(50, measurement) * max(1, cycles) / 1000

    @property
    def dynamic_model(self):
        return self.setting("CFG_NAVSPG_DYNMODEL") if self.traits.items else self.records[0x24, None][2]

    def snapshot(self):
        """All its current settings."""
        return dict(self.items if self.traits.items else self.records)

    def rate_of(self, message):
        """The number of epochs from one message to the next: of a class and id, or of a sentence's name."""
        if self.traits.items:
            key = next((key for key, value in MESSAGE_KEYS.items() if value == message), None)
            return self.items.get(key, 0)
        identity = (0xF0, SENTENCES[message]) if isinstance(message, str) else message
        return self.records.get((0x01, identity), bytes(6))[UART1]

    # MARK: Running

    def run(self):
        due = time.monotonic() + 0.3
        text_due = due
        credit, last = 0.0, time.monotonic()
        while not self.stopped:
            select.select([self.master], [], [], 0.004)
            now = time.monotonic()
            self.read_requests()
            if now >= due:
                due = max(due + self.period, now - 1)
                self.write_epoch()
                if self.quirks.reads_once_an_epoch:
                    self.process_requests()
                self.output += self.late
                self.late = []
            if self.quirks.sends_texts and now >= text_due:
                text_due = now + 0.1
                self.send_text()
            if not self.quirks.reads_once_an_epoch:
                self.process_requests()
            credit = min(credit + (now - last) * self.rate / 10, self.rate / 10 * 0.05)
            last = now
            most = int(credit)
            if self.next_rate is not None:
                most = max(0, min(most, self.rate_after - self.sent))
            credit -= self.send(most)
            if self.next_rate is not None and self.sent >= self.rate_after:
                self.rate, self.next_rate = self.next_rate, None
            with self.changed:
                self.changed.notify_all()

    def wait_for(self, condition, text, seconds=LIMIT):
        """Waits until a condition of its state holds."""
        with self.changed:
            expect(self.changed.wait_for(condition, seconds), text)

    def wait_for_epochs(self, count):
        """Waits until that many more epochs are written."""
        end = self.epoch + count
        self.wait_for(lambda: self.epoch >= end, "no epochs are written")

    def stop(self):
        self.stopped = True
        self.join()
        os.unlink(self.link)
        os.close(self.master)
        os.close(self.slave)

    @property
    def is_understood(self):
        """Whether the host has the line at the receiver's rate."""
        return RATES.get(termios.tcgetattr(self.master)[5]) == self.rate

    def send(self, most):
        """Sends that many bytes at the most; returns their number."""
        sent = 0
        while self.output and most > 0:
            piece = self.output[0][:most]
            shown = piece if self.is_understood else bytes(self.random.choice((0, 0x80, 0xC0, 0xF8)) for _ in piece)
            try:
                os.write(self.master, shown)
            except BlockingIOError:
                pass  # the line is not read: its bytes are lost
            self.output[0] = self.output[0][len(piece):]
            if not self.output[0]:
                del self.output[0]
            sent += len(piece)
            self.sent += len(piece)
            most -= len(piece)
        return sent

    def put(self, whole):
        """Queues a frame; one that does not fit into the buffer is dropped."""
        if sum(map(len, self.output)) + len(whole) <= 4096:
            self.output.append(whole)

    def read_requests(self):
        try:
            got = os.read(self.master, 4096)
        except BlockingIOError:
            got = b""
        # A pseudo-terminal does not keep the rate at which bytes were written: after a change since the last read they may have
        # been sent at either rate, if this thread was scheduled late.
        rates = {self.line_rate}
        self.line_rate = RATES.get(termios.tcgetattr(self.master)[5])
        rates.add(self.line_rate)
        if not got or self.rate not in rates:
            return
        self.received += len(got)
        if self.asleep:
            # The bytes that wake it are lost.
            self.asleep, self.input = False, b""
            return
        self.input += got
        frames = 0
        while True:
            start = self.input.find(b"\xb5\x62")
            text = self.input.find(b"$")
            if text >= 0 and (start < 0 or text < start):
                end = self.input.find(b"\r\n", text)
                if end < 0:
                    break
                self.read_sentence(self.input[text:end].decode("ascii", "replace"))
                self.input = self.input[end + 2:]
                continue
            if start < 0:
                self.input = self.input[-1:]
                break
            self.input = self.input[start:]
            if len(self.input) < 6:
                break
            length = 8 + struct.unpack_from("<H", self.input, 4)[0]
            if length > 1200:
                self.input = self.input[2:]
                continue
            if len(self.input) < length:
                break
            whole, self.input = self.input[:length], self.input[length:]
            if frame(whole[2:4], whole[6:-2]) != whole:
                continue
            frames += 1
            if self.port[1] & 1:
                self.requests.append(((whole[2], whole[3]), whole[6:-2]))
            if self.quirks.loses_bursts:
                self.input = b""
                break

    def read_sentence(self, text):
        fields = text.split("*")[0].split(",")
        if fields[0] != "$PUBX" or not self.port[1] & 2:
            return
        if fields[1] == "41" and fields[2] == "1" and not self.traits.items:
            record = struct.unpack("<BBHIIHHHH", self.records[0x00, UART1])
            self.records[0x00, UART1] = struct.pack(
                "<BBHIIHHHH", *record[:4], int(fields[5]), int(fields[3], 16), int(fields[4], 16), *record[7:])
            self.take_rate()

    def process_requests(self):
        while self.requests:
            self.commands += 1
            identity, payload = self.requests.pop(0)
            self.apply(identity, payload)

    # MARK: Replies

    def reply(self, identity, payload=b""):
        if not self.port[2] & 1:
            return
        if self.quirks.replies_late:
            self.late.append(frame(identity, payload))
        else:
            self.put(frame(identity, payload))

    def acknowledge(self, identity, taken=True):
        self.reply(ACK if taken else NAK, bytes(identity))

    def apply(self, identity, payload):
        if identity == (0x0A, 0x04) and not payload:
            pad = [text.encode().ljust(30, b"\0") for text in self.traits.extensions]
            self.reply(identity, self.traits.software.encode().ljust(30, b"\0")
                        + self.traits.hardware.encode().ljust(10, b"\0") + b"".join(pad))
        elif identity == (0x27, 0x03) and not payload and self.traits.unique:
            unique = self.traits.unique
            self.reply(identity, bytes([1 if len(unique) == 5 else 2, 0, 0, 0]) + unique)
        elif identity == (0x0A, 0x36) and not payload and self.traits.items:
            self.reply(identity, struct.pack("<BBBB4B", 0, 1, 0, 0, 0, 1, 5, 0xFF) + struct.pack(
                "<HHIBBHI", 0x0100, 0, 0, 10, 20, 0, self.received) + bytes(24))
        elif identity == (0x13, 0x80) and not payload and self.traits.version >= 18:
            self.reply((0x13, 0x60), struct.pack("<BBBBI", 1, 0, 0, 0x80, 0))
        elif identity[0] == 1 and not payload and identity in self.messages():
            self.reply(identity, self.navigation(identity))
        elif identity == (0x02, 0x20) and not payload and self.traits.version < 27:
            # RXM-SVSI: healthy, with an ephemeris whose reference time is in two hours, and an almanac.
            self.reply(identity, struct.pack("<IhBB", self.time_of_week, 2400, 10, 10) + b"".join(
                struct.pack("<BBhbB", each + 2, 0x70, 36 * each, 40, 0x24) for each in range(10)))
        elif identity == (0x02, 0x41) and len(payload) in (8, 16) and payload[8 if len(payload) == 16 else 4] & 2:
            # RXM-PMREQ: until a byte comes.
            self.asleep, self.output, self.requests = True, [], []
        elif identity[0] == 6:
            self.configure(identity, payload)

    def configure(self, identity, payload):
        number = identity[1]
        if number == 0x04 and len(payload) == 4:
            self.restart()
        elif number == 0x09 and len(payload) in (12, 13):
            clear, save, load = struct.unpack_from("<III", payload)
            self.store(clear, save, load)
            self.acknowledge(identity)
        elif self.traits.items and number == 0x8A:
            self.acknowledge(identity, self.set_items(payload))
        elif self.traits.items and number == 0x8B:
            found = self.get_items(payload)
            if found is not None:
                self.reply(identity, found)
            self.acknowledge(identity, found is not None)
        elif self.traits.items:
            self.acknowledge(identity, False)
        else:
            self.configure_record(identity, payload)

    def store(self, clear, save, load):
        if self.traits.items:
            if clear:
                self.layers = {1: {}, 2: {}}
            if save:
                self.layers[2 if self.traits.flash else 1] = {
                    key: value for key, value in self.items.items() if value != self.standard[key]}
        else:
            if clear:
                self.saved = None
            if save:
                self.saved = dict(self.records)
        if load:
            self.restart()

    def set_items(self, payload):
        if len(payload) < 4 or payload[0] > 1 or payload[1] == 0 or payload[1] & ~7:
            return False
        if payload[1] & 4 and not self.traits.flash:
            return False
        at, pairs = 4, {}
        while at + 4 <= len(payload):
            key = struct.unpack_from("<I", payload, at)[0]
            count = size(key)
            if key not in self.standard or at + 4 + count > len(payload):
                return False
            pairs[key] = int.from_bytes(payload[at + 4:at + 4 + count], "little")
            at += 4 + count
        if len(pairs) > 64 or pairs.get(KEYS["CFG_RATE_MEAS"], 1000) < 25:
            return False
        if pairs.get(KEYS["CFG_UART1_BAUDRATE"], 0) > MOST_BAUD:
            return False
        if payload[1] & 1:
            self.items.update(pairs)
        for bit, layer in ((2, 1), (4, 2)):
            if payload[1] & bit:
                self.layers[layer].update(pairs)
        if payload[1] & 1:
            self.take_rate()
        return True

    def get_items(self, payload):
        if len(payload) < 8 or payload[0] != 0:
            return None
        layer, position = payload[1], struct.unpack_from("<H", payload, 2)[0]
        values = {0: self.items, 1: self.layers[1], 7: self.standard}.get(layer)
        if layer == 2 and self.traits.flash:
            values = self.layers[2]
        if values is None:
            return None
        found = []
        for (key,) in struct.iter_unpack("<I", payload[4:len(payload) & ~3]):
            if key & 0xFFFF != 0xFFFF:
                if key not in values:
                    return None
                found.append(key)
                continue
            group = key >> 16 & 0xFFF
            found += sorted(each for each in values if group == 0xFFF or each >> 16 & 0xFFF == group)
        if not found:
            return None
        reply = struct.pack("<BBH", 1, layer, position)
        for key in found[position:position + 64]:
            reply += struct.pack("<I", key) + values[key].to_bytes(size(key), "little")
        return reply

    def configure_record(self, identity, payload):
        number = identity[1]
        selected = {0x00: 1, 0x01: 2, 0x02: 1, 0x31: 1}.get(number, 0)
        if number == 0x00 and not payload:
            key = (number, UART1)
        elif number == 0x31 and not payload:
            key = (number, 0)
        elif number == 0x01:
            key = (number, tuple(payload[:2]))
        elif selected:
            key = (number, payload[0] if payload else None)
        else:
            key = (number, None)
        if key not in self.records:
            if not self.quirks.silent_on_unknown:
                self.acknowledge(identity, False)
            return
        if len(payload) <= selected:
            stored = self.records[key]
            self.reply(identity, bytes(key[1]) + stored if number == 0x01 else stored)
            return self.acknowledge(identity)
        self.acknowledge(identity, self.set_record(key, payload))

    def set_record(self, key, payload):
        number = key[0]
        if number == 0x01:
            rates = bytearray(self.records[key])
            if len(payload) == 3:
                rates[UART1] = payload[2]
            elif len(payload) == 8:
                rates[:] = payload[2:]
            else:
                return False
            self.records[key] = bytes(rates)
            return True
        if len(payload) != len(self.records[key]):
            return False
        if number == 0x24:
            old, mask = bytearray(self.records[key]), struct.unpack_from("<H", payload)[0]
            parts = {0: (2, 3), 1: (12, 13), 2: (3, 12), 4: (14, 16), 5: (16, 18), 6: (22, 23), 7: (23, 24), 8: (24, 26)}
            for bit, (begin, end) in parts.items():
                if mask >> bit & 1:
                    old[begin:end] = payload[begin:end]
            payload = bytes(old)
        if number == 0x00 and key[1] == UART1 and not 4800 <= struct.unpack_from("<I", payload, 8)[0] <= MOST_BAUD:
            return False
        if number == 0x08 and struct.unpack_from("<H", payload)[0] < 50:
            return False
        self.records[key] = bytes(payload)
        if number == 0x00:
            self.take_rate()
        return True

    # MARK: Output without a request

    def write_epoch(self):
        if self.asleep:
            return
        self.epoch += 1
        self.now = time.time()
        output = self.port[2]
        if output & 2:
            for name in SENTENCES:
                rate = self.rate_of(name)
                if rate and self.epoch % rate == 0:
                    for text in self.sentences(name):
                        self.put(sentence(text))
        if output & 1:
            for identity in self.messages():
                rate = self.rate_of(identity)
                if rate and self.epoch % rate == 0:
                    self.put(frame(identity, self.navigation(identity)))

    def send_text(self):
        if self.port[2] & 2:
            self.put(sentence(f"{self.traits.talker}TXT,01,01,02,txbuf alloc"))
        if self.port[2] & 1:
            self.put(frame((0x04, 0x02), b"RF gain was set again"))

    def sentences(self, name):
        clock = time.strftime("%H%M%S", time.gmtime(self.now)) + f".{int(self.now % 1 * 100):02d}"
        date = time.strftime("%d%m%y", time.gmtime(self.now))
        minutes = (LATITUDE % 1 * 60, LONGITUDE % 1 * 60)
        place = f"{int(LATITUDE):02d}{minutes[0]:08.5f},N,{int(LONGITUDE):03d}{minutes[1]:08.5f},E"
        talker = self.traits.talker
        sky = [(number, 15 + 7 * number, 36 * number % 360, 30 + number) for number in range(2, 12)]
        match name:
            case "GGA": return [f"{talker}GGA,{clock},{place},1,10,0.90,{HEIGHT - GEOID:.1f},M,{GEOID},M,,"]
            case "GLL": return [f"{talker}GLL,{place},{clock},A,A"]
            case "RMC": return [f"{talker}RMC,{clock},A,{place},0.010,,{date},,,A"]
            case "VTG": return [f"{talker}VTG,,T,,M,0.010,N,0.019,K,A"]
            case "GSA":
                used = [f"{number:02d}" for number, *_ in sky] + ["", ""]
                return [f"{talker}GSA,A,3,{','.join(used)},1.50,0.90,1.20"]
            case "GSV":
                groups = [sky[at:at + 4] for at in range(0, len(sky), 4)]
                return [f"GPGSV,{len(groups)},{index},{len(sky):02d}," + ",".join(
                    f"{number:02d},{up % 90:02d},{azimuth:03d},{signal}" for number, up, azimuth, signal in group)
                        for index, group in enumerate(groups, 1)]

    @property
    def time_of_week(self):
        now = getattr(self, "now", time.time())
        return int((now + 18 - calendar.timegm((1980, 1, 6, 0, 0, 0))) % 604800 * 1000)

    def navigation(self, identity):
        now = getattr(self, "now", time.time())
        utc = time.gmtime(now)
        gps = now + 18 - calendar.timegm((1980, 1, 6, 0, 0, 0))
        head = struct.pack("<I", self.time_of_week)
        place = (round(LONGITUDE * 1e7), round(LATITUDE * 1e7), round(HEIGHT * 1000), round((HEIGHT - GEOID) * 1000))
        date = struct.pack("<HBBBBB", utc.tm_year, utc.tm_mon, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec)
        nano = int(now % 1 * 1e9)
        match identity[1]:
            case 0x02: return head + struct.pack("<iiiiII", *place, 2500, 3500)
            case 0x03: return head + struct.pack("<BBBBII", 3, 0xDD, 0, 8, 26000, 90000)
            case 0x04: return head + struct.pack("<7H", 170, 150, 80, 120, 90, 70, 60)
            case 0x06:
                return head + struct.pack("<ihBBiiiIiiiIHBBI", 0, int(gps // 604800), 3, 0xDD, 417526400, 85766800, 472973100,
                                          430, 1, 0, 0, 30, 150, 2, 10, 0)
            case 0x07:
                whole = head + date + struct.pack(
                    "<BIiBBBBiiiiIIiiiiiIIHHIihH", 0x37, 30, nano, 3, 1, 0, 10, *place, 2500, 3500, 5, 2, 0, 5, 0, 300,
                    1800000, 150, 0, 0, 0, 0, 0)
                return whole[:84] if self.traits.version < 15 else whole
            case 0x12: return head + struct.pack("<iiiIIiII", 1, 0, 0, 1, 1, 0, 30, 1800000)
            case 0x21: return head + struct.pack("<Ii", 30, nano) + date + bytes([0x07])
            case 0x30:
                return head + struct.pack("<BBH", 10, 4, 0) + b"".join(
                    struct.pack("<BBBBBbhi", each, each + 2, 0x0D, 7, 30 + each, 40, 36 * each, 0) for each in range(10))
            case 0x34:
                # Healthy, above the elevation mask; a broadcast ephemeris for 2.75 to 3 h.
                return head + struct.pack("<BBH", 1, 10, 0) + b"".join(
                    struct.pack("<BBBBBB", 0, each + 2, 0x0D, 12 | 1 << 5, 20 | 1 << 5, 0) for each in range(10))
            case 0x35:
                return head + struct.pack("<BBH", 1, 10, 0) + b"".join(
                    struct.pack("<BBBbhhI", 0, each + 2, 30 + each, 40, 36 * each, 0, 0x191F) for each in range(10))
            case 0x61: return head
