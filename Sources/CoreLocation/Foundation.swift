// SPDX-License-Identifier: Apache-2.0

// On Apple's systems `import CoreLocation` re-exports Foundation: programs use `NSObject`, `Date` and `print` of dates
// without importing it.
@_exported import Foundation
