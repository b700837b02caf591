// SPDX-License-Identifier: Apache-2.0

extension PageFiles {
  /// The page of this module, embedded in the program.
  package static var own: PageFiles {
    PageFiles(
      html: PackageResources.page_html, style: PackageResources.page_css, script: PackageResources.page_js)
  }
}
