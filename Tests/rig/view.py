#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `sextant view` in Debian's chromium: on the built-in simulator and on a recording.

usage: view.py FOLDER-OF-PROGRAMS [CHECK...] [--recordings FOLDER] [--minutes N] [--pictures FOLDER]

A page is visited again, sleeps, is loaded again, and outlives a restart of the service and of the program. Values are read out of the page and compared with the stream and with `sextant decode`; filter, pause and theme are driven by
the keyboard. No page may have an error in its console or request another origin. `--minutes` measures the processor time and
memory of page and program; it asks the simulator for ten fixes a second and prints how many positions came. `--pictures` writes the pictures of the guides.
"""
RIG = {"programs": ["sextant", "sextantd"],
       "packages": {"chromium": "chromium", "fonts-inter": "/usr/share/fonts/opentype/inter"},
       "arguments": ["{programs}", "--recordings", "{recordings}"], "seconds": 52, "ci": True}

import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.parse

import harness
from browser import Browser
from harness import Program, Simulator, expect, expect_equal, program, wait_until

RECORDING = "ubx/ublox-zed-f9p_hpg1.11.log"
WALK = "start 48.1642,11.6056 512m\nhot\nwalk by 400m,200m\nwalk home\nrepeat\n"


class View(Program):
    """`sextant view` at a free port of loopback, or at `port`. `address` is the printed one, with the token if it has one."""

    def __init__(self, folder, *arguments, port=None, service="none", **variables):
        if port is None:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
        super().__init__(program(), "view", "--listen", f"127.0.0.1:{port}", *arguments,
                         env=harness.environment(folder, SEXTANT_SERVICE=service, **variables))
        self.address = self.wait_for_message(r"the page is at (http://\S+)")[1]
        parts = urllib.parse.urlsplit(self.address)
        self.port, self.origin = parts.port, f"{parts.scheme}://{parts.netloc}"
        self.token = urllib.parse.parse_qs(parts.query).get("token", [None])[0]

    def request(self, method, path, body=None, **headers):
        """Status and text of a reply; of a stream, its first kilobyte."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.LIMIT)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        reply = connection.getresponse()
        text = reply.read1(1024).decode()
        connection.close()
        return reply.status, text


    def has_line(self):
        """Whether a line to a receiver is open: a pseudo-terminal."""
        for name in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                if os.readlink(f"/proc/{self.process.pid}/fd/{name}").startswith(("/dev/pt", "/dev/tty")):
                    return True
            except FileNotFoundError:
                pass  # Closed meanwhile.
        return False


class SleepyProxy:
    """A proxy of a port of loopback. `sleep` closes its connections to the server, and leaves the browser's open without a
    byte, as they are after the sleep of a phone. Later connections are forwarded."""

    def __init__(self, port):
        self.target, self.servers = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            self.servers.append(server)
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(one, other, server), daemon=True).start()

    def _forward(self, one, other, server):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass  # Closed by the other thread, or by `sleep`.
        if server in self.servers:
            self.servers.remove(server)
            for end in (one, other):
                end.close()

    def sleep(self):
        asleep, self.servers = self.servers, []
        for server in asleep:
            server.shutdown(socket.SHUT_RDWR)


def expect_quiet(page, view):
    """The page has no error, and has requested nothing from elsewhere."""
    expect(not page.errors, f"errors in the console: {page.errors}")
    elsewhere = {one for one in page.addresses if not one.startswith((view.origin + "/", "data:", "about:"))}
    expect(not elsewhere, f"requests to another origin: {elsewhere}")


def degrees(text):
    number, sign = re.fullmatch(r"([\d.]+)° ([NESW])", text).groups()
    return -float(number) if sign in "SW" else float(number)


