# SPDX-License-Identifier: Apache-2.0

# guest-time.sh - the guest's half of clocks.py.
. ./guest-harness.sh
. ./guest-install.sh
ahead=0.25
delay=0.07
# Seconds. The daemons compare for minutes.
limit=400
logs=(/tmp/time /tmp/log /tmp/sources /tmp/ntpd.log /tmp/peers /tmp/gpsd.log)
touch "${logs[@]}"
# Those of Debian's packages are started here one by one, with no other program beside them.
systemctl mask --now chrony gpsd.socket gpsd > /dev/null 2>&1
systemctl unmask chrony 2> /dev/null
kill $(pidof gpsd) 2> /dev/null
for key in 0 1 2 3 4 5 6 7; do ipcrm -M $((0x4e545030 + key)) 2> /dev/null; done
journalctl -u sextantd -u chrony -f -o cat --no-pager > /tmp/log 2>&1 &

# The lines of the guide, as they stand: the indented block behind the first line with a text.
guide() {
  awk -v text="$1" 'index($0, text) { found = 1 } !found { next } /^    / { print substr($0, 5); seen = 1; next } seen && NF { exit }' \
    time.md
}
drop_in() { mkdir -p "/etc/systemd/system/$1.service.d" && cat > "/etc/systemd/system/$1.service.d/$2.conf"; }
guide 'systemctl edit sextantd' | drop_in sextantd clock
guide 'systemctl edit chrony' | drop_in chrony clock
guide 'rule in `/etc/udev/rules.d`' > /etc/udev/rules.d/61-pulses.rules
# Nothing sets the clock.
sed -i 's/^DAEMON_OPTS=.*/DAEMON_OPTS="-F 1 -x"/' /etc/default/chrony
systemctl daemon-reload
udevadm control --reload
modprobe vhci-hcd

# Two adapters and a receiver on USB, all with the same epochs and pulses.
mkdir -p /run/rig
adapter() {
  python3 usbip-gnss.py --port "$1" --model "$2" --baud 115200 --serial "RIG$1" --wire "/run/rig/$1" --control "/run/rig/$1.control" > "/tmp/usb-$1.log" 2>&1 &
  wait_until [ -S "/run/rig/$1.control" ]
}
plug() { wait_until usbip --tcp-port "$1" attach -r 127.0.0.1 -b 1-1 > /dev/null 2>&1 && wait_until [ -c "$2" ] && udevadm settle; }
adapter 3240 ftdi
adapter 3241 ftdi
adapter 3242 acm
# gpsd gets no carrier: it shares the source of pulses.
rm /run/rig/3241.control
python3 feed.py $ahead $delay /run/rig/3240 /run/rig/3241 /run/rig/3242 > /tmp/feed.log 2>&1 &
plug 3240 /dev/ttyUSB0
plug 3241 /dev/ttyUSB1
plug 3242 /dev/ttyACM0
check "the receivers send" wait_line /tmp/feed.log ready
# The adapter has the vendor ID of any serial cable: the rules do not claim it.
chgrp gnss /dev/ttyUSB0 && chmod g+rw /dev/ttyUSB0
check "the module of pulses" insmod rig_pps.ko ahead=250000000
wait_until [ -c /dev/pps0 ] && udevadm settle

# Each daemon is started with the lines for it, and compares the sources with the machine's clock.   usage: serve DEVICE [LINE]
serve() {
  printf 'device %s\n' "$1" > /etc/sextant/config
  printf 'time = continuous\n%s\n' "${2-}" > /etc/sextant/policy
  systemctl restart sextantd.socket sextantd.service
}
time_has() { sextant time --json > /tmp/time 2>&1 && grep -q -E "$1" /tmp/time; }
chrony() {
  rm -f /var/log/chrony/refclocks.log
  printf '%s\n' 'log refclocks' "$@" > /etc/chrony/conf.d/clock.conf
  systemctl restart chrony
}
selected() { chronyc -c sources > /tmp/sources 2>&1 && grep -q "^#,\*,$1," /tmp/sources; }
# Offsets of the machine's clock from a daemon's log, in seconds, one a line. chronyd's own reports describe the clock as if it had
# corrected it, so its log of raw samples is read: "refclocks" of chrony.conf(5), column 7, of each measurement.
chrony_offsets() { awk -v name="$1" '$3 == name && $4 != "-" { print $7 }' /var/log/chrony/refclocks.log 2> /dev/null; }
# "peerstats" of ntpd's monitoring options: clock, status, offset.
ntp_offsets() { awk -v name="SHM($1)" '$3 == name { print $5 }' /run/ntpstats/peerstats; }
measured() { [ "$("$1" "$2" | wc -l)" -ge "$3" ]; }
# Waits for a number of measurements, and prints their error.
record() {
  local what=$1
  shift
  check "$what: $3 measurements" wait_until measured "$@"
  "$1" "$2" | awk -v what="$what" -v ahead=$ahead '{ e = $1 - ahead; sum += e; square += e * e }
    END { mean = sum / NR; variance = square / NR - mean * mean; if (variance < 0) variance = 0
      printf "ERROR %s: mean %.4f ms, standard deviation %.4f ms, %d measurements\n", what, mean * 1e3, sqrt(variance) * 1e3, NR }'
}
pulse_line=$(guide 'refclock`' | sed s/ttyAMA0/ttyUSB0/)
message_line=$(guide 'Without pulses:' | sed s/ttyACM0/ttyUSB0/)

