#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks on the location service by users without rights, programs, containers and machines of the network: each one has to fail.

usage: boundary.py FOLDER [CHECK...], as root; FOLDER holds sextant, sextant-track and sextantd

Each check is a kind of attack with its variants, and prints a line for each that held. A check first does what an honest user does, so
that a refusal does not come from a service that refuses everything. docs/reference/security.md has the promises.
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "packages": {"iproute2": "ip"}, "needs": ["root", "namespaces"],
       "seconds": 19, "ci": True}

import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading

import daemon
import harness
from daemon import LOCATION, Daemon
from harness import Program, Simulator, copy_program, environment, expect, expect_equal, wait_until

# Numbers that no account of the machine has.
ADA, MALLORY = 61001, 61002
AUTHORIZATION, RECEIVERS = "org.sextant.Authorization", "org.sextant.Receivers"
FOLDER = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.realpath("/usr/bin/python3")
# The longest name of a program (docs/guides/service.md, Limits).
IDENTIFIER_BYTES = 128
REFUSED = (f"{LOCATION}.NotDetermined", f"{LOCATION}.Denied")
printing = threading.Lock()


def held(kind, variant):
    with printing:
        print(f"  held: {kind}: {variant}", flush=True)


@contextlib.contextmanager
def service(folder, *options, policy="", **variables):
    """A service with this policy, and without a permission for anyone."""
    os.makedirs(f"{folder}/etc/sextant", exist_ok=True)
    pathlib.Path(folder, "etc/sextant/policy").write_text(policy)
    os.chmod(folder, 0o755)
    with Simulator(folder, scenario=daemon.WALK) as receiver:
        # It has an /etc of its own.
        under = ("unshare", "--mount", "/bin/sh", "-c", 'mount --bind "$0/etc" /etc && exec "$@"', folder)
        with Daemon(folder, receiver, authorization=None, under=under, **variables) if not options else \
                DaemonWith(options, folder, receiver, under, **variables) as one:
            one.receiver = receiver
            yield one


class DaemonWith(Daemon):
    """The daemon with more options."""

    def __init__(self, more, folder, receiver, under, **variables):
        script = 'mount --bind "$0/etc" /etc && exec "$@" ' + " ".join(more)
        super().__init__(folder, receiver, authorization=None, under=(*under[:4], script, folder), **variables)


def executable(folder, name):
    """An executable of its own, which runs Python."""
    os.makedirs(f"{folder}/bin", exist_ok=True)
    path = f"{folder}/bin/{name}"
    if not os.path.exists(path):
        copy_program(PYTHON, path)
    return path


def own(folder, user):
    path = f"{folder}/of-{user}"
    os.makedirs(path, exist_ok=True)
    os.chown(path, user or 0, user or 0)
    return path


def code_of(one, text):
    """The text of a program that speaks to the service: `service` is the path of the socket, and `say` prints what it found."""
    return (f"import sys; sys.argv = ['', '.']; sys.path.insert(0, {FOLDER!r})\n"
            "import json, os, signal, socket, subprocess, time\nimport daemon\nfrom daemon import Client, CORE, LOCATION\n"
            f"service = {one.socket!r}\n"
            "def say(value): print(json.dumps(value), flush=True)\n" + text)


def start(one, path, text, user=MALLORY, under=(), **options):
    """A program with an executable, as a user."""
    return Program(*under, path, "-c", code_of(one, text), user=user, cwd="/",
                   env=environment(own(one.folder, user), PYTHONHOME="/usr", PYTHONDONTWRITEBYTECODE="1",
                                   SEXTANT_SERVICE=one.socket), **options)


def found_by(one, path, text, user=MALLORY, under=()):
    """What such a program says at its end."""
    with start(one, path, text, user, under) as program:
        program.wait_for_exit(0)
        return json.loads(program.lines[-1])


def authorize(one, *words, user=None, code=0):
    return harness.run(harness.program(), "authorize", *words, code=code, user=user, cwd="/",
                       env=environment(one.folder, SEXTANT_SERVICE=one.socket))


def listed(one, user):
    return json.loads(authorize(one, "show", "--json", user=user).output)


ASK = "with Client(service) as client: say(client.error(f'{LOCATION}.Subscribe', more=True))\n"

# The replies that a connection gets. The service may close it with the call unread, which resets it.
ANSWER = ("data = b''\ntry:\n  while b'\\0' not in data and (piece := connection.recv(4096)): data += piece\nexcept ConnectionError: pass\n"
          "say(json.loads(data.split(b'\\0')[0]).get('error', 'a location') if data else 'nothing')\n")


def expect_refused(found, what):
    expect(found in REFUSED, f"{what}: the reply is {found!r}")


def permit(one, path, user):
    """What a user does: the program asks, and one command grants."""
    expect_refused(found_by(one, path, ASK, user), "the first call")
    authorize(one, "allow", path, "always", user=user)
    expect_equal(found_by(one, path, ASK, user), None, "the error after the permission")


def status_of(one, path, name, user=MALLORY, under=()):
    """The authorization that a program of Core Location gets which states this name."""
    text = (f"client = Client(service); client.open({name!r}); other = Client(service)\n"
            "status = other.call(f'{LOCATION}.GetStatus')['parameters']['status']['programs']\n"
            "say([one['authorization'] for one in status if one.get('pid') == os.getpid()][0])\n")
    return found_by(one, path, text, user, under)


# MARK: Names

def stated_names(folder):
    """A permission belongs to an executable: a program that states another one's name does not get it."""
    with service(folder) as one:
        hike, evil = executable(folder, "hike"), executable(folder, "evil")
        permit(one, hike, MALLORY)
        expect_equal(status_of(one, hike, "hike"), "authorizedAlways", "the permission of the program itself")
        expect_equal(status_of(one, hike, "another"), "authorizedAlways", "the permission under another name")
        for variant, name in (("the name of a program", "hike"), ("its stored name", f"hike@{hike}"), ("a@b", "a@b"),
                              ("an empty name", ""), ("a path", f"../../../hike@{hike}"), ("a line feed", f"hike@{hike}\n"),
                              ("a NUL", f"hike@{hike}\0"), (f"{IDENTIFIER_BYTES} characters", "x" * IDENTIFIER_BYTES)):
            expect_equal(status_of(one, evil, name), "notDetermined", f"the permission by {variant}")
            held("stated names", variant)
        for length in IDENTIFIER_BYTES + 1, 2048, 60_000:
            text = (f"say(Client(service).error(f'{{CORE}}.Open', {{'version': 1, 'identifier': 'x' * {length}, 'application': 0,"
                    " 'showsPrompts': False, 'keys': daemon.KEYS}, upgrade=True))\n")
            expect_equal(found_by(one, evil, text), "org.varlink.service.InvalidParameter", f"the answer to {length} characters")
            held("stated names", f"{length} characters")
        stored = listed(one, MALLORY)["apps"]
        expect_equal([app["app"] for app in stored], [f"hike@{hike}"], "what is stored")
        longest = max(len(line) for line in one.errors.splitlines())
        expect(longest < 1000, f"a line of the log has {longest} characters")
        one.terminate()


