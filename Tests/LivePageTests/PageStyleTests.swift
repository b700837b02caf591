// SPDX-License-Identifier: Apache-2.0
import Testing
import sextant

@Suite("The style of the pages")
struct PageStyleTests {
  @Test("The report has the colours of the live page")
  func palette() {
    let style = String(decoding: PageFiles.own.style, as: UTF8.self)
    let colours = ReportPage.palette.split(separator: "\n").map { $0.drop { $0 == " " } }
    #expect(colours.count == 17)
    for colour in colours { #expect(style.contains(colour), "\(colour)") }
  }
}
