# SPDX-License-Identifier: Apache-2.0
"""The output of the rigs' receivers: epochs of NMEA with a position, five of them a second."""
import datetime
import functools
import operator


def sentence(body):
    checksum = functools.reduce(operator.xor, body.encode())
    return f"${body}*{checksum:02X}\r\n".encode()


def epoch(number, longitude="01136.42100"):
    """The epoch of that number, in steps of 200 ms."""
    time = datetime.datetime(2026, 6, 1, 12) + datetime.timedelta(milliseconds=200 * number)
    clock = time.strftime("%H%M%S.") + f"{time.microsecond // 10000:02d}"
    place = f"4809.87900,N,{longitude},E"
    return (
        sentence(f"GNRMC,{clock},A,{place},0.012,,{time:%d%m%y},,,A")
        + sentence(f"GNGGA,{clock},{place},1,12,0.70,515.5,M,45.6,M,,")
    )
