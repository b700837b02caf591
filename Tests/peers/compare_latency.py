#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Latency, CPU time, wake-ups and memory of `sextant watch --json` and of gpsd, in one run.

usage: compare_latency.py SEXTANT [--epochs N] [--rounds N] [--json]

Both read a pseudo-terminal that is fed as a 115200 baud line is: 12 bytes a millisecond, epochs at 5 Hz, in UBX and in
NMEA. Latency is from the write of an epoch's last byte to the epoch's last TPV or SKY line at the client (a pipe for
sextant, a TCP connection for gpsd). CPU time is the kernel's run time of the process, wake-ups are its voluntary context switches.
gpsd is skipped, with a message, if it is not installed. The baseline is baseline.c, a program that only reads and writes: no
program can be faster here. The client is client.c, which records when each piece comes.
"""
import argparse, calendar, json, os, pty, shutil, socket, struct, subprocess, sys, tempfile, termios, threading, time, tty

CHUNK, TICK, PERIOD = 12, 0.001, 0.2
START = calendar.timegm((2026, 6, 1, 12, 0, 0))


def ubx(cls, ident, payload):
    body = struct.pack("<BBH", cls, ident, len(payload)) + payload
    a = b = 0
    for byte in body:
        a = (a + byte) & 255
        b = (b + a) & 255
    return b"\xb5\x62" + body + bytes((a, b))


def ubx_epoch(number):
    """NAV-PVT, NAV-DOP and NAV-SAT of 20 satellites."""
    ms = number * 200
    t = time.gmtime(START + ms // 1000)
    itow = ((START + 18 - 315964800) % 604800) * 1000 + ms
    pvt = struct.pack("<IHBBBBBBIiBBBBiiiiIIiiiiiIIHHIihH", itow, t.tm_year, t.tm_mon, t.tm_mday, t.tm_hour, t.tm_min,
                      t.tm_sec, 7, 25, ms % 1000 * 1000000, 3, 1, 0xE0, 18, 116056000 + number * 7, 481642000 + number * 5,
                      567800, 520000, 1500, 2200, 900, 400, -20, 985, 2396000, 120, 350000, 152, 0, 0, 0, 0, 0)
    dop = struct.pack("<IHHHHHHH", itow, 181, 152, 98, 124, 88, 60, 64)
    sat = struct.pack("<IBBH", itow, 1, 20, 0)
    for index in range(20):
        sat += struct.pack("<BBBbhhI", (0, 2, 6)[index % 3], index + 1, 30 + index % 15, 20 + index * 3, index * 17, 5, 0x091F)
    return ubx(1, 7, pvt) + ubx(1, 4, dop) + ubx(1, 0x35, sat)


def sentence(text):
    total = 0
    for character in text:
        total ^= ord(character)
    return f"${text}*{total:02X}\r\n".encode()


def nmea_epoch(number):
    """RMC VTG GGA GSA GSV GLL, as a multi-constellation receiver writes them by default."""
    ms = number * 200
    t = time.gmtime(START + ms // 1000)
    clock = f"{t.tm_hour:02}{t.tm_min:02}{t.tm_sec:02}.{ms % 1000 // 10:02}"
    day = f"{t.tm_mday:02}{t.tm_mon:02}{t.tm_year % 100:02}"
    lat, lon = f"4809.{85200 + number % 9000:05}", f"01136.{33600 + number % 9000:05}"
    out = sentence(f"GNRMC,{clock},A,{lat},N,{lon},E,1.915,239.60,{day},,,A,V")
    out += sentence("GNVTG,239.60,T,,M,1.915,N,3.546,K,A")
    out += sentence(f"GNGGA,{clock},{lat},N,{lon},E,1,12,0.88,520.0,M,47.8,M,,")
    out += sentence("GNGSA,A,3,02,05,07,13,15,,,,,,,,1.52,0.88,1.24,1")
    out += sentence("GNGSA,A,3,65,66,72,,,,,,,,,,1.52,0.88,1.24,2")
    out += sentence("GNGSA,A,3,03,08,14,,,,,,,,,,1.52,0.88,1.24,3")
    for talker, signal in (("GP", 1), ("GL", 1), ("GA", 7)):
        for page in (1, 2):
            satellites = ",".join(f"{page * 4 + index:02},{20 + index * 9:02},{index * 40:03},{30 + index}" for index in range(4))
            out += sentence(f"{talker}GSV,2,{page},08,{satellites},{signal}")
    return out + sentence(f"GNGLL,{lat},N,{lon},E,{clock},A,A")


class Feeder(threading.Thread):
    """Writes the epochs at the line's pace; `written[stamp]` is when the last byte of an epoch was out."""

    def __init__(self, master, make, epochs):
        super().__init__(daemon=True)
        self.master, self.written = master, {}
        # Made in advance: the work of this thread would delay the one that waits for the client's line.
        self.data = [make(number) for number in range(epochs)]
        self.begin = time.monotonic() + 0.3

    def run(self):
        begin = self.begin
        for number, data in enumerate(self.data):
            due = begin + number * PERIOD
            for at in range(0, len(data), CHUNK):
                pause = due - time.monotonic()
                if pause > 0:
                    time.sleep(pause)
                if at + CHUNK >= len(data):
                    self.written[number] = time.monotonic()
                os.write(self.master, data[at:at + CHUNK])
                due += TICK