def own_answers(folder):
    """A program does not answer its own question, by whatever way it takes."""
    with service(folder) as one:
        evil, agent = executable(folder, "evil"), executable(folder, "agent")
        sextant = harness.program()
        asking = ("client = Client(service); client.open('a@b')\n"
                  "client.act({'addManager': {'_0': 1}}, {'call': {'manager': 1, '_1': {'setDelegate': {'_0': 3}}}},"
                  " {'call': {'manager': 1, '_1': {'requestAlways': {}}}})\n"
                  "other = Client(service)\n"
                  f"def questions(): return other.call('{AUTHORIZATION}.List')['parameters']['questions']\n"
                  "def status(): return [one['authorization'] for one in other.call(f'{LOCATION}.GetStatus')['parameters']['status']"
                  "['programs'] if one.get('pid') == os.getpid()][0]\n"
                  "while not questions(): time.sleep(0.05)\n"
                  "question = questions()[0]\n"
                  "def run(*command): return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode\n"
                  f"sextant = {sextant!r}\n"
                  # The copy is not its executable, and answers with calls of its own: execve(2) would set its name.
                  "def answer(before): run(%r, '-c', %r + before + %r %% question['name'])\n" % (
                      agent, code_of(one, ""), f"\nClient(service).call('{AUTHORIZATION}.Set', {{'name': %r, 'status': 'authorizedAlways'}})\n"))
        variants = {
            "its own message": "client.act({'answer': {'_0': {'always': {}}, 'to': {'request': {'always': {}}, 'text': question['text'],"
                               " 'isUpgrade': False}}})\n",
            "its own calls": f"for call in ('Answer', {{'id': question['id'], 'answer': 'always'}}), ('Set', {{'name': question['name'],"
                             f" 'status': 'authorizedAlways'}}): other.call('{AUTHORIZATION}.' + call[0], call[1])\n",
            "a child": "assert run(sextant, 'authorize', 'allow', question['name']) == 77\n",
            "a child, after its own end of the question": "client.socket.close()\nwhile questions(): time.sleep(0.05)\n"
                                                         "run(sextant, 'authorize', 'grant', question['name'], 'always')\n"
                                                         "client = Client(service); client.open('a@b')\n",
            "a child that it lost": "if os.fork() == 0:\n  if os.fork() == 0:\n    os.setsid(); time.sleep(0.3); code = run(sextant, 'authorize', 'allow', question['name']);"
                                    " open(os.environ['SEXTANT_STATE_DIR'] + '.lost', 'w').write(str(code))\n    os._exit(0)\n  os._exit(0)\n"
                                    "os.wait()\nwhile not os.path.exists(os.environ['SEXTANT_STATE_DIR'] + '.lost'): time.sleep(0.05)\n"
                                    "time.sleep(0.2)\nos.unlink(os.environ['SEXTANT_STATE_DIR'] + '.lost')\n",
            "a copy of its executable that states other parents by its name":
                "answer('import ctypes; ctypes.CDLL(None).prctl(15, b\")R 1 1 1 1 1 \\\\xd8\\\\x80\", 0, 0, 0)')\n",
            "a copy of its executable, after more generations than are read":
                "answer('for n in range(80):\\n  if os.fork(): os.wait(); os._exit(0)')\n",
            "a user namespace": "run('unshare', '--user', '--map-root-user', sextant, 'authorize', 'allow', question['name'])\n",
            "a user and a mount namespace": "run('unshare', '--user', '--map-root-user', '--mount', sextant, 'authorize', 'allow', question['name'])\n",
        }
        terminal = "import pty\npid, end = pty.fork()\nif pid:\n  data = b''\n  try:\n    while True:\n      piece = os.read(end, 4096)\n" \
                   "      if not piece: break\n      data += piece\n      if b'?' in piece or b':' in piece: os.write(end, b'a\\n')\n  except OSError: pass\n" \
                   "  os.waitpid(pid, 0)\n  say(data.decode().strip().splitlines()[-1])\n  sys.exit()\n"
        for variant, text in variants.items():
            found = found_by(one, evil, asking + text + "time.sleep(0.2); say(status())\n")
            expect_equal(found, "notDetermined", f"the permission by {variant}")
            held("own answers", variant)
        # A terminal that it has made, in whose foreground it is; its question, and the answer that it types.
        with start(one, evil, terminal + asking + variants["its own message"] + "time.sleep(0.5); print(status())\n") as typed:
            typed.wait_for_exit(0)
            expect("notDetermined" in typed.output, f"a terminal of its own gives it {typed.output!r}")
            held("own answers", "a terminal of its own")
        # The user does.
        with start(one, evil, asking + "while status() == 'notDetermined': time.sleep(0.05)\nsay(status())\n") as asked:
            wait_until(lambda: listed(one, MALLORY)["questions"], "the question is not listed")
            authorize(one, "allow", "evil", user=MALLORY)
            asked.wait_for_exit(0)
            expect_equal(json.loads(asked.lines[-1]), "authorizedAlways", "the permission by the user's answer")
        one.terminate()