echo "== chronyd reads sextantd"
chrony "$pulse_line" "$message_line"
serve /dev/ttyUSB0 'pps = /dev/pps0'
check "the pulses serve the clock, in the unit's sandbox" wait_until time_has '"state":"pulses"'
check "chronyd selects them" wait_until selected PPS
check "it is the reader of its sockets" time_has '"name":"/run/chrony.ttyUSB0.sock","source":"pulse","isRead":true'
record "chronyd, sextantd, pulses" chrony_offsets PPS 8
record "chronyd, sextantd, messages beside pulses" chrony_offsets GPS 4
chrony "$message_line"
serve /dev/ttyUSB0
check "without pulses chronyd selects the messages" wait_until selected GPS
record "chronyd, sextantd, messages alone" chrony_offsets GPS 4
systemctl stop chrony

echo "== ntpd of ntpsec reads sextantd"
# Polls of 8 s instead of 64 s.
ntpd() {
  mkdir -p /run/ntpstats && rm -f /run/ntpstats/* && touch /run/ntpstats/peerstats
  {
    printf 'disable ntp\nstatsdir /run/ntpstats/\nstatistics peerstats\nfilegen peerstats file peerstats type none enable\n'
    printf '%s\n' "$@" | sed 's/$/ minpoll 3 maxpoll 3/'
  } > /tmp/ntp.conf
  ntpsec/usr/sbin/ntpd -n -c /tmp/ntp.conf > /tmp/ntpd.log 2>&1 &
  ntpd=$!
}
serve /dev/ttyUSB0 'pps = /dev/pps0'
wait_until time_has '"state":"pulses"'
guide '## ntpsec' > /tmp/ntp-lines
ntpd "$(sed -n 1p /tmp/ntp-lines)" "$(sed -n 2p /tmp/ntp-lines)"
# Bits 5 to 7 of the status are the selection; 6 is the system's source: RFC 5905, NTP's "Peer Status Word".
ntpd_selects() { awk -v name="SHM($1)" '$3 == name && substr($4, 2, 1) == "6" { found = 1 } END { exit !found }' /run/ntpstats/peerstats; }
check "ntpd selects the pulses" wait_until ntpd_selects 3
check "it is the reader of the segments" time_has '"name":"NTP3","source":"pulse","isRead":true'
check "every user can read and write the segments" eval "ipcs -m | grep -q '0x4e545033 .* sextant .* 666 '"
record "ntpd, sextantd, pulses" ntp_offsets 3 5
record "ntpd, sextantd, messages beside pulses" ntp_offsets 2 5
kill $ntpd
serve /dev/ttyUSB0
wait_until time_has '"state":"messages"'
ntpd "$(sed -n 1p /tmp/ntp-lines)"
check "without pulses ntpd selects the messages" wait_until ntpd_selects 2
record "ntpd, sextantd, messages alone" ntp_offsets 2 5
kill $ntpd
systemctl stop sextantd.socket sextantd

echo "== the same of gpsd"
stty -F /dev/ttyUSB1 115200
gpsd -N -n -D 3 /dev/ttyUSB1 > /tmp/gpsd.log 2>&1 &
gpsd=$!
chrony 'refclock SHM 0 refid GPS poll 3 offset 0.0 delay 0.5'
record "chronyd, gpsd, messages" chrony_offsets GPS 4
kill $gpsd
wait $gpsd
chrony 'refclock SOCK /run/chrony.pps0.sock refid PPS poll 2'
gpsd -N -n -D 3 /dev/ttyUSB1 /dev/pps0 >> /tmp/gpsd.log 2>&1 &
gpsd=$!
record "chronyd, gpsd, pulses" chrony_offsets PPS 8
systemctl stop chrony
# The third segment belongs to its second device.
ntpd 'refclock shm unit 0 refid GPS' 'refclock shm unit 2 refid PPS'
record "ntpd, gpsd, messages" ntp_offsets 0 5
record "ntpd, gpsd, pulses" ntp_offsets 2 5
kill $ntpd $gpsd

echo "== the carrier line of a port"
# The emulated adapter's edges come milliseconds late, which the clock refuses at times: that they come is what is checked.
edges='"pulses":[1-9]|"reason":"(settling|jitter|phase)"'
serve /dev/ttyUSB0 'pps = carrier'
check "the kernel stamps the carrier of an adapter" wait_until time_has '"pulseDevice":"/dev/pps[1-9]"'
check "its source belongs to the group of receivers" eval '[ "$(stat -c %G "$(grep -o "/dev/pps[1-9]" /tmp/time)")" = gnss ]'
check "its edges come" wait_until time_has "$edges"
sextant time
systemctl stop sextantd.socket sextantd
modprobe -r pps_ldisc
echo 'install pps_ldisc /bin/false' > /etc/modprobe.d/no-pulses.conf
serve /dev/ttyUSB0 'pps = carrier'
check "without the kernel's line discipline the service waits for it" wait_until time_has '"pulseDevice":"/dev/ttyUSB0"'
check "its edges come" wait_until time_has "$edges"
sextant time
serve /dev/ttyACM0 'pps = carrier'
check "so it does at a receiver on USB" wait_until time_has '"pulseDevice":"/dev/ttyACM0"'
check "its edges come" wait_until time_has "$edges"
check "with one socket for them" eval '[ "$(grep -o "chrony.ttyACM0.sock" /tmp/time | wc -l)" = 1 ]'
sextant time
usbip detach -p 02 > /dev/null 2>&1
check "the end of its line ends them" wait_until eval '! time_has pulseDevice'
systemctl stop sextantd.socket sextantd
check "the service ends in order" eval "systemctl show -p Result --value sextantd.service | grep -qx success"
echo done-guest
