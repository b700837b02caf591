"""`sextant track` on a terminal of its own: what it prints, what it asks, how it ends."""
import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import termios
import time


class Failure(Exception):
    pass


class Track:
    """One run; its standard output is a pipe, the terminal is for questions, the interrupt key and messages."""

    def __init__(self, sextant, *arguments, environment=None, user=None):
        # What was not waited for yet, and all that came.
        self.events, self.history, self.screen, self.rest = [], [], "", b""
        self.master, slave = pty.openpty()
        variables = {key: value for key, value in os.environ.items() if not key.startswith(("SEXTANT_", "GNSS_"))}
        variables.update(environment or {})
        # What is remembered of this computer's run goes where the state goes.
        variables.setdefault("SEXTANT_RUN_DIR", variables.get("SEXTANT_STATE_DIR", "/tmp") + "/run")

        def prepare():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)

        self.process = subprocess.Popen(
            [sextant, "track", "--json", *arguments], stdin=slave, stdout=subprocess.PIPE, stderr=slave, env=variables,
            preexec_fn=prepare)
        os.close(slave)
        self.output = self.process.stdout.fileno()
        self.open = {self.master, self.output}

    def pump(self, limit):
        """Reads what there is, until `limit`."""
        wait = max(0, limit - time.monotonic())
        ready, _, _ = select.select(list(self.open), [], [], wait)
        for descriptor in ready:
            try:
                data = os.read(descriptor, 65536)
            except OSError:
                data = b""
            if not data:
                self.open.discard(descriptor)
            elif descriptor == self.master:
                self.screen += data.decode(errors="replace")
            else:
                lines = (self.rest + data).split(b"\n")
                self.rest = lines.pop()
                events = [json.loads(line) for line in lines]
                self.events += events
                self.history += events
        return bool(ready)

    def wait_for(self, what, seconds=20, without=None, **fields):
        """The next event of that name with those fields; what came before it is dropped, and must not be a `without`."""
        limit = time.monotonic() + seconds
        while True:
            for index, event in enumerate(self.events):
                if event["event"] == without:
                    raise Failure(f"{without} came before {what}: {event}")
                if event["event"] == what and all(event.get(key) == value for key, value in fields.items()):
                    del self.events[: index + 1]
                    return event
            if time.monotonic() >= limit or not self.open:
                raise Failure(f"no {what} {fields} within {seconds} s; there is {self.events[-5:]}, and on the terminal "
                              f"{self.screen!r}")
            self.pump(limit)

    def wait_for_screen(self, text, seconds=20):
        limit = time.monotonic() + seconds
        while text not in self.screen:
            if time.monotonic() >= limit or self.master not in self.open:
                raise Failure(f"the terminal does not show {text!r} within {seconds} s: {self.screen!r}")
            self.pump(limit)
        self.screen = self.screen.split(text, 1)[1]

    def silence(self, what, seconds):
        """Fails if an event of that name comes within the time."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            self.pump(limit)
        if any(event["event"] == what for event in self.events):
            raise Failure(f"{what} came although it must not: {self.events}")

    def told(self, what):
        """All events of that name so far."""
        return [event for event in self.history if event["event"] == what]

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self, seconds=15):
        """The exit code, and all that was told until then."""
        limit = time.monotonic() + seconds
        while self.output in self.open and time.monotonic() < limit:
            self.pump(limit)
        try:
            return self.process.wait(max(0.1, limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure(f"it does not end: {self.screen!r}")

    def interrupt(self):
        """The interrupt key."""
        self.type("\x03")
        return self.end()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def expect(found, wanted, what):
    if found != wanted:
        raise Failure(f"{what} is {found!r}, not {wanted!r}")
