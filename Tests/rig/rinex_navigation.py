# SPDX-License-Identifier: Apache-2.0
"""Navigation files for rinex.py: reading, comparing, and a UBX recording with subframes of random orbits."""
import random
import struct


def read(text):
    """The records of a navigation file: satellite, time, and data source or issue, to the values, each None if it is blank."""
    records, is_header, current = {}, True, None
    for line in text.splitlines():
        if is_header:
            if line[60:].strip() == "RINEX VERSION / TYPE":
                assert line[:9].strip() == "3.05" and line[20] == "N", line
            is_header = line[60:].strip() != "END OF HEADER"
            continue
        cells = [line[start:start + 19].strip() for start in range(23 if line[0] != " " else 4, 80, 19)]
        values = [float(cell.replace("D", "e")) if cell else None for cell in cells]
        if line[0] != " ":
            current = [line[:3], line[4:23], []]
            values = values[:3]
            records.setdefault(id(current), current)
        current[2] += values
    found = {}
    for satellite, when, values in records.values():
        key = (satellite, when, {"E": values[20:21], "R": []}.get(satellite[0], values[3:4]))
        key = (*key[:2], *key[2])
        assert key not in found, f"{key} twice"
        found[key] = values
    return found


# The place of the time of transmission, which RTKLIB derives from the stated day for RTCM 3.
SENT = {"G": 27, "E": 27, "C": 27, "J": 27}


def compare(ours, theirs, name, least, sent=False):
    """All records are there, and each value is the same to convbin's last digit."""
    assert sorted(ours) == sorted(theirs), f"{name}: {sorted(set(ours) ^ set(theirs))}"
    count = 0
    for key, wanted in theirs.items():
        system = key[0][0]
        # RTKLIB ends a GLONASS record of version 3.05 after 15 values.
        for index in range(15 if system == "R" else len(wanted)):
            if not sent and index == SENT.get(system):
                continue
            # RTKLIB writes spare values as 0.
            own = (ours[key] + [None] * 8)[index] or 0
            other = wanted[index] or 0
            assert abs(own - other) <= 0.51e-12 * 10 ** magnitude(other), f"{name} {key} value {index}: {own}, convbin {other}"
            count += 1
    assert count >= least, f"{name}: {count} values"
    print(f"{name}: {len(ours)} ephemerides, {count} values are the same")


def magnitude(value):
    """The power of ten above a value, of which convbin writes twelve digits."""
    power = 0
    value = abs(value)
    while value >= 1:
        value, power = value / 10, power + 1
    while 0 < value < 0.1:
        value, power = value * 10, power - 1
    return power


def ubx(message_class, message_id, payload):
    body = bytes([message_class, message_id]) + struct.pack("<H", len(payload)) + payload
    a = b = 0
    for byte in body:
        a = a + byte & 0xFF
        b = b + a & 0xFF
    return b"\xb5\x62" + body + bytes([a, b])


class Bits:
    """Bits of a message, the most significant first."""

    def __init__(self, length):
        self.bits = [0] * length

    def put(self, at, count, value, *rest):
        """Puts a number at one place, or its upper and lower bits at several: at, count, value, at, count …"""
        places = [(at, count)] + list(zip(rest[::2], rest[1::2]))
        total = sum(count for _, count in places)
        text = format(value & (1 << total) - 1, f"0{total}b")
        for at, count in places:
            self.bits[at:at + count] = [int(bit) for bit in text[:count]]
            text = text[count:]

    def words(self, width):
        return [int("".join(map(str, self.bits[at:at + width])), 2) for at in range(0, len(self.bits), width)]


def sfrbx(system, satellite, signal, words):
    head = bytes([system, satellite, signal, 0, len(words), 0, 2, 0])
    return ubx(0x02, 0x13, head + b"".join(struct.pack("<I", word) for word in words))


def signed(count):
    return random.randrange(-(1 << count - 1), 1 << count - 1)


def unsigned(count):
    return random.randrange(1 << count)


