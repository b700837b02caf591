import UBX

// The messages that the session speaks of, by their names.
extension MessageIdentity {
  static let ackACK = MessageIdentity(0x05, 0x01)
  static let ackNAK = MessageIdentity(0x05, 0x00)
  static let cfgPRT = MessageIdentity(0x06, 0x00)
  static let cfgMSG = MessageIdentity(0x06, 0x01)
  static let cfgRST = MessageIdentity(0x06, 0x04)
  static let cfgRATE = MessageIdentity(0x06, 0x08)
  static let cfgCFG = MessageIdentity(0x06, 0x09)
  static let cfgNAV5 = MessageIdentity(0x06, 0x24)
  static let cfgGNSS = MessageIdentity(0x06, 0x3E)
  static let cfgVALSET = MessageIdentity(0x06, 0x8A)
  static let cfgVALGET = MessageIdentity(0x06, 0x8B)
  static let monVER = MessageIdentity(0x0A, 0x04)
  static let monCOMMS = MessageIdentity(0x0A, 0x36)
  static let secUNIQID = MessageIdentity(0x27, 0x03)
  static let mgaACK = MessageIdentity(0x13, 0x60)
  public static let navPVT = MessageIdentity(0x01, 0x07)
  public static let navDOP = MessageIdentity(0x01, 0x04)
  public static let navSAT = MessageIdentity(0x01, 0x35)
  public static let navEOE = MessageIdentity(0x01, 0x61)
  public static let navSOL = MessageIdentity(0x01, 0x06)
  public static let navPOSLLH = MessageIdentity(0x01, 0x02)
  public static let navVELNED = MessageIdentity(0x01, 0x12)
  public static let navTIMEUTC = MessageIdentity(0x01, 0x21)
  public static let navSVINFO = MessageIdentity(0x01, 0x30)
}
