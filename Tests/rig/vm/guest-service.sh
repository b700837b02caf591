# SPDX-License-Identifier: Apache-2.0

# guest-service.sh - the guest's half of service.py.   usage: guest-service.sh first|second USBIP-PORT BROKER-PORT
. ./guest-harness.sh
port=$2
modprobe vhci-hcd
# The receiver at the other end of a USB cable accepts a connection when it has noticed the end of the last one.
plug() { wait_until usbip --tcp-port "$port" attach -r 10.0.2.2 -b 1-1 > /dev/null 2>&1; }
as() { setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }
status() { sextant status > /tmp/status 2>&1 && grep -q -E "$1" /tmp/status; }
no_status() { sextant status > /tmp/status 2>&1 && ! grep -q -E "$1" /tmp/status; }
user_manager() {
  setpriv --reuid=1000 --regid=1000 --init-groups env HOME=/home/ada XDG_RUNTIME_DIR=/run/user/1000 systemctl --user "$@"
}
active() { [ "$(systemctl is-active "$1")" = "$2" ]; }
service_log() { grep -q -i -E "$1" /tmp/log; }
logs=(/tmp/status /tmp/log)
journalctl -u sextantd -u polkit -f -o cat --no-pager > /tmp/log 2>&1 &

. ./guest-install.sh
for user in ada:1000 bob:1001 yard:1002; do useradd --create-home --uid "${user#*:}" "${user%:*}"; done
echo 'device /dev/ttyACM0' > /etc/sextant/config
echo 'grant yard.service always' > /etc/sextant/policy
[ "$1" != first ] || echo 'grant note.service always' >> /etc/sextant/policy
# `track` stops what it has started when it is asked to end; these units keep their regions. Only a region starts them: the
# way to it is also a significant change, which would come first.
cat > /etc/systemd/system/yard.service << UNIT
[Service]
ExecStart=/usr/local/bin/sextant-track --json --region yard,48.16465,11.60702,150 --accuracy best
Environment=LD_LIBRARY_PATH=$LD_LIBRARY_PATH
User=yard
StandardOutput=append:/var/tmp/yard.log
StandardError=append:/var/tmp/yard.log
KillSignal=SIGKILL
UNIT
# One that ends by itself, when nothing more comes after the registration. Only the first boot has a grant for it.
cat > /usr/local/bin/note << SCRIPT
#!/bin/bash
seconds=$limit
while read -r -t \$seconds line; do
  echo "\$line" >> /var/tmp/note.log
  [[ ! \$line =~ \$1 ]] || seconds=10
done < <(exec /usr/local/bin/sextant-track --json --significant --region yard,48.16465,11.60702,150 2>> /var/tmp/note.log)
SCRIPT
chmod +x /usr/local/bin/note
cat > /etc/systemd/system/note.service << UNIT
[Service]
Type=oneshot
ExecStart=/usr/local/bin/note didStartMonitoring
Environment=LD_LIBRARY_PATH=$LD_LIBRARY_PATH
User=bob
KillSignal=SIGKILL
UNIT
# Positions to the broker outside, in the unit as it ships; it does not start itself again.
install sextant-uplink /usr/local/bin/
cp hw-rules/sextant-uplink.service /usr/local/lib/systemd/system/
echo 'grant sextant-uplink.service always' >> /etc/sextant/policy
printf '%s\n' "server = mqtt://10.0.2.2:$3" 'client-id = van' 'topic = owntracks/ann/van' 'interval = 10 min' 'allow = setWaypoints' > /etc/sextant/uplink
mkdir -p /etc/systemd/system/sextant-uplink.service.d
printf '[Service]\nRestart=no\nEnvironment=LD_LIBRARY_PATH=%s\n' "$LD_LIBRARY_PATH" > /etc/systemd/system/sextant-uplink.service.d/rig.conf
uplink() { SEXTANT_STATE_DIR=/var/lib/sextant-uplink sextant-uplink status > /tmp/status 2>&1 && grep -q -E "$1" /tmp/status; }
systemctl daemon-reload
systemctl restart polkit 2> /dev/null
udevadm control --reload