def usage(*processes):
    """Nanoseconds on a processor and voluntary context switches, of all threads of these processes."""
    run = switches = 0
    for thread in (f"/proc/{process.pid}/task/{thread}" for process in processes
                   for thread in os.listdir(f"/proc/{process.pid}/task")):
        with open(f"{thread}/schedstat") as file:
            run += int(file.read().split()[0])
        with open(f"{thread}/status") as file:
            switches += next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
    return run, switches


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        anonymous = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
    with open(f"/proc/{pid}/smaps_rollup") as file:
        proportional = next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    return anonymous, proportional


def drain(master):
    """Reads and discards the program's requests: this receiver does not reply."""
    while True:
        try:
            if not os.read(master, 4096):
                return
        except OSError:
            return


# The lines that a program writes for an epoch; the last one of an epoch counts.
REPORTS = (b'"class":"TPV"', b'"class":"SKY"')


def compiled(name, folder):
    """The program of a C file beside this one."""
    compiler = next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        sys.exit("no C compiler (cc, gcc or clang): the client that measures is written in C")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.c")
    program = os.path.join(folder, name)
    subprocess.run([compiler, "-O2", "-o", program, source], check=True)
    return program


def lines(notes):
    """The lines in the records of client.c, each with the second in which its end came."""
    at, rest = 0, b""
    while at < len(notes):
        nanoseconds, count = struct.unpack_from("=QQ", notes, at)
        *ended, rest = (rest + notes[at + 16:at + 16 + count]).split(b"\n")
        yield from ((nanoseconds / 1e9, line) for line in ended)
        at += 16 + count