def simulated(folder):
    with View(folder, "--device", "sim:walk", "--control") as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("document.querySelector('#kind').textContent === 'SIMULATED'")
        page.wait("state.fix.mode === 3 && state.sky.satellites.some((one) => one.used)")
        page.wait("document.querySelector('[data-field=status]').textContent !== 'no fix'")
        page.press("p")
        expect_equal(page.text("#connection"), "paused", "the state after p")
        shown = [page.field(name) for name in ("lat", "lon", "time")]
        time.sleep(1.5)
        expect_equal([page.field(name) for name in ("lat", "lon", "time")], shown, "a paused page")
        page.press("p")
        # Both are read in one step: the page draws later than it receives.
        page.wait(f"document.querySelector('[data-field=time]').textContent !== {json.dumps(shown[2])}")
        drawn = page.wait("""(() => {
          const text = (name) => document.querySelector(`[data-field=${name}]`).textContent;
          return text('time').slice(11, 23) === state.fix.time.slice(11, 23)
            && {lat: text('lat'), lon: text('lon'), used: text('satellitesUsed'), fix: state.fix};
        })()""")
        for name in ("lat", "lon"):
            expect(abs(degrees(drawn[name]) - drawn["fix"][name]) < 1e-7, f"{name}: {drawn}")
        expect_equal(drawn["used"], str(drawn["fix"]["satellitesUsed"]), "satellites used")

        # The scenario walks: the track is shown until another picture is chosen.
        page.wait("document.querySelector('[data-plane=track]').getAttribute('aria-pressed') === 'true'")
        page.press("d")
        page.wait("document.querySelector('[data-plane=deviation]').getAttribute('aria-pressed') === 'true'")
        expect(not page.value("""(() => {
          const boxes = skyPlaces.map((one) => one.label).filter((box) => box);
          return boxes.length < 5 || boxes.some((a, i) => boxes.slice(i + 1).some((b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]));
        })()"""), "names of satellites overlap in the sky")
        expect(page.value("skyPlaces.every((one) => /^[A-Z]\\d\\d+$/.test(one.id))"), "a satellite has another name than G02")

        page.wait("document.querySelectorAll('#console tr[data-name]').length > 3")
        page.press("/", "nav-pvt")
        page.wait("document.querySelectorAll('#console tr[data-name]').length === 1")
        page.press("Enter", "Enter")
        page.wait("document.querySelector('[data-detail] dd[data-name=numSV]') !== null")
        bytes_shown = page.text("[data-detail] pre")
        expect(bytes_shown.startswith("0000  b5 62 01 07 5c 00"), f"the bytes of NAV-PVT are {bytes_shown[:60]!r}")
        page.value("document.querySelector('#filter').focus()")
        page.press("Escape")
        page.wait("document.querySelectorAll('#console tr[data-name]').length > 3")

        page.value("document.activeElement.blur()")
        themes = []
        for _ in range(3):
            page.press("t")
            themes.append(page.value("[document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor].join(' ')"))
        expect(len(set(themes)) == 3 and themes[0].split(" ", 1)[1] != themes[1].split(" ", 1)[1], f"themes: {themes}")
        page.press("?")
        expect(page.value("document.querySelector('#keys').open"), "? does not open the keys")
        page.press("Escape")
        for width in (360, 390, 1600):
            page.resize(width, 900)
            expect(page.value("document.documentElement.scrollWidth") <= width, f"the page is wider than {width} pixels")
        page.value("document.querySelector('#power').scrollIntoView()")  # A part outside of the window is not drawn.
        demands = page.wait("document.querySelector('#power table').textContent.includes('sextant view') && "
                            "document.querySelector('#power table').textContent")
        expect_quiet(page, view)
        page.close()
        view.terminate()
        return f"{themes[0].split()[0]} and dark, {len(page.addresses)} requests; demand: {demands.strip()[-40:]}"


def recorded(folder):
    path = os.path.join(options.recordings, RECORDING)
    if not os.path.exists(path):
        return f"left out: no {path}"
    lines = subprocess.run([program(), "decode", "--format", "tpv", path], check=True, capture_output=True).stdout.splitlines()
    fixes = {one["time"]: one for one in map(json.loads, lines) if one["class"] == "TPV" and one["mode"] >= 2 and "time" in one}
    with View(folder, "--speed", "max", path) as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("document.querySelector('#kind').textContent === 'RECORDING'")
        page.wait("document.querySelector('#connection').dataset.state === 'ended'")
        fix = page.value("state.fix")
        wanted = fixes[fix["time"]]
        for name in ("lat", "lon"):
            expect(abs(fix[name] - wanted[name]) < 1e-9, f"{name}: {fix[name]}, decode has {wanted[name]}")
        page.wait(f"document.querySelector('[data-field=time]').textContent.includes({json.dumps(fix['time'][11:19])})")
        expect(abs(degrees(page.field("lat")) - wanted["lat"]) < 1e-7, f"the page has {page.field('lat')}")
        page.wait("document.querySelector('[data-field=positions]').textContent !== '0'")
        expect_quiet(page, view)
        view.terminate()
        return f"{len(fixes)} fixes; the last at {fix['time']} is decode's"


