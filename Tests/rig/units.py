#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The units of sextantd: what systemd says of them, the accounts and folders that they need, and the daemon as systemd starts
it: with its socket, its messages, its reload and its sandbox's system calls. Without systemd as process 1.

usage: units.py FOLDER [CHECK]..., as root; FOLDER has sextant and sextantd
"""
RIG = {"programs": ["sextant", "sextantd"], "packages": {"systemd": "systemd-analyze", "strace": "strace"},
       "needs": ["root", "no systemd as process 1"], "seconds": 10, "ci": True}

import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys

from harness import (LIMIT, Failure, Program, arguments, environment, expect, expect_equal, program, run_checks,
                     wait_until)

UNITS = pathlib.Path(__file__).resolve().parents[2] / "hw-rules"
# Of ten; by the issue of systemd that checks it.
EXPOSURE_LIMIT = 2.0


def output(*command, **options):
    """The output of a command, which has to succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    expect(done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


class Client:
    """A connection to the location socket: JSON objects that end with NUL."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT)
        self.socket.connect(path)
        self.bytes = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, method, more=False, **parameters):
        call = {"method": f"org.sextant.Location.{method}", "parameters": parameters, "more": more}
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def receive(self):
        """The next reply; None at the end of the connection."""
        while b"\0" not in self.bytes:
            piece = self.socket.recv(65536)
            if not piece:
                return None
            self.bytes += piece
        message, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, more=False, **parameters):
        self.send(method, more, **parameters)
        return self.receive()


def daemon(folder, *prefix, user=None, **variables):
    """sextantd with the built-in simulator."""
    variables = {"SEXTANT_AUTHORIZATION": "always", **variables}
    path = f"{os.path.dirname(program())}:{os.environ['PATH']}"
    return Program(*prefix, program("sextantd"), "--device", "sim:walk", "--socket", f"{folder}/location",
                   user=user, env=environment(folder, PATH=path, TMPDIR=folder, **variables))


def wait_for_socket(path):
    def answers():
        try:
            with Client(path):
                return True
        except OSError:
            return False
    wait_until(answers, f"{path} accepts no connection")


# MARK: The units

def units_are_valid(folder):
    for unit in UNITS.glob("sextantd*"):
        text = unit.read_text().replace("/usr/local/bin/sextantd", program("sextantd"))
        pathlib.Path(folder, unit.name).write_text(text)
    said = output("systemd-analyze", "verify", "--man=no", *(f"{folder}/{unit.name}" for unit in UNITS.glob("sextantd*")))
    launcher = UNITS / "sextant-launcher.service"
    text = launcher.read_text().replace("/usr/local/bin/sextantd", program("sextantd"))
    pathlib.Path(folder, launcher.name).write_text(text)
    said += output("systemd-analyze", "verify", "--user", "--man=no", f"{folder}/{launcher.name}",
                   env={**os.environ, "XDG_RUNTIME_DIR": folder})
    # It ends with 0 for a setting that it does not know. Those that are newer than systemd 252 are ignored by it.
    issue = int(re.match(r"systemd (\d+)", output("systemctl", "--version"))[1])
    newer = {"RestartSteps": 254, "RestartMaxDelaySec": 254}
    unknown = re.compile(r".*Unknown key (?:name )?'(\w+)' in section .Service., ignoring\.$")
    problems = [line for line in said.splitlines() if "sextant" in line
                and not ((key := unknown.match(line)) and issue < newer.get(key[1], 0))]
    expect(not problems, "\n".join(problems))


def exposure_is_low(_):
    said = output("systemd-analyze", "security", "--offline=true", "--no-pager", str(UNITS / "sextantd.service"))
    found = float(re.search(r"exposure level for .*: ([\d.]+)", said)[1])
    expect(found <= EXPOSURE_LIMIT, f"the exposure is {found}, above {EXPOSURE_LIMIT}:\n{said}")
    return f"exposure {found}"


def accounts_and_folders_are_made(folder):
    os.mkdir(f"{folder}/etc")
    output("systemd-sysusers", f"--root={folder}", str(UNITS / "sextant.sysusers.conf"))
    groups = pathlib.Path(folder, "etc/group").read_text()
    service = (UNITS / "sextantd.service").read_text()
    for group in re.search(r"^SupplementaryGroups=(.*)$", service, re.M)[1].split() + ["sextant"]:
        expect(re.search(f"^{group}:", groups, re.M), f"the unit's group {group} is not made: {groups}")
    user = re.search(r"^sextant:x:(\d+):(\d+):", pathlib.Path(folder, "etc/passwd").read_text(), re.M)
    expect(user, "the user sextant is not made")
    output("systemd-tmpfiles", f"--root={folder}", "--create", str(UNITS / "sextant.tmpfiles.conf"))
    status = os.stat(f"{folder}/run/sextant")
    expect_equal((status.st_uid, status.st_gid, status.st_mode & 0o777), (int(user[1]), int(user[2]), 0o755), "/run/sextant")


# MARK: The daemon under a service manager

def socket_and_messages(folder):
    """Socket activation, readiness, watchdog and the end: sd_listen_fds(3), sd_notify(3)."""
    messages = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    messages.bind(f"{folder}/notify")
    messages.settimeout(LIMIT)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/location")
    listener.listen()
    # A client that is earlier than the daemon.
    client = Client(f"{folder}/location")
    client.send("GetStatus")

    # The socket is descriptor 3, and the process is known to itself only.
    script = ("import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ['LISTEN_PID'] = str(os.getpid()); "
              "os.execv(sys.argv[2], sys.argv[2:])")
    path = f"{os.path.dirname(program())}:{os.environ['PATH']}"
    variables = environment(folder, PATH=path, NOTIFY_SOCKET=f"{folder}/notify", LISTEN_FDS="1", LISTEN_FDNAMES="location",
                            WATCHDOG_USEC="400000", STATE_DIRECTORY=f"{folder}/var")
    del variables["SEXTANT_STATE_DIR"]
    with Program(sys.executable, "-c", script, str(listener.fileno()), program("sextantd"), "--device", "sim:walk",
                 env=variables, pass_fds=[listener.fileno()]) as service:
        def next_message(*passed_over):
            while (message := messages.recv(4096)) in passed_over:
                pass
            return message
        # The thread of the watchdog's messages may be earlier.
        expect_equal(next_message(b"WATCHDOG=1"), b"READY=1", "the first message")
        expect(client.receive()["parameters"]["status"]["service"]["version"], "the earlier client has no answer")
        for _ in range(3):
            expect_equal(next_message(), b"WATCHDOG=1", "the next message")
        service.process.terminate()
        expect_equal(next_message(b"WATCHDOG=1"), b"STOPPING=1", "the message at the end")
        service.wait_for_exit(0)
    expect(os.path.exists(f"{folder}/location"), "the socket of the service manager is gone")
    client.socket.close()


def reload_applies_grants(folder):
    """SIGHUP reads the policy again: a grant that is withdrawn ends a running program's locations."""
    os.makedirs(f"{folder}/etc/sextant")
    policy = pathlib.Path(folder, "etc/sextant/policy")
    policy.write_text(f"grant {os.path.realpath(sys.executable)} always\n")
    # The daemon has an /etc of its own.
    prefix = ("unshare", "--mount", "/bin/sh", "-c", 'mount --bind "$0/etc" /etc && exec "$@"', folder)
    location = f"{folder}/location"
    with daemon(folder, *prefix, SEXTANT_AUTHORIZATION="") as service:
        wait_for_socket(location)
        with Client(location) as client:
            expect("location" in client.call("Subscribe", more=True).get("parameters", {}), "the grant does not apply")
            policy.write_text("")
            service.process.send_signal(signal.SIGHUP)
            while (reply := client.receive()) is not None:
                expect("location" in reply["parameters"], reply)
        with Client(location) as client:
            expect_equal(client.call("Subscribe", more=True).get("error"), "org.sextant.Location.NotDetermined", "the reply")
        policy.write_text(f"grant {os.path.realpath(sys.executable)} always\n")
        service.process.send_signal(signal.SIGHUP)
        service.wait_for_message("read again.*\n.*read again")

        def is_granted():
            with Client(location) as client:
                return "location" in client.call("Subscribe", more=True).get("parameters", {})
        wait_until(is_granted, "the second grant does not apply")
        service.terminate()


def another_mount_has_no_grant(folder):
    """A user cannot mount another file at the path of an executable that has a grant: the grant is not for user namespaces, and a
    program without a known executable is denied."""
    os.makedirs(f"{folder}/etc/sextant")
    python = os.path.realpath(sys.executable)
    pathlib.Path(folder, "etc/sextant/policy").write_text(f"grant {python} always\n")
    prefix = ("unshare", "--mount", "/bin/sh", "-c", 'mount --bind "$0/etc" /etc && exec "$@"', folder)
    with daemon(folder, *prefix, SEXTANT_AUTHORIZATION="") as service:
        wait_for_socket(f"{folder}/location")
        ask = (f"import sys; sys.argv = ['', '.']; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); import units; "
               f"print(units.Client({folder + '/location'!r}).call('Subscribe', more=True).get('error'))")
        expect_equal(output(python, "-c", ask).strip(), "None", "the reply to the program with the grant")
        expect_equal(output("unshare", "--user", "--map-root-user", "--mount", python, "-c", ask).strip(),
                     "org.sextant.Location.Denied", "the reply in a user namespace")
        service.terminate()


def capability_shows_executables(folder):
    """CAP_SYS_PTRACE, the unit's only capability, shows the executables of other users' programs. Without it they have no name."""
    user = pwd.getpwnam("nobody").pw_uid
    names = {}
    for capability in ("sys_ptrace", None):
        own = f"{folder}/{capability}"
        os.mkdir(own)
        os.chown(own, user, user)
        sets = [option for name in ("inh", "ambient") for option in (f"--{name}-caps", f"+{capability}")] if capability else []
        prefix = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *sets)
        with daemon(own, *prefix) as service:
            wait_for_socket(f"{own}/location")
            with Client(f"{own}/location") as client, Client(f"{own}/location") as viewer:
                client.call("Subscribe", more=True)
                names[capability] = viewer.call("GetStatus")["parameters"]["status"]["programs"][0]["name"]
            service.terminate()
    python = os.path.realpath(sys.executable)
    expect_equal(names, {"sys_ptrace": f"{os.path.basename(python)}@{python}", None: f"process-{os.getpid()}@"}, "the name")