def unknown_executables(folder):
    """A program whose executable is not known has no stored permission, under any name."""
    with service(folder) as one:
        hike = executable(folder, "hike")
        permit(one, hike, MALLORY)
        gone = executable(folder, "gone")
        deleted = "os.unlink(sys.executable)\n" + ASK
        os.chown(f"{folder}/bin", MALLORY, MALLORY)
        variants = {
            "a user namespace": (hike, ASK, ("unshare", "--user", "--map-root-user")),
            "a user and a mount namespace": (hike, ASK, ("unshare", "--user", "--map-root-user", "--mount")),
            "a deleted executable": (gone, deleted.replace("sys.executable", repr(gone)), ()),
        }
        for variant, (path, text, under) in variants.items():
            expect_refused(found_by(one, path, text, under=under), variant)
            held("unknown executables", variant)
        for name in ("hike", "hike@", f"hike@{hike}"):
            found = status_of(one, hike, name, under=("unshare", "--user", "--map-root-user"))
            expect_equal(found, "denied", f"the permission of {name} in a user namespace")
        held("unknown executables", "a stated name in a user namespace")
        # A program in C or Java has such a connection without any intent: the reply, the program's log and the service's log say why.
        open_at_exec = "client = Client(service); client.socket.set_inheritable(True); "
        for variant, text in (("org.sextant.Location", f"say(client.call('{LOCATION}.Subscribe', more=True))\n"),
                              ("org.sextant.CoreLocation", "client.open('hike'); say(client.receive())\n")):
            expect("SOCK_CLOEXEC" in json.dumps(found_by(one, hike, open_at_exec + text)), f"{variant} does not say what helps")
            held("unknown executables", f"a connection without SOCK_CLOEXEC, {variant}")
        one.wait_for_message("SOCK_CLOEXEC")
        with one.client() as root:
            for name in ("hike@", "@", "process-1@", "hike"):
                expect_equal(root.error(f"{AUTHORIZATION}.Set", {"name": name, "status": "authorizedAlways", "user": MALLORY}),
                             f"{AUTHORIZATION}.NoSuchProgram", f"the answer to a permission for {name}")
        held("unknown executables", "a permission for a name without an executable")
        expect("grant" in one.errors or "outside the sandbox" in one.errors, f"no line says what helps: {one.errors[-500:]}")
        one.terminate()


# MARK: Grants

def granted_executables(folder):
    """The grant of an executable is for the file at that path of the host."""
    hike, evil = executable(folder, "hike"), executable(folder, "evil")
    with service(folder, policy=f"grant {hike} always\n") as one:
        expect_equal(found_by(one, hike, ASK), None, "the error of the program with the grant")
        expect_refused(found_by(one, evil, ASK), "another program")
        for variant, outer, user in (
                ("a file mounted at its path, in a user namespace", ("unshare", "--user", "--map-root-user", "--mount"), MALLORY),
                ("a file mounted at its path, in a mount namespace", ("unshare", "--mount"), None)):
            drop = f"exec setpriv --reuid={MALLORY} --regid={MALLORY} --clear-groups " if user is None else "exec "
            script = f"mount --bind {evil} {hike} && {drop}{hike} \"$@\""
            with Program(*outer, "/bin/sh", "-c", script, "sh", "-c", code_of(one, ASK), user=user, cwd="/",
                         env=environment(own(folder, MALLORY), PYTHONHOME="/usr")) as program:
                program.wait_for_exit(0)
                expect_refused(json.loads(program.lines[-1]), variant)
            held("granted executables", variant)
        # The program that connects executes the one with the grant before the service looks; another process has a copy.
        # The other one reads after that: recv(2) fails at a socket that is not connected yet.
        replaced = ("connection = socket.socket(socket.AF_UNIX); called, calls = os.pipe()\n%s\n"
                    "if os.fork() == 0:\n  connection.connect(service)\n"
                    "  connection.sendall(json.dumps({'method': f'{LOCATION}.Subscribe', 'more': True}).encode() + b'\\0')\n  os.write(calls, b'.')\n"
                    f"  os.execv({hike!r}, [{hike!r}, '-c', %r])\n"
                    "os.read(called, 1)\nconnection.settimeout(120)\nprint('ready', flush=True)\n" + ANSWER)
        stay = "import time; time.sleep(600)"
        for variant, text in (("execve between connection and look-up", replaced % ("", stay)),
                              ("the same, and the descriptor stays open", replaced % ("os.set_inheritable(connection.fileno(), True)", stay)),
                              ("the same, and no descriptor stays open", replaced % ("[os.set_inheritable(n, False) for n in range(3)]", stay))):
            os.kill(one.process.pid, signal.SIGSTOP)
            try:
                with start(one, evil, text) as program:
                    program.wait_for_line("ready")
                    wait_until(lambda: children_executing(program.process.pid, hike), "the child does not execute")
                    os.kill(one.process.pid, signal.SIGCONT)
                    program.wait_for_line('^"')
                    found = json.loads(program.lines[-1])
                    # The child has the program's output.
                    end_of(hike)
                    program.wait_for_exit(0)
                    expect(found == "nothing" or found in REFUSED, f"{variant}: {found}")
            finally:
                os.kill(one.process.pid, signal.SIGCONT)
                end_of(hike)
            held("granted executables", variant)
        reused_number(one, hike, evil)
        one.terminate()


def children_executing(process, path):
    for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split():
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{child}/exe") == path:
                return int(child)
    return None


def end_of(path):
    """Ends the processes of the rig that execute a file of its own folder."""
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.readlink(f"/proc/{name}/exe") == path:
                os.kill(int(name), signal.SIGKILL)


def reused_number(one, hike, evil):
    """The process that has connected ends, and a program with the grant has its number when the service looks."""
    text = ("connection = socket.socket(socket.AF_UNIX)\n"
            "child = os.fork()\nif child == 0:\n  connection.connect(service)\n"
            "  connection.sendall(json.dumps({'method': f'{LOCATION}.Subscribe', 'more': True}).encode() + b'\\0')\n  os._exit(0)\n"
            "os.waitpid(child, 0)\nprint('ended', child, flush=True)\nconnection.settimeout(120)\n" + ANSWER)
    last = pathlib.Path("/proc/sys/kernel/ns_last_pid")
    os.kill(one.process.pid, signal.SIGSTOP)
    try:
        with start(one, evil, text) as program:
            number = int(program.wait_for_line(r"ended (\d+)")[1])

            def taken():
                last.write_text(str(number - 1))
                child = subprocess.Popen([hike, "-c", "import time; time.sleep(600)"], env={"PYTHONHOME": "/usr"})
                if child.pid == number:
                    return child
                child.kill()
                child.wait()
                return None
            try:
                honest = wait_until(taken, "the number is not used again", 20)
            except (OSError, harness.Failure):
                # Another process of the machine has it, or the kernel sets no number.
                print("  not played: granted executables: the number of the process is used again", flush=True)
                return
            wait_until(lambda: os.readlink(f"/proc/{number}/exe") == hike, "the other program does not run")
            os.kill(one.process.pid, signal.SIGCONT)
            program.wait_for_exit(0)
            honest.kill()
            honest.wait()
            found = json.loads(program.lines[-1])
            expect(found == "nothing" or found in REFUSED, f"a number that is used again: {found}")
    finally:
        os.kill(one.process.pid, signal.SIGCONT)
    held("granted executables", "the number of the process is used again")