def refused(folder):
    with View(folder, "--device", "sim:walk", "--control") as view:
        body = '{"set":{"CFG-RATE-MEAS":1}}'
        for text, wanted, status in [
            ("another origin reads", (403,), view.request("GET", "/events", Origin="http://example.org")[0]),
            ("another host's name", (421, 403), view.request("GET", "/", Host="example.org")[0]),
            ("no token", (401, 403), view.request("POST", "/control", body)[0]),
            ("a wrong token", (401, 403), view.request("POST", "/control", body, X_Sextant_Token="0" * 32)[0]),
            ("another origin with the token", (403,),
             view.request("POST", "/control", body, X_Sextant_Token=view.token, Origin="http://example.org")[0]),
        ]:
            expect(status in wanted, f"{text}: {status}, not {wanted}")
        view.terminate()
        return "five requests"


def opened(folder):
    """The browser gets an address without a token, or a private file: all users can read its arguments."""
    tools, session = f"{folder}/tools", f"{folder}/session"
    os.makedirs(tools)
    os.makedirs(session, mode=0o700)
    with open(f"{tools}/xdg-open", "w") as script:
        script.write("#!/bin/sh\nprintf '%s\\n' \"$@\" > '%s/seen.new'; mv '%s/seen.new' '%s/seen'\n".replace("'%s/", f"'{folder}/"))
    os.chmod(f"{tools}/xdg-open", 0o755)
    results = []
    for parent, arguments in ((None, ()), (session, ("--control",)), (f"{folder}/missing", ("--control",))):
        variables = {"PATH": f"{tools}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": parent or session, "TMPDIR": folder}
        with View(folder, "--device", "sim:walk", "--open", *arguments, **variables) as view:
            wait_until(lambda: os.path.exists(f"{folder}/seen"), "no browser is opened")
            with open(f"{folder}/seen") as file:
                argument = file.read().strip()
            if not arguments:
                expect_equal(argument, view.address, "the address without a token")
            else:
                expect(view.token not in argument, f"the token is an argument: {argument}")
                expect(argument.startswith(f"{session}/" if parent == session else f"{folder}/sextant-"), argument)
                with open(argument) as file:
                    expect(view.address in file.read(), "the file does not lead to the page")
                modes = [os.stat(path).st_mode & 0o777 for path in (argument, os.path.dirname(argument))]
                expect_equal(modes, [0o600, 0o700], "the modes of the file and of its folder")
            view.terminate()
        if arguments:
            expect(not os.path.exists(os.path.dirname(argument)), "the file is left")
        os.unlink(f"{folder}/seen")
        results.append(os.path.basename(argument))
    return ", ".join(results[1:])


def closed(folder):
    """After the last page is closed, the line is closed too, and the program waits without using the processor."""
    with View(folder, "--device", "sim:walk") as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("state.fix.mode === 3")
        page.close()
        def ticks():
            with open(f"/proc/{view.process.pid}/stat") as file:
                fields = file.read().rsplit(") ", 1)[1].split()
            return int(fields[11]) + int(fields[12])
        last = [ticks()]
        def is_idle():
            time.sleep(2)
            last.append(ticks())
            return last[-1] - last[-2] == 0
        wait_until(is_idle, lambda: f"the program uses the processor without a page: {last}")
        view.terminate()
        return "no processor time in two seconds"


CHARTED = "history.columns.satellitesUsed.last.filter((value) => !Number.isNaN(value)).length"