def lnav(satellite, week, tow):
    first, second, third = Bits(240), Bits(240), Bits(240)
    issue, root, time = unsigned(8), int(5153.7 * 2 ** 19) + signed(20), tow // 7200 * 7200 // 16
    for number, part in enumerate((first, second, third), 1):
        part.put(0, 8, 0x8B)
        part.put(24, 17, tow // 6 + number)
        part.put(43, 3, number)
    for at, count, value in [(48, 10, week % 1024), (58, 2, 1), (60, 4, unsigned(3)), (64, 6, 0), (70, 2, 0), (72, 1, 0), (160, 8, signed(8)),
                             (168, 8, issue), (176, 16, time), (192, 8, signed(8)), (200, 16, signed(16)), (216, 22, signed(22))]:
        first.put(at, count, value)
    for at, count, value in [(48, 8, issue), (56, 16, signed(16)), (72, 16, signed(16)), (88, 32, signed(32)), (120, 16, signed(16)),
                             (136, 32, unsigned(26)), (168, 16, signed(16)), (184, 32, root), (216, 16, time), (232, 1, 0)]:
        second.put(at, count, value)
    for at, count, value in [(48, 16, signed(16)), (64, 32, signed(32)), (96, 16, signed(16)), (112, 32, signed(32)), (144, 16, signed(16)),
                             (160, 32, signed(32)), (192, 24, signed(24)), (216, 8, issue), (224, 14, signed(14))]:
        third.put(at, count, value)
    for part in (first, second, third):
        yield sfrbx(0, satellite, 0, [word << 6 | unsigned(6) for word in part.words(24)])


def crc24q(bits):
    value = 0
    for bit in bits:
        value = value << 1 ^ (0x1864CFB if (value >> 23 ^ bit) & 1 else 0)
        value &= 0xFFFFFF
    return value


def inav(satellite, week, tow):
    issue, time = unsigned(10), tow // 600 * 10
    root = int(5440.6 * 2 ** 19) + signed(20)
    words = {
        1: [(6, 10, issue), (16, 14, time), (30, 32, signed(32)), (62, 32, unsigned(24)), (94, 32, root)],
        2: [(6, 10, issue), (16, 32, signed(32)), (48, 32, signed(32)), (80, 32, signed(32)), (112, 14, signed(14))],
        3: [(6, 10, issue), (16, 24, signed(24)), (40, 16, signed(16)), (56, 16, signed(16)), (72, 16, signed(16)), (88, 16, signed(16)),
            (104, 16, signed(16)), (120, 8, random.randrange(125))],
        4: [(6, 10, issue), (16, 6, satellite), (22, 16, signed(16)), (38, 16, signed(16)), (54, 14, time), (68, 31, signed(31)),
            (99, 21, signed(21)), (120, 6, signed(6))],
        5: [(6, 11, unsigned(11)), (47, 10, signed(10)), (57, 10, signed(10)), (67, 2, 0), (69, 2, 0), (71, 1, 0), (72, 1, 0),
            (73, 12, week - 1024), (85, 20, tow)],
        6: [],
        0: [(6, 2, 2), (96, 12, week - 1024), (108, 20, tow)],
    }
    # RTKLIB begins with word 2, and needs all of them.
    for number in (2, 3, 4, 5, 6, 0, 1):
        data = Bits(128)
        data.put(0, 6, number)
        for at, count, value in words[number]:
            data.put(at, count, value)
        even, odd = Bits(128), Bits(128)
        even.bits[2:114] = data.bits[:112]
        odd.put(0, 1, 1)
        odd.bits[2:18] = data.bits[112:]
        # The check is over both parts, without their tails and its own bits.
        odd.put(82, 24, crc24q([0] * 4 + even.bits[:114] + odd.bits[:82]))
        # The ninth word is reserved.
        yield sfrbx(2, satellite, 1, even.words(32) + odd.words(32) + [0])


def d1(satellite, week, tow):
    first, second, third = Bits(300), Bits(300), Bits(300)
    sow, clock = tow - 14, tow // 3600 * 3600 // 8
    root = int(5282.6 * 2 ** 19) + signed(20)
    for number, part in enumerate((first, second, third), 1):
        part.put(0, 11, 0x712)
        part.put(15, 3, number)
        part.put(18, 8, sow + 6 * number, 30, 12)
    for place in [(42, 1, 0), (43, 5, unsigned(4)), (48, 4, unsigned(3)), (60, 13, week - 1356), (73, 9, clock, 90, 8), (98, 10, signed(10)),
                  (108, 4, signed(10), 120, 6), (214, 11, signed(11)), (225, 7, signed(24), 240, 17), (257, 5, signed(22), 270, 17),
                  (287, 5, unsigned(4))]:
        first.put(*place)
    for place in [(42, 10, signed(16), 60, 6), (66, 16, signed(18), 90, 2), (92, 20, signed(32), 120, 12), (132, 10, unsigned(25), 150, 22),
                  (180, 18, signed(18)), (198, 4, signed(18), 210, 14), (224, 8, signed(18), 240, 10), (250, 12, root, 270, 20),
                  (290, 2, clock >> 15)]:
        second.put(*place)
    for place in [(42, 10, clock & 0x7FFF, 60, 5), (65, 17, signed(32), 90, 15), (105, 7, signed(18), 120, 11), (131, 11, signed(24), 150, 13),
                  (163, 9, signed(18), 180, 9), (189, 13, signed(14), 210, 1), (211, 21, signed(32), 240, 11), (251, 11, signed(32), 270, 21)]:
        third.put(*place)
    for part in (first, second, third):
        yield sfrbx(3, satellite, 0, part.words(30))


def recording(seed=1):
    """UBX frames of an epoch and of the subframes of random orbits."""
    random.seed(seed)
    week, tow = 2360, 345600 + 6 * 777
    raw = struct.pack("<dHbBBB2x", tow, week, 18, 0, 1, 1)
    frames = [ubx(0x02, 0x15, raw)]
    for satellite in (3, 17, 32):
        frames += lnav(satellite, week, tow)
    for satellite in (2, 11, 36):
        frames += inav(satellite, week, tow)
    for satellite in (6, 23, 58):
        frames += d1(satellite, week, tow)
    return b"".join(frames)
