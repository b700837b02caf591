// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UBX

/// Bytes and lengths distinguish layouts of the same class and id; a writer writes its own.
@Suite("A writer that sets nothing writes its own message")
struct ConditionTests {
  @Test("Every message that has a condition is recognised as itself")
  func recognised() {
    var checked = 0
    func check<M: Message & ~Escapable>(
      _: M.Type, orRather other: MessageLayout? = nil, _ write: (inout MutableRawSpan) -> Int
    ) {
      checked += 1
      let bytes = written(room: 9000, write)
      guard let frame = UBXFrame(bytes.raw) else { return #expect(Bool(false), "\(M.layout.name): no frame") }
      let isItself = frame.message(M.self) != nil
      #expect(isItself, "\(M.layout.name) \(M.layout.conditions)")
      let found = MessageLayout.of(frame)
      #expect(found.map(Self.description) == Self.description(other ?? M.layout))
    }
    check(AidALMPoll.self) { AidALMPoll.encode(into: &$0) { _ in } }
    check(AidEPHPoll.self) { AidEPHPoll.encode(into: &$0) { _ in } }
    check(AidALPSRVStore.self) { AidALPSRVStore.encode(into: &$0, length: AidALPSRVStore.minimumLength) { _ in } }
    check(AidALPSRV.self) { AidALPSRV.encode(into: &$0) { _ in } }
    check(AidAOPPoll.self) { AidAOPPoll.encode(into: &$0) { _ in } }
    check(AidALP.self) { AidALP.encode(into: &$0) { _ in } }
    check(AidALPAck.self) { AidALPAck.encode(into: &$0) { _ in } }
    // Neither bytes nor length distinguish the two: the first is found.
    check(AidALPEnd.self, orRather: AidALPAck.layout) { AidALPEnd.encode(into: &$0) { _ in } }
    check(CfgPRT_DDC.self) { CfgPRT_DDC.encode(into: &$0) { _ in } }
    check(CfgPRT_USB.self) { CfgPRT_USB.encode(into: &$0) { _ in } }
    check(CfgPRT_SPI.self) { CfgPRT_SPI.encode(into: &$0) { _ in } }
    check(CfgPRTPoll.self) { CfgPRTPoll.encode(into: &$0) { _ in } }
    check(CfgMSG.self) { CfgMSG.encode(into: &$0) { _ in } }
    check(CfgMSGCurrentPort.self) { CfgMSGCurrentPort.encode(into: &$0) { _ in } }
    check(CfgMSGPoll.self) { CfgMSGPoll.encode(into: &$0) { _ in } }
    check(CfgINFPoll.self) { CfgINFPoll.encode(into: &$0) { _ in } }
    check(CfgDAT.self) { CfgDAT.encode(into: &$0) { _ in } }
    check(CfgDATUser.self) { CfgDATUser.encode(into: &$0) { _ in } }
    check(CfgDATStandard.self) { CfgDATStandard.encode(into: &$0) { _ in } }
    check(CfgNMEA_Short.self) { CfgNMEA_Short.encode(into: &$0) { _ in } }
    check(CfgNMEA_V0.self) { CfgNMEA_V0.encode(into: &$0) { _ in } }
    check(CfgNMEA.self) { CfgNMEA.encode(into: &$0) { _ in } }
    check(CfgNAVX5_V3.self) { CfgNAVX5_V3.encode(into: &$0) { _ in } }
    check(CfgTP5_V0.self) { CfgTP5_V0.encode(into: &$0) { _ in } }
    check(CfgTP5Poll.self) { CfgTP5Poll.encode(into: &$0) { _ in } }
    check(CfgPM2_V1.self) { CfgPM2_V1.encode(into: &$0) { _ in } }
    check(CfgVALGET.self) { CfgVALGET.encode(into: &$0, length: CfgVALGET.minimumLength) { _ in } }
    check(CfgVALGETPoll.self) { CfgVALGETPoll.encode(into: &$0, length: CfgVALGETPoll.minimumLength) { _ in } }
    check(MgaGPS_EPH.self) { MgaGPS_EPH.encode(into: &$0) { _ in } }
    check(MgaGPS_ALM.self) { MgaGPS_ALM.encode(into: &$0) { _ in } }
    check(MgaGPS_HEALTH.self) { MgaGPS_HEALTH.encode(into: &$0) { _ in } }
    check(MgaGPS_UTC.self) { MgaGPS_UTC.encode(into: &$0) { _ in } }
    check(MgaGPS_IONO.self) { MgaGPS_IONO.encode(into: &$0) { _ in } }
    check(MgaGAL_EPH.self) { MgaGAL_EPH.encode(into: &$0) { _ in } }
    check(MgaGAL_ALM.self) { MgaGAL_ALM.encode(into: &$0) { _ in } }
    check(MgaGAL_TIMEOFFSET.self) { MgaGAL_TIMEOFFSET.encode(into: &$0) { _ in } }
    check(MgaGAL_UTC.self) { MgaGAL_UTC.encode(into: &$0) { _ in } }
    check(MgaGAL_OSNMA_PUBKEY.self) { MgaGAL_OSNMA_PUBKEY.encode(into: &$0) { _ in } }
    check(MgaGAL_OSNMA_MERKLE.self) { MgaGAL_OSNMA_MERKLE.encode(into: &$0) { _ in } }
    check(MgaBDS_EPH.self) { MgaBDS_EPH.encode(into: &$0) { _ in } }
    check(MgaBDS_ALM.self) { MgaBDS_ALM.encode(into: &$0) { _ in } }
    check(MgaBDS_HEALTH.self) { MgaBDS_HEALTH.encode(into: &$0) { _ in } }
    check(MgaBDS_UTC.self) { MgaBDS_UTC.encode(into: &$0) { _ in } }
    check(MgaBDS_IONO.self) { MgaBDS_IONO.encode(into: &$0) { _ in } }
    check(MgaQZSS_EPH.self) { MgaQZSS_EPH.encode(into: &$0) { _ in } }
    check(MgaQZSS_ALM.self) { MgaQZSS_ALM.encode(into: &$0) { _ in } }
    check(MgaQZSS_HEALTH.self) { MgaQZSS_HEALTH.encode(into: &$0) { _ in } }
    check(MgaGLO_EPH.self) { MgaGLO_EPH.encode(into: &$0) { _ in } }
    check(MgaGLO_ALM.self) { MgaGLO_ALM.encode(into: &$0) { _ in } }
    check(MgaGLO_TIMEOFFSET.self) { MgaGLO_TIMEOFFSET.encode(into: &$0) { _ in } }
    check(MgaSF.self) { MgaSF.encode(into: &$0) { _ in } }
    check(MgaSF_INI.self) { MgaSF_INI.encode(into: &$0, length: MgaSF_INI.minimumLength) { _ in } }
    check(MgaSF_INI2.self) { MgaSF_INI2.encode(into: &$0) { _ in } }
    check(MgaANO.self) { MgaANO.encode(into: &$0) { _ in } }
    check(MgaFLASH_ACK.self) { MgaFLASH_ACK.encode(into: &$0) { _ in } }
    check(MgaFLASH_DATA.self) { MgaFLASH_DATA.encode(into: &$0, length: MgaFLASH_DATA.minimumLength) { _ in } }
    check(MgaFLASH_STOP.self) { MgaFLASH_STOP.encode(into: &$0) { _ in } }
    check(MgaINI_POS_XYZ.self) { MgaINI_POS_XYZ.encode(into: &$0) { _ in } }
    check(MgaINI_POS_LLH.self) { MgaINI_POS_LLH.encode(into: &$0) { _ in } }
    check(MgaINI_TIME_UTC.self) { MgaINI_TIME_UTC.encode(into: &$0) { _ in } }
    check(MgaINI_TIME_GNSS.self) { MgaINI_TIME_GNSS.encode(into: &$0) { _ in } }
    check(MgaINI_CLKD.self) { MgaINI_CLKD.encode(into: &$0) { _ in } }
    check(MgaINI_FREQ.self) { MgaINI_FREQ.encode(into: &$0) { _ in } }
    check(MgaINI_EOP.self) { MgaINI_EOP.encode(into: &$0) { _ in } }
    check(MgaINI_ATT.self) { MgaINI_ATT.encode(into: &$0) { _ in } }
    check(MonHW.self) { MonHW.encode(into: &$0) { _ in } }
    check(MonHW_M6.self) { MonHW_M6.encode(into: &$0) { _ in } }
    check(MonRF_Compact.self) { MonRF_Compact.encode(into: &$0) { _ in } }
    check(NavAOPSTATUS.self) { NavAOPSTATUS.encode(into: &$0) { _ in } }
    check(NavAOPSTATUS_M6.self) { NavAOPSTATUS_M6.encode(into: &$0) { _ in } }
    check(NavDAHEADING.self) { NavDAHEADING.encode(into: &$0) { _ in } }
    check(NavDAHEADING_HP.self) { NavDAHEADING_HP.encode(into: &$0) { _ in } }
    check(NavRELPOSNED.self) { NavRELPOSNED.encode(into: &$0) { _ in } }
    check(NavRELPOSNED_V0.self) { NavRELPOSNED_V0.encode(into: &$0) { _ in } }
    check(RxmALMPoll.self) { RxmALMPoll.encode(into: &$0) { _ in } }
    check(RxmEPHPoll.self) { RxmEPHPoll.encode(into: &$0) { _ in } }
    check(RxmPMP.self) { RxmPMP.encode(into: &$0, length: RxmPMP.minimumLength) { _ in } }
    check(RxmPMP_V0.self) { RxmPMP_V0.encode(into: &$0) { _ in } }
    check(RxmPMREQ.self) { RxmPMREQ.encode(into: &$0) { _ in } }
    check(RxmPMREQ_S.self) { RxmPMREQ_S.encode(into: &$0) { _ in } }
    check(RxmRLM_S.self) { RxmRLM_S.encode(into: &$0) { _ in } }
    check(RxmRLM_L.self) { RxmRLM_L.encode(into: &$0) { _ in } }
    check(SecOSNMA.self) { SecOSNMA.encode(into: &$0, length: SecOSNMA.minimumLength) { _ in } }
    check(SecOSNMA_V2.self) { SecOSNMA_V2.encode(into: &$0, length: SecOSNMA_V2.minimumLength) { _ in } }
    check(SecSIG.self) { SecSIG.encode(into: &$0, length: SecSIG.minimumLength) { _ in } }
    check(SecSIG_V1.self) { SecSIG_V1.encode(into: &$0) { _ in } }
    check(SecUNIQID.self) { SecUNIQID.encode(into: &$0) { _ in } }
    check(SecUNIQID_V1.self) { SecUNIQID_V1.encode(into: &$0) { _ in } }
    check(TimVCOCAL.self) { TimVCOCAL.encode(into: &$0) { _ in } }
    check(TimVCOCAL_Start.self) { TimVCOCAL_Start.encode(into: &$0) { _ in } }
    check(TimVCOCAL_Stop.self) { TimVCOCAL_Stop.encode(into: &$0) { _ in } }
    check(UpdSOS.self) { UpdSOS.encode(into: &$0) { _ in } }
    check(UpdSOS_Command.self) { UpdSOS_Command.encode(into: &$0) { _ in } }
    #expect(checked == MessageLayout.all.filter { !$0.conditions.isEmpty }.count)
  }

  private static func description(_ layout: MessageLayout) -> String {
    "\(layout.name) \(layout.conditions) \(layout.directions)"
  }

  @Test("A body overwrites also the fields that distinguish its layout from others")
  func overwritten() {
    let time = written { MgaINI_TIME_UTC.encode(into: &$0) { $0.year(2026) } }
    #expect(payload(of: time)?.first == 0x10)
    let other = written { MgaINI_TIME_UTC.encode(into: &$0) { $0.type(0x11) } }
    #expect(payload(of: other)?.first == 0x11)
  }

  @Test("A length that the layout has not is refused")
  func length() async {
    await #expect(processExitsWith: .failure) {
      _ = written { CfgMSGPoll.encode(into: &$0, length: 3) { _ in } }
    }
  }
}