def wait_until_newer(page, shown):
    """Waits until the page, in front of other tabs, shows a fix that is newer than one, on a live connection."""
    page.call("Page.bringToFront")  # Tabs behind it draw nothing.
    page.wait(f"state.fix.time > {json.dumps(shown)} && state.fix.mode === 3 && connected[0] === 'live'")
    page.wait(f"document.querySelector('#connection').textContent === 'live' && "
              f"document.querySelector('[data-field=time]').textContent.replace(' ', 'T') > {json.dumps(shown)}")


def revisited(folder):
    """A page that is opened after the receiver was left, one that is loaded again, and two at a time are live and have the history."""
    with View(folder, "sim:walk") as view, Browser() as browser:
        first = browser.open(view.address)
        first.wait(f"state.fix.mode === 3 && {CHARTED} > 2 && track.count > 2")
        first.close()
        wait_until(lambda: not view.has_line(), "the receiver is not left")
        second = browser.open(view.address)
        second.wait("track.count > 2")
        shown = second.value("state.fix.time ?? ''")
        charted = second.value(CHARTED)
        expect(charted > 2, f"the second visit has {charted} seconds of history")
        second.wait("state.fix.time !== undefined")
        wait_until_newer(second, second.value("state.fix.time"))
        expect_equal(second.value("state.end"), None, "an end of the former session")

        third = browser.open(view.address)
        third.wait("state.fix.mode === 3")
        shown = [page.value("state.fix.time") for page in (second, third)]
        for page, time_shown in zip((second, third), shown):
            wait_until_newer(page, time_shown)
        second.close()
        wait_until_newer(third, third.value("state.fix.time"))

        third.wait("history.signals.size > 0 && trails.size > 0")
        before = {"seconds": third.value(CHARTED), "positions": third.value("track.count"), "signals": third.value("history.signals.size")}
        third.call("Page.reload")
        third.wait(f"document.readyState === 'complete' && typeof track === 'object' && track.count >= {before['positions'] - 1}")
        third.wait(f"{CHARTED} >= {before['seconds'] - 1} && history.signals.size > 0 && trails.size > 0")
        third.wait("state.fix.time !== undefined")
        wait_until_newer(third, third.value("state.fix.time"))
        expect_quiet(third, view)
        view.terminate()
        return f"after the reload: {before}"


def replayed(folder):
    """A replayed device shows its end, and begins again with the next visit, not before."""
    recording = record(folder, 4)
    with View(folder, f"replay:{recording}@max") as view, Browser() as browser:
        for _ in range(2):
            page = browser.open(view.address)
            page.wait("document.querySelector('#connection').dataset.state === 'ended' && state.fix.time !== undefined")
            started = page.value("state.hello.started")
            time.sleep(1)
            expect_equal(page.value("[state.hello.started, connected[0]]"), [started, "ended"], "the session after its end")
            expect_quiet(page, view)
            page.close()
        view.terminate()
        return "twice"


def slept(folder):
    """A tab that slept until the server had closed its connection, and that was told nothing of it, is live again."""
    with View(folder, "sim:walk") as view, Browser() as browser:
        proxy = SleepyProxy(view.port)
        view.origin = f"http://127.0.0.1:{proxy.port}"
        page = browser.open(view.origin + "/")
        page.wait("state.fix.mode === 3 && track.count > 2")
        shown, positions = page.value("[state.fix.time, track.count]")
        browser.open("about:blank")  # The page is behind another tab.
        page.call("Page.setWebLifecycleState", state="frozen")
        proxy.sleep()
        wait_until(lambda: not view.has_line(), "the receiver is not left")
        page.call("Page.setWebLifecycleState", state="active")
        wait_until_newer(page, shown)
        expect(page.value("track.count") >= positions, "the page has lost its positions")
        expect_quiet(page, view)
        view.terminate()
        return f"newer than {shown}"