first() {
  echo "== socket activation and the sandbox"
  systemctl start sextantd.socket
  check "the socket alone does not start the service" active sextantd.service inactive
  # A board that starts takes longer for the service than the service for a reply.
  mkdir -p /run/systemd/system/sextantd.service.d
  printf '[Service]\nExecStartPre=/bin/sleep 8\n' > /run/systemd/system/sextantd.service.d/slow.conf
  systemctl daemon-reload
  check "a program starts the service, and waits for it" as 1001 sextant status
  rm -r /run/systemd/system/sextantd.service.d
  systemctl daemon-reload
  check "the service is ready" active sextantd.service active
  check "systemctl reloads it" systemctl reload sextantd.service
  check "its policy is read again" wait_until service_log 'read again'
  local process
  process=$(systemctl show -p MainPID --value sextantd.service)
  check "it is a user of its own" [ "$(stat -c %U "/proc/$process")" = sextant ]
  check "its system calls are filtered" grep -q '^Seccomp:.*2' "/proc/$process/status"
  check "it has one capability" grep -q '^CapEff:.*0000000000080000' "/proc/$process/status"
  check "it has no new privileges" grep -q '^NoNewPrivs:.*1' "/proc/$process/status"

  echo "== attacks from inside the sandbox"
  # Devices that every user could open but for the unit's list.
  local disk line
  disk=$(ls /dev/[vs]da | head -n 1)
  mknod -m 666 /dev/attacked-disk b $((0x$(stat -c %t "$disk"))) $((0x$(stat -c %T "$disk")))
  mknod -m 666 /dev/attacked-memory c 1 1
  mknod -m 666 /dev/attacked-log c 1 11
  chmod 755 /home/ada
  install attacks /usr/local/bin/
  mkdir -p /var/lib/attacks
  check "as root and without a sandbox each attack succeeds" eval \
    "attacks /var/lib/attacks > /tmp/attacks.root && [ \$(grep -c ': done$' /tmp/attacks.root) = \$(wc -l < /tmp/attacks.root) ] || { grep refused /tmp/attacks.root; false; }"
  # The unit with another program.
  sed -e 's|^ExecStart=.*|ExecStart=/usr/local/bin/attacks /var/lib/sextantd|; s/^Type=.*/Type=oneshot/; /^Requires=\|^Watchdog/d' \
    -e 's/^Restart=.*/Restart=no/; s|^NotifyAccess=.*|StandardOutput=append:/tmp/attacks.sandbox|' \
    /usr/local/lib/systemd/system/sextantd.service > /run/systemd/system/attacked.service
  systemctl daemon-reload
  check "the attacks run in the sandbox of the service" systemctl start attacked.service
  check "the same number of attacks" [ "$(wc -l < /tmp/attacks.sandbox)" = "$(wc -l < /tmp/attacks.root)" ]
  while IFS= read -r line; do
    check "refused: ${line%%: *}" eval "[[ \$line =~ ': refused ('E(PERM|ACCES|ROFS|AFNOSUPPORT)')' ]]"
  done < <(sed '$d' /tmp/attacks.sandbox)
  cat /tmp/attacks.sandbox

  echo "== permission of two users"
  plug
  as 1000 sextant-track --json > /tmp/ada.log 2>&1 &
  local ada=$!
  questions() { as "$1" sextant authorize | grep -q 'asks'; }
  check "a program without a terminal waits for its user" wait_until questions 1000
  check "another user does not see its question" eval "! questions 1001"
  check "another user cannot answer it" eval "! as 1001 sextant authorize allow sextant-track --user 1000"
  check "its user answers it" as 1000 sextant authorize allow sextant-track
  check "it gets locations of the plugged receiver" wait_line /tmp/ada.log didUpdateLocations
  check "the permission does not apply to another user" eval "! as 1001 sextant authorize | grep -q authorizedAlways"

  echo "== plug and unplug"
  check "the receiver is served" wait_until status 'ttyACM0.*(awake|saving)'
  echo want-unplug
  check "its loss is noticed" wait_until service_log "$RECEIVER_LOST"
  plug
  check "its return is noticed" wait_until service_log "$RECEIVER_BACK"
  local lines
  lines=$(wc -l < /tmp/ada.log)
  check "locations come again" wait_line /tmp/ada.log didUpdateLocations $((lines + 1))
  kill $ada
  wait $ada

  echo "== a program that registers a region, and ends"
  systemctl start yard.service
  check "its region is monitored" wait_line /var/tmp/yard.log didStartMonitoring
  check "it has a location outside" wait_line /var/tmp/yard.log didUpdateLocations
  check "it is outside" wait_line /var/tmp/yard.log 'didDetermineState.*outside'
  systemctl kill --signal=SIGKILL yard.service
  check "its region is watched without it" wait_until status 'yard.service does not run.*regions'
  check "a unit of type oneshot ends with its program" systemctl start note.service
  check "it has registered its region" wait_line /var/tmp/note.log didStartMonitoring
  check "its region is watched without it" wait_until status 'note.service does not run.*regions'
  check "the end of its start is not a stop" eval "! service_log 'note.service was stopped'"
  check "the unit is stored" eval "grep -q yard.service /var/lib/sextantd/users/1002/apps/*/launch"

  echo "== a region of the server, for a program that ends"
  systemctl start sextant-uplink.service
  check "the uplink is connected" wait_until uplink '^connected'
  echo want-waypoints
  check "the server's region is stored, and the board is outside" wait_until eval \
    "grep -q 'yard.*\"inside\":false' /var/lib/sextant-uplink/uplink/settings"
  systemctl kill --signal=SIGKILL sextant-uplink.service
  check "its region is watched without it" wait_until status 'sextant-uplink.service does not run.*regions'
  systemctl stop sextantd.socket sextantd.service
  check "the service ends in order" eval "systemctl show -p Result --value sextantd.service | grep -qx success"
  tar -C / --exclude control -czf state.tar.gz var/lib/sextantd var/lib/private/sextant-uplink
}

