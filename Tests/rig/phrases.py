# SPDX-License-Identifier: Apache-2.0
"""The stable parts of the program's messages, as regular expressions (case does not matter): what happened, to what, and the
code or name that belongs to it. A reworded message is changed here and in no rig.

usage: phrases.py      prints the table as shell variables, for the scripts in the virtual machine
"""
import shlex

# Receivers that are lost and found again.
RECEIVER_LOST = r"receiver is (gone|lost)"
RECEIVER_BACK = r"receiver is back"
SILENT = r"receiver is silent"
NO_DOUBT = "no longer in doubt"
RECEIVER_RENAMED = r"receiver is back .*ttyACM0"
FIXES_LOST = r"(\d+) fix(?:es)? lost"

# Settings that a command could not restore at its end.
NOT_RESTORED = r"could not be restored"

# Receivers that are not opened.
NO_PERMISSION = r"no permission"
GROUP_ADVICE = r"usermod -aG gnss"
HELD_BY = r"\(pid {}\)"
NO_ANSWER_AT_ADDRESS = r"address {}"
NO_UBLOX_RECEIVER = r"no u-blox receiver"
CONFIGURATION_ERROR = r"config:1: .*fast"

# Programs of the service.
OTHER_PROGRAM = r"executes another program"

# Inputs that are not a receiver or not a recording.
NOT_CONNECTED = r"no receiver is connected; plug it in"
SKY_ADVICE = r"\bsky\b"
SLOW_END = r"ending: the receiver gets its former settings back"
FILE_IS_NO_RECEIVER = r"is a file and not a receiver; .*replay:"
FILE_TAKES_NO_COMMANDS = r"a file .*; name the device"
IS_FOLDER = r"(folder|directory)"
EMPTY_FILE = r"is empty"
NO_FRAMES = r"no frame .*54 bytes"
NO_CHECKSUMS = r"3 sentences have no checksum"
NO_SUCH_FILE = r"none: .*check the name"
SCENARIO_ERROR = r"line 1: .*height"
BAUD_RANGE = r"1200"
BAUD_OPTION_AT_FAULT = r"--baud"
TRY_AGAIN = r"again"
INTERRUPTED = r"interrupted before"
CHECK_ADVICE = r"check"

# Files and outputs without room or permission.
NO_SPACE = r"No space"
OUTPUT_FULL = r"standard output: .*No space"
NO_ROOM_FOR_BATCH = r"state/batch/.*disk"
STATE_FOLDER_ADVICE = r"SEXTANT_STATE_DIR"
COUNTS_AT_START = r"applies when it starts"
SUDO_ADVICE = r"use sudo"
PERMISSION_DENIED = r"Permission denied"
UNREADABLE = r"unreadable|cannot be read"

# Authorization.
QUESTION = r"sextant-track .*location: to print where this computer is"
QUESTION_PROMPT = r"Allow\?"
QUESTION_NOTICE = r"sextant authorize allow sextant-track"

# Power, batches and configuration.
ASLEEP = r"asleep for {} s"
ASLEEP_UNTIL_WOKEN = r"asleep until"
AWAKE = r"awake"
STATE_AWAKE = r"state +awake"
HAD_SLEPT = r"it was asleep"
CYCLIC = r"cyclic .*every 1 s"
NO_SUCH_MODE = r"does not have this mode"
OFF = r"off until"
BATCHING = r"batching"
LINE_AT = r"line is at {} baud"
BAUD_REFUSED = r"refused CFG-(UART1-BAUDRATE|PRT\[1\]\.baudRate) .*nothing was changed"
BAUD_KEPT = r"not found at {} baud; nothing was changed"
NOTHING_CHANGED = r"0 settings changed"
RATE_SET = r"rate is set"
FULL_LINE = r"(fill the line|line is full|no reply for|not found at 9600 baud)"
LINE_TOO_SLOW = r"rate: .*960.*\(baud=\d+\)"

# Sensors.
NO_COMPASS = r"no compass"
NO_HEADING = r"no heading"
BLUEZ_ADVICE = r"install bluez"
NO_GPIO_LINE = r"line 17"
LINE_HELD = r"uses the line"

# `sextant simulate`: the answer to `status`.
STATUS = (r": (?P<state>\w+), .*?, (?P<rate>\d+) baud .*, (?P<charge>[\d.e-]+) mAh, batch (?P<batch>\d+), "
          r"(?P<bytes>\d+) bytes sent")
# The answer to `settings`.
SETTINGS = (r"^settings: (?P<baud>\d+) baud, (?P<period>\d+) ms, systems (?P<systems>\d+), sentences (?P<sentences>\S*), "
            r"logger (?P<logger>on|off), (?P<records>\d+) records")


def shell_variables():
    """The table for the scripts in the virtual machine."""
    return "".join(f"{name}={shlex.quote(pattern)}\n" for name, pattern in globals().items() if name.isupper())