def control_groups():
    """The folder of the control groups of the second version; None if they cannot be made."""
    groups = next((path for path in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if os.path.exists(f"{path}/cgroup.procs")), None)
    return groups if groups and os.access(groups, os.W_OK) else None


NO_GROUPS = "not played: no control groups of the second version"


def own_groups(folder):
    """A program does not answer its own question from a control group that it has made below its user's service manager."""
    groups = control_groups()
    if groups is None:
        return NO_GROUPS
    evil, agent = executable(folder, "evil"), executable(folder, "agent")
    users = pathlib.Path(groups, f"boundary{os.getpid()}.slice/user@{MALLORY}.service")
    start_group = users / "init.scope"
    start_group.mkdir(parents=True)
    # What the system's service manager delegates to the user's.
    for path in users, users / "cgroup.procs", start_group, start_group / "cgroup.procs":
        os.chown(path, MALLORY, MALLORY)
    join = ("/bin/sh", "-c", f"echo $$ > {start_group}/cgroup.procs && exec setpriv --reuid={MALLORY} --regid={MALLORY} --clear-groups \"$@\"", "sh")
    try:
        with service(folder) as one:
            answers = f"[{harness.program()!r}, 'authorize', 'allow', sys.stdin.readline().strip(), 'always']"
            text = ("sys.stdin = open(0)\nprint('ready', flush=True)\nsay(subprocess.run(" + answers + ", stdin=subprocess.DEVNULL).returncode)\n")
            with start(one, agent, text, None, join, stdin=subprocess.PIPE) as older:
                older.wait_for_line("ready")
                lost_code = own(folder, MALLORY) + "/lost"
                # The orphan executes a shell: a caller with an ancestor of the same executable is refused anyway.
                answer = f"{harness.program()} authorize allow evil always; echo $? > {lost_code}.new; mv {lost_code}.new {lost_code}"
                lost = (f"if os.fork() == 0:\n  if os.fork() == 0:\n    time.sleep(0.3)\n    %s\n    os.execv('/bin/sh', ['sh', '-c', {answer!r}])\n"
                        f"  os._exit(0)\nos.wait()\nwhile not os.path.exists({lost_code!r}): time.sleep(0.05)\n"
                        f"code = open({lost_code!r}).read().strip(); os.unlink({lost_code!r}); say(code)\n")
                for variant, move in (("its own group", "pass"),
                                      ("a group that it makes", f"os.mkdir('{users}/mine.scope'); open('{users}/mine.scope/cgroup.procs', 'w').write(str(os.getpid()))")):
                    expect_equal(found_by(one, evil, ASK.replace("say(", "(") + lost % move, None, join), "77", f"the exit code in {variant}")
                    expect_refused(found_by(one, evil, ASK, None, join), f"after its answer in {variant}")
                    held("own groups", variant)
                # What an honest user has open before the program starts.
                older.process.stdin.write(b"evil\n")
                older.process.stdin.close()
                older.wait_for_exit(0)
                expect_equal(older.lines[-1], "0", "the exit code of an older terminal")
            expect_equal(found_by(one, evil, ASK, None, join), None, "the error after the user's answer")
            one.terminate()
    finally:
        for path in (users / "mine.scope", start_group, users, users.parent):
            with contextlib.suppress(OSError):
                path.rmdir()


def granted_units(folder):
    """The grant of a unit is for the group that the service manager of the host has made."""
    groups = control_groups()
    if groups is None:
        return NO_GROUPS
    evil = executable(folder, "evil")
    mark = f"boundary{os.getpid()}"
    with service(folder, policy=f"grant {mark}.service always\n") as one:
        def asking_in(group):
            """What a program gets in a control group."""
            path = pathlib.Path(groups, group)
            path.mkdir(parents=True, exist_ok=True)
            try:
                join = f"echo $$ > {path}/cgroup.procs && exec setpriv --reuid={MALLORY} --regid={MALLORY} --clear-groups {evil} \"$@\""
                with Program("/bin/sh", "-c", join, "sh", "-c", code_of(one, ASK), cwd="/",
                             env=environment(own(folder, MALLORY), PYTHONHOME="/usr")) as program:
                    program.wait_for_exit(0)
                    return json.loads(program.lines[-1])
            finally:
                while str(path) != groups:
                    with contextlib.suppress(OSError):
                        path.rmdir()
                    path = path.parent
        expect_equal(asking_in(f"{mark}.slice/{mark}.service"), None, "the error in the group of the unit")
        for variant, group in (("a container's", f"lxc.payload.{mark}/system.slice/{mark}.service"),
                               ("a container's of another kind", f"docker{mark}/0123/{mark}.service"),
                               ("a group without a slice", f"{mark}.service"),
                               ("a user's manager", f"{mark}.slice/user@{MALLORY}.service/app.slice/{mark}.service"),
                               ("a slice of a user whose name begins with a combining mark",
                                f"{mark}.slice/user@{MALLORY}.service/\u0301x.slice/{mark}.service"),
                               ("a slice of a user with a name after U+0600",
                                f"{mark}.slice/user@{MALLORY}.service\u0600/x.slice/{mark}.service"),
                               ("a session's", f"{mark}.slice/session-1.scope/{mark}.service")):
            expect_refused(asking_in(group), variant)
            held("granted units", variant)
        one.terminate()


def restricted_programs(folder):
    """A restriction is for the executable, whatever the program states."""
    hike, other = executable(folder, "hike"), executable(folder, "other")
    for line in (f"restrict {hike}", "restrict hike", f"restrict anything@{hike}"):
        place = f"{folder}/{len(line)}"
        os.makedirs(place)
        with service(place, policy=line + "\n") as one:
            for name in ("hike", "org.example.another", "a@b", ""):
                expect_equal(status_of(one, hike, name), "restricted", f"the permission of {name!r} by `{line}`")
            expect_refused(found_by(one, hike, ASK), "a program of org.sextant.Location")
            expect_equal(status_of(one, other, "other"), "notDetermined", "the permission of another program")
            one.terminate()
        held("restrictions", line.replace(folder, "…") + ", under four names")


