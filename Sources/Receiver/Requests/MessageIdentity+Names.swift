// SPDX-License-Identifier: Apache-2.0
import UBX

// The messages of the session by name, as their layouts declare them.
extension MessageIdentity {
  package static let ackACK = AckACK.identity
  package static let ackNAK = AckNAK.identity
  package static let cfgPRT = CfgPRT.identity
  package static let cfgMSG = CfgMSG.identity
  package static let cfgINF = CfgINF.identity
  package static let cfgRST = CfgRST.identity
  package static let cfgRATE = CfgRATE.identity
  package static let cfgCFG = CfgCFG.identity
  package static let cfgNAVX5 = CfgNAVX5.identity
  package static let cfgNAV5 = CfgNAV5.identity
  package static let cfgTP5 = CfgTP5.identity
  package static let cfgGNSS = CfgGNSS.identity
  package static let cfgRXM = CfgRXM.identity
  package static let cfgPM2 = CfgPM2.identity
  package static let cfgPMS = CfgPMS.identity
  package static let cfgBATCH = CfgBATCH.identity
  package static let cfgVALSET = CfgVALSET.identity
  package static let cfgVALGET = CfgVALGET.identity
  package static let monVER = MonVER.identity
  public static let monBATCH = MonBATCH.identity
  package static let logRETRIEVEBATCH = LogRETRIEVEBATCH.identity
  package static let logBATCH = LogBATCH.identity
  package static let logINFO = LogINFO.identity
  package static let logERASE = LogERASE.identity
  package static let logCREATE = LogCREATE.identity
  package static let logRETRIEVE = LogRETRIEVE.identity
  package static let logRETRIEVEPOS = LogRETRIEVEPOS.identity
  package static let logFINDTIME = LogFINDTIME.identity
  package static let cfgLOGFILTER = CfgLOGFILTER.identity
  package static let monCOMMS = MonCOMMS.identity
  package static let secUNIQID = SecUNIQID.identity
  package static let aidINI = AidINI.identity
  package static let aidHUI = AidHUI.identity
  package static let aidALM = AidALM.identity
  package static let aidEPH = AidEPH.identity
  package static let navSTATUS = NavSTATUS.identity
  package static let mgaINI = MgaINI_TIME_UTC.identity
  package static let mgaANO = MgaANO.identity
  package static let mgaDBD = MgaDBD.identity
  package static let mgaACK = MgaACK_DATA0.identity
  public static let navPVT = NavPVT.identity
  package static let navORB = NavORB.identity
  package static let rxmSVSI = RxmSVSI.identity
  public static let navDOP = NavDOP.identity
  public static let navSAT = NavSAT.identity
  public static let navEOE = NavEOE.identity
  public static let navSOL = NavSOL.identity
  public static let navPOSLLH = NavPOSLLH.identity
  public static let navVELNED = NavVELNED.identity
  public static let navTIMELS = NavTIMELS.identity
  public static let navTIMEUTC = NavTIMEUTC.identity
  public static let navSVINFO = NavSVINFO.identity
}