def system_calls_are_allowed(folder):
    """Every system call that the daemon makes is in the unit's filter, and no memory is writable and executable."""
    trace = f"{folder}/trace"
    # As the unit, not as root, which also sets the owners of files.
    user = pwd.getpwnam("nobody").pw_uid
    os.chown(folder, user, user)
    with daemon(folder, "strace", "-f", "-qq", "-o", trace, user=user) as service:
        wait_for_socket(f"{folder}/location")
        with Client(f"{folder}/location") as client:
            expect("location" in client.call("Subscribe", more=True).get("parameters", {}), "no location")
        with Client(f"{folder}/location") as client:
            client.call("RequestLocation")
        children = pathlib.Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
        service.wait_for_exit(None)
    lines = own_lines(pathlib.Path(trace).read_text().splitlines())
    calls = {found[1] for line in lines if (found := re.match(r"\d+ +(\w+)\(", line))}
    expect({"epoll_wait", "epoll_pwait", "ppoll", "poll"} & calls, f"the trace is incomplete: {sorted(calls)}")
    filters = re.findall(r"^SystemCallFilter=(.*)$", (UNITS / "sextantd.service").read_text(), re.M)
    allowed = set()
    for words in filters:
        names = {name for word in words.lstrip("~").split() for name in expanded(word)}
        allowed = allowed - names if words.startswith("~") else allowed | names
    # systemd always allows exit_group and the like.
    allowed |= expanded("@default")
    expect(calls <= allowed, f"the unit's filter refuses {sorted(calls - allowed)}")
    unsafe = [line for line in lines if re.search(r"m(map|protect)\(.*PROT_WRITE\|PROT_EXEC", line)]
    expect(not unsafe, unsafe)
    return f"{len(calls)} different ones"


def own_lines(lines):
    """The lines of the daemon, without the lines of processes that run another program later."""
    first = lines[0].split()[0]
    others = {line.split()[0] for line in lines if " execve(" in line} - {first}
    return [line for line in lines if line.split()[0] not in others]


def expanded(word):
    """The system calls of a word of SystemCallFilter=."""
    if not word.startswith("@"):
        return {word}
    found = set()
    for line in output("systemd-analyze", "syscall-filter", "--no-pager", word).splitlines()[1:]:
        if (entry := line.strip()) and not entry.startswith("#"):
            found |= expanded(entry)
    return found


if __name__ == "__main__":
    options = arguments(__doc__)
    for tool in ("systemd-analyze", "systemd-sysusers", "systemd-tmpfiles", "strace", "unshare", "setpriv"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is missing; Tests/rig/run units installs it")
    run_checks([units_are_valid, exposure_is_low, accounts_and_folders_are_made, socket_and_messages, reload_applies_grants,
                another_mount_has_no_grant, capability_shows_executables, system_calls_are_allowed], options.checks)