def equal_names(folder):
    """Two files whose names are equal as text, but not as bytes, are two programs."""
    os.makedirs(f"{folder}/bin/x\u0600")
    composed, decomposed, spy = executable(folder, "caf\u00e9"), executable(folder, "cafe\u0301"), executable(folder, "x\u0600/spy")
    with service(folder, policy=f"grant {composed} always\nrestrict spy\n") as one:
        expect_equal(found_by(one, composed, ASK), None, "the error of the program with the grant")
        expect_refused(found_by(one, decomposed, ASK), "the program with an equal name")
        expect_equal(status_of(one, decomposed, "cafe"), "notDetermined", "its permission")
        held("equal names", "a grant")
        expect_equal(status_of(one, spy, "another"), "restricted", "the permission of a restricted name")
        held("equal names", "a restricted name in a folder whose name ends with U+0600")
        permit(one, decomposed, MALLORY)
        expect_equal([app["app"] for app in listed(one, MALLORY)["apps"] if app["status"] == "authorizedAlways"],
                     [f"cafe\u0301@{decomposed}"], "what is stored")
        one.terminate()
    with service(folder) as one:
        expect_equal(found_by(one, decomposed, ASK), None, "the error with the stored permission")
        expect_refused(found_by(one, composed, ASK), "the program with an equal name")
        held("equal names", "a stored permission")
        one.terminate()


# MARK: State

def full_disk(folder):
    """A permission that cannot be stored is not given, and the command says so."""
    state = f"{folder}/state"
    os.makedirs(state)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs", state], check=True)
    try:
        with service(folder) as one:
            hike = executable(folder, "hike")
            asking = ("client = Client(service); client.open('hike')\n"
                      "client.act({'addManager': {'_0': 1}}, {'call': {'manager': 1, '_1': {'setDelegate': {'_0': 3}}}},"
                      " {'call': {'manager': 1, '_1': {'requestAlways': {}}}})\nprint('asks', flush=True)\nsys.stdin.read()\n")
            with start(one, hike, asking, stdin=subprocess.PIPE) as program:
                program.wait_for_line("asks")
                wait_until(lambda: listed(one, MALLORY)["questions"], "the question is not listed")
                with contextlib.suppress(OSError), open(f"{state}/filling", "wb") as filling:
                    while True:
                        filling.write(b"x" * 4096)
                        filling.flush()
                for words in (["allow", "hike"], ["grant", "hike", "always"], ["deny", "hike"]):
                    authorize(one, *words, user=MALLORY, code=73)
                    expect_equal([found["authorization"] for found in one.programs()], ["notDetermined"], f"the permission after {words}")
                    held("a full disk", f"`authorize {' '.join(words)}` fails, and gives nothing")
                os.unlink(f"{state}/filling")
                authorize(one, "allow", "hike", user=MALLORY)
                wait_until(lambda: one.programs()[0]["authorization"] == "authorizedAlways", "the answer with space does not count")
                program.process.stdin.close()
                program.wait_for_exit(0)
            one.terminate()
    finally:
        subprocess.run(["umount", "-l", state], check=True)


def stored_permissions(folder):
    """A damaged permission, and one of an older version for a stated name, is not used, and a line says so."""
    hike, evil = executable(folder, "hike"), executable(folder, "evil")
    with service(folder) as one:
        permit(one, hike, MALLORY)
        expect_refused(found_by(one, evil, ASK), "another program")
        authorize(one, "deny", "evil", user=MALLORY)
        one.terminate()
    apps = pathlib.Path(folder, f"state/users/{MALLORY}/apps")
    denied = next(path for path in apps.iterdir() if path.name.startswith("evil")) / "authorization"
    text = denied.read_bytes()
    variants = {"denied becomes always": text.replace(b"\n2\t", b"\n3\t"),
                "the permission of another program": next(
                    path for path in apps.iterdir() if path.name.startswith("hike")).joinpath("authorization").read_bytes(),
                "a line before": text.replace(b"\n2\t", b"\n3\t0\tno\n2\t"),
                "the end is cut": text[:text.rindex(b"#end")]}
    for variant, changed in variants.items():
        expect(changed != text, f"{variant} changes nothing")
        denied.write_bytes(changed)
        with service(folder) as one:
            expect_refused(found_by(one, evil, ASK), variant)
            expect(str(denied) in one.errors, f"{variant} is not reported: {one.errors[-500:]}")
            one.terminate()
        held("damaged state", variant)
    old = {"no executable": "evil@", "two executables": f"a@{hike}@{evil}", "a path": f"x/y@{evil}"}
    shutil.rmtree(apps)
    for name in old.values():
        path = apps / name.replace("@", "%40").replace("/", "%2F")
        path.mkdir(parents=True)
        path.joinpath("authorization").write_text("sextant authorization 1\n3\t0\tno\n")
    kept = apps / f"org.example.hike@{hike}".replace("@", "%40").replace("/", "%2F")
    kept.mkdir()
    kept.joinpath("authorization").write_text("sextant authorization 1\n3\t0\tno\n")
    with service(folder) as one:
        expect_refused(found_by(one, evil, ASK), "a permission of an older version")
        for variant in old:
            held("state of an older version", variant)
        expect("grant it again" in one.errors, f"no line says how to grant: {one.errors[-500:]}")
        expect_equal(found_by(one, hike, ASK), None, "the error with the permission of an older version for one executable")
        one.terminate()


def impossible_values(folder):
    """Values that could not be read back are not stored."""
    hike = executable(folder, "hike")
    with service(folder) as one:
        permit(one, hike, MALLORY)
        for variant, (latitude, longitude, radius) in {
                "a longitude of 1e12": (48.0, 1e12, 100), "a latitude of -1e300": (-1e300, 11.0, 100), "a radius of 1e308": (48.0, 11.0, 1e308)}.items():
            text = ("client = Client(service); client.open('hike')\n"
                    "client.act({'addManager': {'_0': 1}}, {'call': {'manager': 1, '_1': {'setDelegate': {'_0': 3}}}},"
                    f" daemon.called('startMonitoring', _0=daemon.circle({latitude!r}, {longitude!r}, {radius!r})),"
                    f" {{'openMonitor': {{'_0': 'm'}}}}, daemon.called('requestLocation'))\n"
                    "time.sleep(0.3); say(Client(service).error(f'{LOCATION}.GetStatus'))\n")
            expect_equal(found_by(one, hike, text), None, f"the status after {variant}")
        one.terminate()
    with service(folder) as one:
        expect_equal(found_by(one, hike, ASK), None, "the error after the restart")
        expect("cannot be read" not in one.errors, f"the service cannot read its state: {one.errors}")
        one.terminate()
    held("impossible values", "longitude, latitude, radius")


