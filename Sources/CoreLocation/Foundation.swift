// SPDX-License-Identifier: Apache-2.0

// On Apple's systems `import CoreLocation` brings Foundation along: programs use `NSObject`, `Date` and `print` of dates
// without an import of their own.
@_exported import Foundation
