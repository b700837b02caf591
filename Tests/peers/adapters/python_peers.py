# SPDX-License-Identifier: Apache-2.0
"""pynmeagps, pyubx2 and pyrtcm, with the arguments of adapter.h; their own readers split the stream."""
import io
import sys


def reader_of(protocol):
    if protocol == "nmea":
        from pynmeagps import NMEAReader
        return lambda data: NMEAReader(io.BytesIO(data), quitonerror=0)
    if protocol == "ubx":
        from pyubx2 import UBXReader
        return lambda data: UBXReader(io.BytesIO(data), quitonerror=0)
    from pyrtcm import RTCMReader
    return lambda data: RTCMReader(io.BytesIO(data), quitonerror=0)


def name_of(frame):
    if frame[0] == 0xB5:
        return f"{frame[2]:02X}-{frame[3]:02X}"
    if frame[0] == 0xD3:
        return str(frame[3] << 4 | frame[4] >> 4)
    address = frame.replace(b"*", b",").split(b",")[0].decode("latin-1")
    return address[1 if address[1] == "P" or len(address) < 6 else 3:]


def frames_of(data):
    at = 0
    while at < len(data):
        if data[at] == 0xB5:
            length = 8 + int.from_bytes(data[at + 4:at + 6], "little")
        elif data[at] == 0xD3:
            length = 6 + (int.from_bytes(data[at + 1:at + 3], "big") & 0x3FF)
        else:
            length = data.index(b"\n", at) + 1 - at
        yield data[at:at + length]
        at += length


def values_of(message):
    """The public attributes that have a value; -1 for a message whose fields are unnamed."""
    values = {name: value for name, value in vars(message).items() if not name.startswith("_")}
    if "field_01" in values or "NOMINAL" in message.identity or values.keys() == {"DF002"}:
        return -1
    return sum(value not in ("", None) for value in values.values())


def main():
    protocol, path, rounds = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    make = reader_of(protocol)
    if rounds != "count":
        for _ in range(int(rounds)):
            for _, message in make(data):
                pass
        return
    for frame in frames_of(data):
        found = [message for _, message in make(frame)]
        print(name_of(frame), values_of(found[0]) if found and found[0] is not None else -1)


main()