def extreme_numbers(folder):
    """No number from outside ends the service, which then says what it does with it."""
    port, hike = free_port(), executable(folder, "hike")
    with service(folder, f"--gpsd 127.0.0.1:{port}", policy="gpsd = on\n") as one:
        permit(one, hike, MALLORY)
        for request in ('?WATCH={"enable":true,"json":true,"sextant":{"accuracy":1e300}};', '?WATCH={"enable":true,"sextant":{"accuracy":-1e300}};',
                        '?WATCH={"enable":true,"sextant":{"accuracy":10,"interval":1e19}};',
                        '?DEVICE={"cycle":1e300};?DEVICE={"cycle":-0.0,"bps":99999999999999999999};'):
            with socket.create_connection(("127.0.0.1", port), harness.LIMIT) as client:
                client.settimeout(harness.LIMIT)
                client.sendall(request.encode() + b"?VERSION;")
                replies = b""
                while replies.count(b'"VERSION"') < 2:
                    data = client.recv(65536)
                    expect(data, f"the connection ends after {request}: {replies}")
                    replies += data
                one.status()
            held("extreme numbers", f"gpsd: {request}")
        for name, number in (("desiredAccuracy", 2.0**63), ("desiredAccuracy", -1e300), ("distanceFilter", 1e308)):
            text = f"with Client(service) as client: say(client.error(f'{{LOCATION}}.Subscribe', {{{name!r}: {number!r}}}, more=True))\n"
            expect_equal(found_by(one, hike, text), "org.varlink.service.InvalidParameter", f"the answer to {name} = {number}")
            held("extreme numbers", f"org.sextant.Location: {name} = {number}")
        for call in ("daemon.called('setDesiredAccuracy', metres=2.0**63)", "daemon.called('setDistanceFilter', metres=1e308)",
                     "daemon.called('allowDeferredUpdates', metres=1.7e18, seconds=1e300)"):
            text = ("client = Client(service); client.open('hike')\n"
                    "client.act({'addManager': {'_0': 1}}, {'call': {'manager': 1, '_1': {'setDelegate': {'_0': 3}}}},"
                    f" {call}, daemon.called('startUpdatingLocation'))\n"
                    "client.receive(); say(Client(service).error(f'{LOCATION}.GetStatus'))\n")
            expect_equal(found_by(one, hike, text), None, f"the status after {call}")
            held("extreme numbers", f"Core Location: {call.removeprefix('daemon.called')}")
        one.terminate()


def connections(path):
    """The number of connections at a socket that its server has not closed: /proc/net/unix, state 03."""
    with open("/proc/net/unix") as file:
        return sum(fields[5] == "03" and fields[-1] == path for fields in map(str.split, file))


def no_descriptors(folder):
    """A service that the system refuses a descriptor accepts programs again once it has one, without the end of a connection."""
    with service(folder) as one:
        before = resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE)
        for variant, waiting in {"one program waits": 1, "twenty programs wait": 20, "without another connection": 0}.items():
            # A connection that the service has not closed yet would give its descriptor to the next one.
            wait_until(lambda: connections(one.socket) == 0, lambda: f"{connections(one.socket)} connections are not closed")
            used = {int(name) for name in os.listdir(f"/proc/{one.process.pid}/fd")}
            free = next(number for number in itertools.count() if number not in used)
            resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE, (free, before[1]))
            clients = [one.client() for _ in range(waiting + 1)]
            one.wait_for_message("a program cannot be served: .*LimitNOFILE")
            for client in clients[waiting:]:
                client.socket.close()
            resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE, before)
            for client in clients[:waiting]:
                expect_equal(client.error(f"{LOCATION}.GetStatus"), None, f"{variant}: the answer to a program that has waited")
                client.socket.close()
            one.status()
            held("no descriptors", variant)
        one.terminate()


# MARK: Lines of receivers

def leases(folder):
    """A connection has one line, and its end gives it back whatever the program keeps."""
    with service(folder) as one:
        def is_served():
            return one.status()["receivers"][0]["state"] not in ("lent", "ending", "returning")

        def lease(client):
            reply, descriptors = client_with_descriptor(client)
            expect("error" not in reply, f"Lease is refused: {reply}")
            return descriptors[0]
        with one.client() as client:
            os.close(lease(client))
            expect_equal(client.error(f"{RECEIVERS}.Lease"), f"{RECEIVERS}.Lent", "the answer to a second lease")
        wait_until(is_served, lambda: f"the line is lent without an end: {one.status()['receivers']}")
        held("leases", "two on one connection")
        with one.client() as client:
            for _ in range(3):
                client.send({"method": f"{RECEIVERS}.Lease"})
            os.close(lease_reply(client)[1][0])
        wait_until(is_served, lambda: f"the line is lent without an end: {one.status()['receivers']}")
        held("leases", "three calls at once")
        # A program keeps the descriptor: the lock is not the descriptor's any more, and the program is named.
        client = one.client()
        kept = lease(client)

        def is_free():
            with open(one.receiver.link, "rb", buffering=0) as another:
                try:
                    fcntl.flock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                except OSError:
                    return False
        expect(not is_free(), "the lent line is not locked")
        client.socket.close()
        wait_until(is_free, "a kept descriptor holds the lock")
        held("leases", "the lock of a kept descriptor")
        one.wait_for_message(rf"pid {os.getpid()}\b")
        held("leases", "the program that keeps a descriptor is named")
        os.close(kept)
        wait_until(is_served, lambda: f"the line does not return: {one.status()['receivers']}")
        one.terminate()


# A user of the control socket. It adds a link to its own pseudo-terminal, and lets the link lead to devices and files of others.
ADDER = """
import array, os, pty, select, socket, tty
control, port, link, home = {control!r}, {port}, {link!r}, {home!r}
master, slave = os.openpty()
tty.setraw(slave)
mine = os.ttyname(slave)
def to(target):
    if os.path.lexists(link): os.unlink(link)
    os.symlink(target, link)
def command(text):
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(120)
        plain.connect(control)
        plain.sendall(text.encode() + b'\\n')
        return plain.recv(4096).decode().strip()
def lease(device, target):
    to(mine)
    with Client(service) as client:
        client.send({{'method': 'org.sextant.Receivers.Lease', 'parameters': {{'device': device}}}})
        to(target)
        _, descriptors, _, _ = socket.recv_fds(client.socket, 65536, 4)
        found = [os.readlink(f'/proc/self/fd/{{one}}') for one in descriptors]
        for one in descriptors: os.close(one)
        return found
"""


