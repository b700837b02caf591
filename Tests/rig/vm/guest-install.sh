# SPDX-License-Identifier: Apache-2.0

# guest-install.sh - the part of the guest's scripts that installs the programs, units and rules. They source it.
export LD_LIBRARY_PATH=/usr/local/lib/sextant
# The programs as `make install` installs them, with the Swift runtime of the build beside them.
mkdir -p /usr/local/lib/sextant /etc/sextant /usr/local/lib/systemd/system /etc/systemd/user /etc/polkit-1/rules.d
cp lib/* /usr/local/lib/sextant/
install sextant sextant-track sextantd /usr/local/bin/
cp hw-rules/sextantd.service hw-rules/sextantd.socket /usr/local/lib/systemd/system/
cp hw-rules/sextant-launcher.service /etc/systemd/user/
cp hw-rules/sextant.rules /etc/polkit-1/rules.d/60-sextant.rules
cp hw-rules/60-sextant-gnss.rules /etc/udev/rules.d/ && mkdir -p /etc/udev/hwdb.d && cp hw-rules/60-sextant-gnss.hwdb /etc/udev/hwdb.d/
groupadd --system --force gnss
systemd-sysusers "$PWD/hw-rules/sextant.sysusers.conf"
systemd-tmpfiles --create "$PWD/hw-rules/sextant.tmpfiles.conf"
mkdir -p /etc/systemd/system/sextantd.service.d
printf '[Service]\nEnvironment=LD_LIBRARY_PATH=%s\n' "$LD_LIBRARY_PATH" > /etc/systemd/system/sextantd.service.d/library.conf