second() {
  echo "== after the reboot"
  tar -C / -xzf state.tar.gz
  chown -R sextant:sextant /var/lib/sextantd
  systemctl start sextantd.socket sextantd.service
  check "the region is watched before the program runs" wait_until status 'yard.service does not run.*regions'
  check "the program does not run" active yard.service inactive
  check "the uplink does not run" active sextant-uplink.service inactive
  plug
  check "the receiver is served for it" wait_until status 'ttyACM0.*(awake|saving)'

  echo "== a unit of a user's service manager"
  loginctl enable-linger ada
  check "the user has a service manager" wait_until user_manager is-system-running --wait
  mkdir -p /home/ada/.config/systemd/user
  cat > /home/ada/.config/systemd/user/hike.service << UNIT
[Service]
ExecStart=/usr/local/bin/sextant-track --json --region yard,48.16465,11.60702,150
StandardOutput=append:/home/ada/hike.log
StandardError=append:/home/ada/hike.log
KillSignal=SIGKILL
UNIT
  chown -R ada:ada /home/ada
  user_manager set-environment "LD_LIBRARY_PATH=$LD_LIBRARY_PATH"
  user_manager daemon-reload
  user_manager start sextant-launcher.service hike.service
  check "its region is monitored" wait_line /home/ada/hike.log didStartMonitoring
  # Without this state there is no crossing, however late the first location comes (RG-13).
  check "it is outside" wait_line /home/ada/hike.log 'didDetermineState.*outside'
  user_manager kill --signal=SIGKILL hike.service
  check "its region is watched without it" wait_until status 'hike.service does not run, user 1000.*regions'

  echo "== the crossing"
  echo want-inside
  check "the crossing starts its unit, by polkit's rule" wait_until active yard.service active
  check "the program recognises the reason" wait_line /var/tmp/yard.log 'started by the location service: region'
  check "the event waits for it" wait_line /var/tmp/yard.log didEnterRegion
  check "the crossing starts the uplink" wait_until active sextant-uplink.service active
  check "the uplink has sent it" wait_until uplink '^sent +[1-9][0-9]*, [1-9]'
  check "the event comes once" [ "$(grep -c didEnterRegion /var/tmp/yard.log)" = 1 ]
  check "the launcher starts the unit of the user" wait_line /home/ada/hike.log 'started by the location service: region'
  check "its event waits for it" wait_line /home/ada/hike.log didEnterRegion
  user_manager stop hike.service
  check "the user's stop is noticed" wait_until service_log 'hike.service was stopped'
  check "the service may start no other unit" eval "! setpriv --reuid=sextant --regid=sextant --clear-groups \
    busctl call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager StartUnit ss rescue.service fail"

  echo "== a program that ends by itself is started again, one that is stopped is not"
  systemctl kill --signal=SIGKILL yard.service
  check "its region is watched without it" wait_until status 'yard.service does not run.*regions'
  echo want-outside
  check "the way out starts it" wait_line /var/tmp/yard.log didExitRegion
  systemctl stop yard.service
  check "the stop is noticed" wait_until service_log 'yard.service was stopped'
  check "its region is not watched any more" no_status yard.service
  systemctl start yard.service
  check "its user starts it" wait_until status 'process [0-9]+, user 1002.*regions'
  systemctl kill --signal=SIGKILL yard.service
  check "its region is watched again" wait_until status 'yard.service does not run.*regions'
  systemctl stop sextantd.socket sextantd.service
}

"$1"
echo "done-guest"