def added_devices(folder):
    """A device that is added through gpsd's control socket stays the one whose permission was checked, whatever its name leads to."""
    port, foreign = free_port(), os.openpty()
    secret = os.ttyname(foreign[1])
    os.chmod(secret, 0o600)
    try:
        with service(folder, f"--gpsd 127.0.0.1:{port} --gpsd-control {folder}/control") as one:
            # As for a member of the receivers' group.
            os.chmod(f"{folder}/control", 0o666)
            home = own(folder, MALLORY)
            file = f"{folder}/secret"
            pathlib.Path(file).write_text("secret")
            os.chmod(file, 0o600)
            text = ADDER.format(control=f"{folder}/control", port=port, link=f"{home}/receiver", home=home)
            refusals = ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/ptmx", secret, file, folder]
            text += (f"refused = []\nfor target in {refusals!r}:\n    refused += [command('+' + target)]\n"
                     "    to(target); refused += [command('+' + link)]\n"
                     f"to(mine); added = command('+' + link); to({secret!r})\n"
                     "say([mine, added, refused])\n"
                     "client = socket.create_connection(('127.0.0.1', port), 120)\n"
                     "client.sendall(b'?WATCH={\"enable\":true,\"json\":true,\"raw\":2};')\n"
                     "sys.stdin.readline()\n"
                     f"say([found for target in ({secret!r}, {file!r}) for _ in range(5) for name in (link, mine) for found in lease(name, target)])\n"
                     "sys.stdin.read()\n")
            with start(one, PYTHON, text, stdin=subprocess.PIPE) as mallory:
                mine, added, refused = json.loads(mallory.wait_for_line(r'^\["/dev/pts.*$')[0])
                expect_equal(added, "OK", "the reply to an own device")
                expect(all(reply.startswith("ERROR") for reply in refused), f"a device of others is added: {refused}")
                held("added devices", "devices and files that are not serial lines, or of others")
                wait_until(lambda: one.has_open(mine) or one.has_open(secret), "the added device is not opened")
                expect(not one.has_open(secret), "the device of another user is opened")
                held("added devices", "a link that leads elsewhere before the opening")
                mallory.process.stdin.write(b"\n")
                mallory.process.stdin.flush()
                lent = json.loads(mallory.wait_for_line(r'^\[("/.*)?\]$')[0])
                expect(mine in lent, f"the own device is not lent: {lent}")
                expect_equal(set(lent), {mine}, "the lent devices")
                held("added devices", f"a link that leads elsewhere during a lease, {len(lent)} times")
                mallory.kill()
            one.terminate()
    finally:
        for descriptor in foreign:
            os.close(descriptor)


def removed_devices(folder):
    """A device that is removed through the control socket frees its place, also while a client watches it."""
    port = free_port()
    with service(folder, f"--gpsd 127.0.0.1:{port} --gpsd-control {folder}/control") as one:
        os.chmod(f"{folder}/control", 0o666)
        home = own(folder, MALLORY)
        text = ADDER.format(control=f"{folder}/control", port=port, link=f"{home}/receiver", home=home)
        text += ("watching = socket.create_connection(('127.0.0.1', port), 120)\n"
                 "watching.sendall(b'?WATCH={\"enable\":true,\"json\":true,\"raw\":2};')\n"
                 "pairs = [os.openpty() for _ in range(20)]; answers = []; deadline = time.monotonic() + 60\n"
                 "client = Client(service)\n"
                 "for _, one in pairs:\n"
                 "    tty.setraw(one); name = os.ttyname(one); answers += [command('+' + name)]\n"
                 "    while time.monotonic() < deadline and name not in command('?devices'): time.sleep(0.01)\n"
                 "    if len(answers) == 1: client.send({'method': f'{LOCATION}.Stream', 'more': True, 'parameters': {'device': name}})\n"
                 "    if len(answers) == 1: client.receive()\n"
                 "    answers += [command('-' + name)]\n"
                 "    while time.monotonic() < deadline and name in json.dumps(Client(service).call(f'{LOCATION}.GetReceivers')): time.sleep(0.01)\n"
                 "say(answers)\n"
                 "end = {}\nwhile 'error' not in end: end = client.receive()\n"
                 "say(end['error'])\nsys.stdin.read()\n")
        with start(one, PYTHON, text, stdin=subprocess.PIPE) as mallory:
            answers = json.loads(mallory.wait_for_line(r'^\["(OK|ERROR).*$')[0])
            expect_equal(answers, ["OK"] * 40, "the replies to twenty devices that are added and removed")
            receivers = one.status()["receivers"]
            expect_equal(len(receivers), 1, f"the number of receivers, of {receivers}")
            held("removed devices", "twenty, one after the other")
            # The next receiver in its place may be one that the user may not read.
            expect_equal(json.loads(mallory.wait_for_line(r'^"(.*)"$')[0]), f"{LOCATION}.NoReceiver", "the end of a stream")
            held("removed devices", "the stream of one ends")
            mallory.kill()
        one.terminate()


def client_with_descriptor(client):
    client.send({"method": f"{RECEIVERS}.Lease"})
    return lease_reply(client)


def lease_reply(client):
    data, descriptors, _, _ = socket.recv_fds(client.socket, 65536, 4)
    while b"\0" not in data:
        more, found, _, _ = socket.recv_fds(client.socket, 65536, 4)
        data, descriptors = data + more, descriptors + found
    message, client.rest = data.split(b"\0", 1)
    return json.loads(message), descriptors


# MARK: Other users

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def gpsd_clients(folder):
    """A client of gpsd has the rights of a user of this machine only if the whole pair of addresses is that user's."""
    port = free_port()
    with service(folder, f"--gpsd 127.0.0.1:{port} --gpsd '[::1]:{port}'", policy="gpsd = on\n") as one:
        os.chown(os.path.realpath(one.receiver.link), ADA, ADA)

        def as_user(user, source, target, family=socket.AF_INET):
            """The reply to a change, of a client of this user."""
            text = (f"client = socket.socket({int(family)}); client.settimeout(120); client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
                    f"client.bind({source!r}); client.connect({target!r}); file = client.makefile('rw')\n"
                    "file.readline(); print(client.getsockname()[1], flush=True)\n"
                    "file.write('?DEVICES;\\n'); file.flush(); devices = json.loads(file.readline())['devices']\n"
                    "file.write('?DEVICE=' + json.dumps({'path': devices[0]['path'], 'hexdata': 'b5620a0400000e34'}) + ';\\n'); file.flush()\n"
                    "reply = json.loads(file.readline()); say(reply.get('message', reply['class']))\nsys.stdin.read()\n")
            return start(one, PYTHON, text, user=user, stdin=subprocess.PIPE)
        with as_user(ADA, ("127.0.0.1", 0), ("127.0.0.1", port)) as ada:
            honest = json.loads(ada.wait_for_line(r'^"(.*)"$')[0])
            expect("only users who may open" not in honest, f"the user who may open the receiver is refused: {honest}")
            number = int(ada.lines[0])
            for variant, user, source, target, family in (
                    ("127.0.0.2 with the same port", MALLORY, ("127.0.0.2", number), ("127.0.0.1", port), socket.AF_INET),
                    ("127.1.2.3 with the same port", MALLORY, ("127.1.2.3", number), ("127.0.0.1", port), socket.AF_INET),
                    ("::1 with the same port", MALLORY, ("::1", number), ("::1", port), socket.AF_INET6),
                    ("another user", MALLORY, ("127.0.0.1", 0), ("127.0.0.1", port), socket.AF_INET)):
                with as_user(user, source, target, family) as mallory:
                    reply = json.loads(mallory.wait_for_line(r'^"(.*)"$')[0])
                    expect("only users who may open" in reply, f"{variant}: {reply}")
                    mallory.kill()
                held("clients of gpsd", variant)
            ada.kill()
        one.terminate()
    another_machine(folder)