def restarted(folder):
    """After a restart of the location service, and of the program itself, the page is live again."""
    path = f"{folder}/location"

    def serve():
        service = Program(program("sextantd"), "--device", "sim:walk", "--socket", path,
                          env=harness.environment(folder, SEXTANT_AUTHORIZATION="always"))
        wait_until(lambda: os.path.exists(path), "the service does not listen")
        return service
    service = serve()
    try:
        with Browser() as browser:
            with View(folder, service=path) as view:
                page = browser.open(view.address)
                page.wait("state.fix.mode === 3")
                service.terminate()
                shown = page.value("state.fix.time")
                service = serve()
                wait_until_newer(page, shown)
                expect_quiet(page, view)
                shown = page.value("state.fix.time")
                view.terminate()
            page.wait("document.querySelector('#connection').dataset.state === 'lost'")
            with View(folder, port=view.port, service=path) as view:
                wait_until_newer(page, shown)
                # While nothing listens the browser reports its attempts.
                expect(all("net::ERR_" in one for one in page.errors), f"errors in the console: {page.errors}")
                view.terminate()
        service.terminate()
        return f"newer than {shown}"
    finally:
        service.kill()


def crowd(folder):
    """A thousand connections, idle, without HTTP, or without a reader: a page goes on, and nothing of them is left."""
    with View(folder, "--device", "sim:walk") as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("state.fix.mode === 3")

        def use():
            with open(f"/proc/{view.process.pid}/status") as file:
                memory = int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])
            return memory, len(os.listdir(f"/proc/{view.process.pid}/fd"))
        memory, descriptors = use()
        greetings = [b"", b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\0" * 512, b"GET / HT", b"x" * 4096]
        sockets = []
        for number in range(1000):
            one = socket.create_connection(("127.0.0.1", view.port), timeout=harness.LIMIT)
            try:
                one.sendall(greetings[number % len(greetings)])
            except OSError:
                pass  # The connection was refused before this text.
            sockets.append(one)
        shown = page.field("time")
        page.wait(f"document.querySelector('[data-field=time]').textContent !== {json.dumps(shown)}")
        crowded = use()
        # The page, the most connections and as many refusals.
        expect(crowded[1] <= descriptors + 128, f"{crowded[1]} descriptors, {descriptors} before")
        expect(crowded[0] < memory + 16_384, f"{crowded[0]} KiB, {memory} before")
        for one in sockets:
            one.close()
        wait_until(lambda: use()[1] <= descriptors, lambda: f"{use()[1]} descriptors are left of {descriptors}")
        status = view.request("GET", "/")[0]
        expect_equal(status, 200, "the reply after them")
        expect_quiet(page, view)
        view.terminate()
        return f"{memory} to {crowded[0]} KiB, {descriptors} to {crowded[1]} descriptors"


def measure(folder):
    """Processor time and memory of page and program, at the rate that the receiver accepts."""
    with Simulator(f"{folder}/simulator", "m10", "--usb", scenario=WALK) as simulator, \
            View(folder, "--device", simulator.link, "--control") as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("state.fix.mode === 3")
        reply = view.request("POST", "/control", '{"set":{"rate":"10Hz"}}', X_Sextant_Token=view.token)
        def use(pid):
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(") ", 1)[1].split()
            with open(f"/proc/{pid}/status") as file:
                found = re.search(r"VmRSS:\s+(\d+)", file.read())
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(found[1]) / 1024 if found else 0
        time.sleep(20)
        rows, begin = [], time.monotonic()
        while True:
            page.call("HeapProfiler.collectGarbage")
            metrics = page.metrics()
            rows.append((time.monotonic() - begin, *use(view.process.pid), metrics["TaskDuration"], metrics["JSHeapUsedSize"] / 2 ** 20,
                         metrics["Nodes"], page.value("track.count")))
            if rows[-1][0] >= options.minutes * 60:
                break
            time.sleep(min(30, options.minutes * 60 / 4))
        first, last = rows[0], rows[-1]
        seconds = last[0] - first[0]
        expect(last[4] < first[4] + 8, f"the page's memory grows: {rows}")
        expect_quiet(page, view)
        view.terminate()
        return (f"control: {reply}; {seconds:.0f} s: program {100 * (last[1] - first[1]) / seconds:.1f} % of a processor, "
                f"{first[2]:.1f} to {last[2]:.1f} MB; page {100 * (last[3] - first[3]) / seconds:.1f} %, heap {first[4]:.1f} to "
                f"{last[4]:.1f} MB, nodes {first[5]:.0f} to {last[5]:.0f}; {(last[6] - first[6]) / seconds:.1f} positions a second")


REPORT_TEXTS = """(() => {
  const sizes = [...document.querySelectorAll('body *')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
    && one.checkVisibility() && getComputedStyle(one).visibility === 'visible').map((one) => {
      const scale = one.ownerSVGElement ? one.getScreenCTM().a : 1;
      return parseFloat(getComputedStyle(one).fontSize) * scale;
    });
  return [Math.min(...sizes), Math.max(...sizes)];
})()"""
NAMES_OVERLAP = """[...document.querySelectorAll('svg[aria-label="Sky plot"]')].some((svg) => {
  const boxes = [...svg.querySelectorAll('text')].map((one) => one.getBoundingClientRect());
  return boxes.some((a, i) => boxes.slice(i + 1).some((b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2));
})"""


def record(folder, seconds):
    recording = f"{folder}/walk.rec"
    harness.run(program(), "record", "--device", "sim:walk", "--seconds", str(seconds), recording, env=harness.environment(folder))
    return recording


def reported(folder):
    """A report of one recording and of two: no scroll across at any width, texts that can be read, no names over each other."""
    recording = record(folder, 4)
    os.makedirs(f"{folder}/other")
    other = f"{folder}/other/walk.rec"
    with open(recording, "rb") as source, open(other, "wb") as copy:
        copy.write(source.read())
    found = []
    with Browser() as browser:
        for files in ([recording], [recording, other]):
            path = f"{folder}/report-{len(files)}.html"
            harness.run(program(), "report", *files, "-o", path, env=harness.environment(folder))
            for width, scheme in ((1600, "light"), (390, "dark"), (360, "light")):
                page = browser.open(f"file://{path}", width, 1000, scheme)
                expect(page.value("document.documentElement.scrollWidth") <= width, f"the report is wider than {width} pixels")
                least, most = page.value(REPORT_TEXTS)
                expect(least >= 10.5 and most <= 24, f"texts of {least} to {most} pixels at {width}")
                expect(not page.value(NAMES_OVERLAP), f"names of satellites overlap at {width}")
                expect(not page.errors and page.addresses == [f"file://{path}"], f"{page.errors}, {page.addresses}")
                title, heading = page.value("document.title"), page.text("h1")
                expect("Recording" not in heading and folder not in title + heading, f"title {title!r}, heading {heading!r}")
                page.close()
            found.append(heading)
    return ", ".join(found)


def pictures(folder):
    """The pictures of the guides: the page and a report at both widths, light and dark."""
    report = f"{folder}/report.html"
    recording = os.path.basename(record(folder, 60))
    subprocess.run([os.path.abspath(program()), "report", recording, "-o", report], check=True, cwd=folder, env=harness.environment(folder))
    sizes = {}
    with View(folder, "--device", "sim:walk") as view, Browser() as browser:
        for width, height in ((1600, 1330), (390, 1330)):
            for scheme in ("light", "dark"):
                page = browser.open(view.address, width, height, scheme)
                page.wait("state.fix.mode === 3")
                page.wait("track.count >= 45")
                page.wait("document.querySelector('[data-field=positions]').textContent >= '45'")
                name = f"{options.pictures}/view-{width}-{scheme}.png"
                sizes[name] = page.picture(name)
                page.close()
                page = browser.open(f"file://{report}", width, height, scheme)
                name = f"{options.pictures}/report-{width}-{scheme}.png"
                sizes[name] = page.picture(name)
                page.close()
        view.terminate()
    # A palette of 256 colours suffices.
    subprocess.run(["pngquant", "--force", "--ext", ".png", "--speed", "1", *sizes], check=True)
    sizes = {name: os.path.getsize(name) for name in sizes}
    expect(max(sizes.values()) < 200_000, f"a picture is larger than 200 kB: {sizes}")
    return f"{sizes}"


options = harness.arguments(__doc__, recordings="../shared/corpus", minutes=0, pictures="")
checks = {check.__name__: check for check in (simulated, recorded, reported, refused, opened, closed, revisited, replayed, slept, restarted, crowd)}
if options.minutes:
    checks = {"measure": measure}
if options.pictures:
    checks = {"pictures": pictures}
harness.run_checks(checks, options.checks)
