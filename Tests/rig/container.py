#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The container image: its files alone run the service and the commands as its user, without a shell and without a right; and where there is
buildah, the last stage of the Containerfile is built of them and run. The first stage is `make static`.

usage: container.py, as root
"""
RIG = {"prepare": [["make", "static"]], "packages": {"binutils": "strip"}, "needs": ["root", "release build"], "arguments": [], "seconds": 5}

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from harness import Program, expect, wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = TOP / ".build/static/release"
CONTAINERFILE = (TOP / "packaging/container/Containerfile").read_text()
USER = re.search(r"^USER (.*)", CONTAINERFILE, re.M)[1]
# In the image alone, as its user, with /proc and the devices that every container has.
INSIDE = """mount --bind "$0" "$0"; mkdir -p "$0/proc" "$0/dev"; mount -t proc none "$0/proc"; mount --rbind /dev "$0/dev"
user=$1; shift; exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin SEXTANT_STATE_DIR=/var/lib/sextantd chroot --userspec="$user" "$0" "$@" """


def inside(image, *words):
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", INSIDE, str(image), USER, *words]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    expect(done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode} {done.stdout}{done.stderr}")
    return done.stdout


def check_files(image):
    """Every path of the Containerfile is in the folder that it copies."""
    paths = re.findall(r'^ENTRYPOINT \["(.*)"\]', CONTAINERFILE, re.M) + [
        path for line in re.findall(r"^VOLUME (.*)", CONTAINERFILE, re.M) for path in line.split()]
    missing = [path for path in paths if not (image / path.lstrip("/")).exists()]
    expect(paths and not missing, f"the Containerfile names paths that are not in the image: {missing}")
    expect(f":x:{USER}:" in (image / "etc/passwd").read_text(), f"user {USER} is not in the image")
    expect(not any((image / path).exists() for path in ("bin/sh", "usr/bin/sh")), "the image has a shell")
    files = [path for path in image.rglob("*") if path.is_file() and not path.is_symlink()]
    print(f"container: {sum(path.stat().st_size for path in files) // 1024} KiB, {len(files)} files", flush=True)


def check_programs(image):
    print(run(*inside(image, "/usr/bin/sextant", "--version")), end="")
    done = subprocess.run(inside(image, "/usr/bin/sextant", "watch", "--device", "sim:walk", "--seconds", "3"), capture_output=True, text=True)
    expect(re.search(r" 48\.\d* 11\.", done.stdout), f"no fix of the simulated receiver: {done.stdout}{done.stderr}")
    # The socket is the volume's: a program outside of the container uses it.
    socket = image / "run/sextant/location"
    with Program(*inside(image, "/usr/bin/sextantd", "--device", "sim:walk")) as service:
        def is_there():
            expect(service.process.poll() is None, f"the service does not start: {service.errors}")
            return socket.is_socket()
        wait_until(is_there, "the service makes no socket")
        status = run(PROGRAMS / "sextant", "status", env={**os.environ, "SEXTANT_SERVICE": str(socket)})
        expect("sim:walk" in status, f"the status does not name the receiver: {status}")
        # unshare passes no signal on, and its option to end its child has no effect on one of another user.
        for child in run("ps", "-o", "pid=", "--ppid", service.process.pid).split():
            os.kill(int(child), signal.SIGKILL)
        service.process.wait()
    print(f"container: commands and service run in the image's files as user {USER}", flush=True)


def check_image(work):
    """The last stage of the Containerfile."""
    if not shutil.which("buildah"):
        print("container: no buildah here: the image itself is not built")
        return
    environment = {**os.environ, "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs", "CONTAINERS_STORAGE_CONF": "/dev/null"}
    last = CONTAINERFILE[CONTAINERFILE.index("FROM scratch"):].replace("--from=build /image", "image")
    (work / "Containerfile").write_text(last)

    def buildah(*words):
        return run("buildah", "--root", work / "storage", "--runroot", work / "runroot", *words, env=environment)
    buildah("build", "-q", "-t", "sextant", "-f", work / "Containerfile", work)
    container = buildah("from", "--pull-never", "sextant").strip()
    print(buildah("run", container, "/usr/bin/sextant", "--version"), end="")
    expect('"/usr/bin/sextantd"' in buildah("inspect", "--type", "image", "sextant"), "the image has no entry point")
    print("container: buildah has built the image")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        image = pathlib.Path(folder) / "image"
        run(TOP / "packaging/container/root.sh", PROGRAMS, image)
        check_files(image)
        check_programs(image)
        check_image(pathlib.Path(folder))