def another_machine(folder):
    """A network namespace is another machine: root there is not root here, and its ports do not belong to this machine's users."""
    mark = str(os.getpid())
    name, here = f"boundary-{mark}", f"bh{mark}"[:15]
    made = subprocess.run(f"ip netns add {name} && ip link add {here} type veth peer name there netns {name} && "
                          f"ip addr add 10.211.55.1/30 dev {here} && ip link set {here} up && "
                          f"ip -n {name} addr add 10.211.55.2/30 dev there && ip -n {name} link set there up",
                          shell=True, capture_output=True, text=True)
    try:
        if made.returncode:
            return held("clients of gpsd", f"another machine: not played, {made.stderr.strip()}")
        port = free_port()
        place = f"{folder}/machine"
        os.makedirs(place)
        with service(place, f"--gpsd 10.211.55.1:{port}", policy="gpsd = on\n") as one:
            text = (f"client = socket.create_connection(('10.211.55.1', {port}), 120); file = client.makefile('rw'); file.readline()\n"
                    "file.write('?DEVICES;\\n'); file.flush(); devices = json.loads(file.readline())['devices']\n"
                    "file.write('?DEVICE=' + json.dumps({'path': devices[0]['path'], 'hexdata': 'b5620a0400000e34'}) + ';\\n'); file.flush()\n"
                    "say(json.loads(file.readline()).get('message', ''))\n")
            found = found_by(one, PYTHON, text, user=None, under=("ip", "netns", "exec", name))
            expect("only users who may open" in found, f"root of another machine: {found}")
            one.terminate()
        held("clients of gpsd", "another machine")
    finally:
        subprocess.run(f"ip netns del {name}; ip link del {here}", shell=True, capture_output=True)


def what_others_see(folder):
    """Another user sees neither executables nor positions, and no program writes a line of its own into a list."""
    with service(folder) as one:
        home = own(folder, ADA)
        secret = f"{home}/a-private-program"
        copy_program(PYTHON, secret)
        text = "client = Client(service); client.open('private\\n\\x1b[2Jname'); print('open', flush=True); sys.stdin.read()\n"
        with start(one, secret, text, user=ADA, stdin=subprocess.PIPE) as private:
            private.wait_for_line("open")
            for user, sees in ((MALLORY, False), (ADA, True), (None, True)):
                shown = found_by(one, PYTHON, "say(Client(service).call(f'{LOCATION}.GetStatus'))\n", user=user)
                expect_equal(secret in json.dumps(shown), sees, f"whether user {user} sees the executable")
                expect("latitude" not in json.dumps(shown), f"the status has a position: {shown}")
            held("what others see", "the executables of another user in the status")
            lines = harness.run(harness.program(), "status", "--socket", one.socket, env=environment(folder)).output
            expect("\x1b" not in lines and len([line for line in lines.splitlines() if "private" in line]) == 1, lines)
            held("what others see", "control characters of a name")
            private.kill()
        evil = executable(folder, "evil")
        reason = "x\nhike@/usr/bin/hike  authorizedAlways\n\u2028\x1b[2J"
        reason += "y" * (daemon.TEXT_BYTES - len(reason.encode()))
        keys = {**daemon.KEYS, "whenInUse": reason, "alwaysAndWhenInUse": reason}
        text = (f"daemon.KEYS = json.loads({json.dumps(json.dumps(keys))})\n"
                "client = Client(service); client.open('evil\\nhike@/usr/bin/hike')\n"
                "client.act({'addManager': {'_0': 1}}, {'call': {'manager': 1, '_1': {'setDelegate': {'_0': 3}}}},"
                " {'call': {'manager': 1, '_1': {'requestWhenInUse': {}}}})\nprint('asks', flush=True); sys.stdin.read()\n")
        with start(one, evil, text, stdin=subprocess.PIPE) as asking:
            asking.wait_for_line("asks")
            wait_until(lambda: listed(one, MALLORY)["questions"], "the question is not listed")
            lines = authorize(one, user=MALLORY).output
            expect("\x1b" not in lines and "\u2028" not in lines and len(lines) < 2000 and
                   len([line for line in lines.splitlines() if line.startswith("hike")]) == 0, lines)
            held("what others see", "a line feed in a reason, and its length")
            asking.kill()
        one.terminate()
    port = free_port()
    with Program(harness.program(), "view", "--demo", "--listen", f"127.0.0.1:{port}", user=ADA, cwd="/",
                 env=environment(own(folder, ADA), SEXTANT_SERVICE="none", TMPDIR=own(folder, ADA), PATH=f"{os.path.dirname(harness.program())}:{os.environ['PATH']}")) as page:
        page.wait_for_message("http://")
        for path in ("/", "/events"):
            for user, code in ((ADA, 200), (None, 200), (MALLORY, 401)):
                text = (f"import http.client; one = http.client.HTTPConnection('127.0.0.1', {port}, timeout=60); one.request('GET', {path!r});"
                        "print(one.getresponse().status, flush=True); import os; os._exit(0)")
                found = harness.run(PYTHON, "-c", text, user=user, cwd="/")
                expect_equal(int(found.lines[-1]), code, f"the status of {path} for user {user}")
            held("what others see", f"{path} of another user's page on this machine")
        page.interrupt()


CHECKS = (stated_names, own_answers, own_groups, unknown_executables, granted_executables, granted_units, restricted_programs, equal_names, full_disk,
          stored_permissions, impossible_values, extreme_numbers, no_descriptors, leases, added_devices, removed_devices, gpsd_clients, what_others_see)


if __name__ == "__main__":
    if os.geteuid() != 0:
        raise SystemExit("boundary.py plays users and namespaces, which needs root; run it with sudo")
    harness.run_checks(CHECKS, harness.arguments(__doc__).checks)