def measure(name, start, client, make, epochs, marks=REPORTS):
    """Runs a program for some epochs: the delays at its client, and its cost. The first fifth does not count."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    attributes = termios.tcgetattr(slave)
    attributes[4] = attributes[5] = termios.B115200
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    *processes, stream, close = start(os.ttyname(slave))
    process = processes[0]
    with tempfile.TemporaryFile() as notes:
        reader = subprocess.Popen([client], stdin=stream, stdout=notes)
        threading.Thread(target=drain, args=(master,), daemon=True).start()
        feeder = Feeder(master, make, epochs)
        warm = epochs // 5
        feeder.start()
        # The measurement begins between two epochs, when nothing is being sent.
        time.sleep(max(0, feeder.begin + (warm - 0.25) * PERIOD - time.monotonic()))
        before, memory_before = usage(*processes), memory(process.pid)
        feeder.join()
        time.sleep(PERIOD)
        after, memory_after = usage(*processes), memory(process.pid)
        close()
        os.close(master)
        os.close(slave)
        if reader.wait() != 0:
            sys.exit(f"{name}: its client failed")
        notes.seek(0)
        # The last line of an epoch is the one that counts.
        seen = {int((time - feeder.begin) / PERIOD): time for time, line in lines(notes.read())
                if any(mark in line for mark in marks)}
    counted = range(warm, epochs)
    delays = sorted((seen[one] - feeder.written[one]) * 1e6 for one in counted if one in seen)
    if not delays:
        sys.exit(f"{name}: no epochs came out")
    return {
        "delays": delays, "epochs": len(counted), "missing": len(counted) - len(delays),
        "nanoseconds": after[0] - before[0], "wakeups": after[1] - before[1],
        "anonymous": memory_after[0], "growth": memory_after[0] - memory_before[0], "proportional": memory_after[1],
    }


def together(name, rounds):
    """The result of several rounds of a program: medians of all epochs, the largest memory."""
    delays = sorted(delay for one in rounds for delay in one["delays"])
    count = sum(one["epochs"] for one in rounds)
    return {
        "program": name, "epochs": count, "missing": sum(one["missing"] for one in rounds),
        "latencyMedianMicroseconds": round(delays[len(delays) // 2], 1),
        "latency95Microseconds": round(delays[int(len(delays) * 0.95)], 1),
        "cpuMicrosecondsPerEpoch": round(sum(one["nanoseconds"] for one in rounds) / 1000 / count, 1),
        "wakeupsPerEpoch": round(sum(one["wakeups"] for one in rounds) / count, 2),
        "rssAnonKilobytes": max(one["anonymous"] for one in rounds),
        "rssAnonGrowthKilobytes": max(one["growth"] for one in rounds),
        "proportionalKilobytes": max(one["proportional"] for one in rounds),
    }


def start_into_pipe(*command, environment=None):
    def start(path):
        read, write = os.pipe()
        process = subprocess.Popen([*command, path], stdout=write, stderr=subprocess.DEVNULL, env=environment)
        os.close(write)

        def close():
            process.terminate()
            process.wait()
            os.close(read)
        return process, read, close
    return start


def start_gpsd(path):
    port = 29470 + os.getpid() % 500
    process = subprocess.Popen(["gpsd", "-N", "-n", "-b", "-S", str(port), path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    for _ in range(50):
        time.sleep(0.1)
        try:
            client = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            continue
    else:
        sys.exit("gpsd does not listen")
    client.sendall(b'?WATCH={"enable":true,"json":true};\n')

    def close():
        process.terminate()
        process.wait()
        client.close()
    return process, client.fileno(), close


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sextant")
    parser.add_argument("--epochs", type=int, default=80, help="in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    has_gpsd = shutil.which("gpsd") is not None
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        programs = {"sextant": start_into_pipe(arguments.sextant, "watch", "--json", "--device")}
        if has_gpsd:
            programs["gpsd"] = start_gpsd
        programs["baseline"] = start_into_pipe(compiled("baseline", folder))
        client = compiled("client", folder)
        for kind, make in (("UBX", ubx_epoch), ("NMEA", nmea_epoch)):
            rounds = {name: [] for name in programs}
            for _ in range(arguments.rounds):
                for name, start in programs.items():
                    rounds[name].append(measure(name, start, client, make, arguments.epochs))
            found = {name: together(name, ones) for name, ones in rounds.items()}
            rows += [{"input": kind, **row} for row in found.values()]
            rows += [{"input": kind, "program": f"{name}/gpsd", **{
                key: round(found[name][key] / found["gpsd"][key], 3) for key in
                ("latencyMedianMicroseconds", "cpuMicrosecondsPerEpoch", "wakeupsPerEpoch")}}
                for name in found if has_gpsd and name != "gpsd"]
    if arguments.json:
        print(json.dumps({"rows": rows}))
    else:
        for row in rows:
            print("  ".join(f"{key} {value}" for key, value in row.items()))
    if not has_gpsd:
        print("gpsd is not installed: no comparison", file=sys.stderr)


if __name__ == "__main__":
    main()
