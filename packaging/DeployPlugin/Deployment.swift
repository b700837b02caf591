// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The texts of the files that accompany a program.
struct Deployment {
  let name: String
  /// `always` or `whenInUse`.
  let permission: String

  /// The usage text, for a package without a property list.
  var propertyList: String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
      <key>NSLocationWhenInUseUsageDescription</key>
      <string>\(name) uses the location of this machine.</string>
      <key>NSLocationAlwaysAndWhenInUseUsageDescription</key>
      <string>\(name) uses the location of this machine.</string>
      <key>UIBackgroundModes</key>
      <array><string>location</string></array>
    </dict>
    </plist>

    """
  }

  /// A unit that runs the program as a dedicated user, with the receivers' group.
  var unit: String {
    """
    [Unit]
    Description=\(name)
    Wants=sextantd.socket
    After=sextantd.socket

    [Service]
    ExecStart=/usr/bin/\(name)
    Restart=always
    DynamicUser=yes
    SupplementaryGroups=gnss
    StateDirectory=\(name)
    Environment=SEXTANT_STATE_DIR=/var/lib/\(name)
    # With the location service the permission is a line of /etc/sextant/policy: \(grant)
    Environment=SEXTANT_AUTHORIZATION=\(permission)
    \(inUse)
    [Install]
    WantedBy=multi-user.target

    """
  }

  /// The line of the location service's policy.
  var grant: String { "grant \(name).service \(permission)" }

  /// A service has no terminal, so it would never be in use.
  private var inUse: String {
    permission == "always"
      ? ""
      : """
      # The program is in use while this service runs. With `always` it runs in the background, and may be started by its regions.
      Environment=SEXTANT_APP_STATE=foreground

      """
  }

  /// The control file of a Debian package (deb-control(5)).
  func control(version: String, architecture: String, kibibytes: Int) -> String {
    """
    Package: \(packageName)
    Version: \(version)
    Architecture: \(architecture)
    Maintainer: nobody <nobody@localhost>
    Installed-Size: \(kibibytes)
    Depends: libc6, libstdc++6, libudev1, adduser
    Recommends: curl
    Section: misc
    Priority: optional
    Description: \(name)
     A program with Core Location.

    """
  }

  /// The script after the installation of a Debian package. A unit whose group does not exist does not start. After an
  /// upgrade, a program that runs is the new one.
  var postinst: String {
    """
    #!/bin/sh
    set -e
    [ "$1" = configure ] || exit 0
    addgroup --system --quiet gnss
    [ -d /run/systemd/system ] || exit 0
    systemctl --system daemon-reload
    [ -z "$2" ] || systemctl --system try-restart \(name).service

    """
  }

  /// The script before the removal of a Debian package.
  var prerm: String {
    """
    #!/bin/sh
    set -e
    [ "$1" = remove ] && [ -d /run/systemd/system ] || exit 0
    systemctl --system stop \(name).service

    """
  }

  /// Lower case letters, digits and `+-.`, as in names of packages.
  private var packageName: String {
    String(name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) ? $0 : "-" })
  }
}

/// Debian's name of a program's architecture, from the machine in its ELF header (elf(5), `e_machine`); nil for another
/// file or machine.
func debianArchitecture(ofProgram bytes: Data) -> String? {
  let header = [UInt8](bytes.prefix(20))
  guard header.count == 20, header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return nil }
  // All of these have the least significant byte first.
  return [62: "amd64", 183: "arm64", 40: "armhf", 243: "riscv64"][Int(header[18]) | Int(header[19]) << 8]
}
