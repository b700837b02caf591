// SPDX-License-Identifier: Apache-2.0

/// Leap seconds of GPS time, as far as announced.
public enum LeapSeconds {
  /// The days at whose start GPS − UTC grew by one second (IERS Bulletin C; the last one is 2017-01-01).
  private static func beginning(_ index: Int) -> Int64 {
    switch index {
    case 0: 4199  // 1981-07-01
    case 1: 4564  // 1982-07-01
    case 2: 4929  // 1983-07-01
    case 3: 5660  // 1985-07-01
    case 4: 6574  // 1988-01-01
    case 5: 7305  // 1990-01-01
    case 6: 7670  // 1991-01-01
    case 7: 8217  // 1992-07-01
    case 8: 8582  // 1993-07-01
    case 9: 8947  // 1994-07-01
    case 10: 9496  // 1996-01-01
    case 11: 10043  // 1997-07-01
    case 12: 10592  // 1999-01-01
    case 13: 13149  // 2006-01-01
    case 14: 14245  // 2009-01-01
    case 15: 15522  // 2012-07-01
    case 16: 16617  // 2015-07-01
    default: 17167  // 2017-01-01
    }
  }
  private static var count: Int { 18 }

  /// GPS − UTC in seconds on a day, 0…18 as of this table.
  public static func on(_ day: Day) -> Int {
    var seconds = 0
    while seconds < count, beginning(seconds) <= day.since1970 { seconds += 1 }
    return seconds
  }
}
