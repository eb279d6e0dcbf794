import MeterCodec
import Testing

/// Words laid out by hand from the USB PD specification, 6.2.1.1, 6.4.1.2 and 6.4.2.
struct PDMessageTests {
    private func message(_ text: String, sop: UInt8 = 0) throws -> PDMessage {
        PDMessage(sop: sop, bytes: try hex(text))
    }

    @Test func header_holdsTypeRevisionNumberAndCount() throws {
        let header = try #require(message("a161").header)
        #expect(header.kind == .data)
        #expect(header.name == "Source_Capabilities")
        #expect(header.revision == 3)
        #expect(header.id == 0)
        #expect(header.objectCount == 6)
        #expect(PDHeader(type: 1, id: 0, objectCount: 6, isSource: true) == header)
    }

    @Test(arguments: [
        ("4102", "GoodCRC", 1), ("a305", "Accept", 2), ("a607", "PS_RDY", 3), ("8d00", "Soft_Reset", 0),
        ("9000", "Not_Supported", 0),
    ])
    func controlMessage_hasItsName(text: String, name: String, id: Int) throws {
        let header = try #require(message(text).header)
        #expect(header.kind == .control)
        #expect(header.name == name)
        #expect(header.id == id)
    }

    /// All 32 numbers of each kind, reserved ones without a name (Linux, include/linux/usb/pd.h, pd_ctrl_msg_type,
    /// pd_data_msg_type and pd_ext_msg_type; ChromiumOS EC, include/usb_pd.h).
    @Test func everyType_hasTheNameOfTheSpecification() {
        let control =
            ". GoodCRC GotoMin Accept Reject Ping PS_RDY Get_Source_Cap Get_Sink_Cap DR_Swap PR_Swap VCONN_Swap Wait "
            + "Soft_Reset Data_Reset Data_Reset_Complete Not_Supported Get_Source_Cap_Extended Get_Status FR_Swap "
            + "Get_PPS_Status Get_Country_Codes Get_Sink_Cap_Extended Get_Source_Info Get_Revision . . . . . . ."
        let data =
            ". Source_Capabilities Request BIST Sink_Capabilities Battery_Status Alert Get_Country_Info Enter_USB "
            + "EPR_Request EPR_Mode Source_Info Revision . . Vendor_Defined . . . . . . . . . . . . . . . ."
        let extended =
            ". Source_Capabilities_Extended Status Get_Battery_Cap Get_Battery_Status Battery_Capabilities "
            + "Get_Manufacturer_Info Manufacturer_Info Security_Request Security_Response Firmware_Update_Request "
            + "Firmware_Update_Response PPS_Status Country_Info Country_Codes Sink_Capabilities_Extended Extended_Control "
            + "EPR_Source_Capabilities EPR_Sink_Capabilities . . . . . . . . . . . Vendor_Defined_Extended ."
        for (kind, count, isExtended, names) in [
            ("control", 0, false, control), ("data", 1, false, data), ("data", 7, false, data),
            ("extended", 0, true, extended),
            ("extended", 3, true, extended),
        ] {
            let names = names.split(separator: " ").map(String.init)
            #expect(names.count == 32)
            for type in UInt8(0)..<32 {
                let header = PDHeader(
                    type: type, id: 0, objectCount: count, isSource: false, isExtended: isExtended)
                let name = names[Int(type)] == "." ? nil : names[Int(type)]
                #expect(header.kind.rawValue == kind)
                #expect(header.name == name, "\(kind) \(type)")
                #expect(header.title == name ?? "\(kind) message \(type)")
                #expect(header.isAcknowledgement == (kind == "control" && type == 1))
            }
        }
    }

    /// Each field has its bits and no others.
    @Test func header_hasItsFieldsInTheirBits() {
        for (word, type, revision, id, count, isExtended, isFromSource) in [
            (0x001F, 31, 1, 0, 0, false, false), (0x0020, 0, 1, 0, 0, false, false), (0x0040, 0, 2, 0, 0, false, false),
            (0x0080, 0, 3, 0, 0, false, false), (0x00C0, 0, nil, 0, 0, false, false), (0x0100, 0, 1, 0, 0, false, true),
            (0x0200, 0, 1, 1, 0, false, false), (0x0E00, 0, 1, 7, 0, false, false), (0x1000, 0, 1, 0, 1, false, false),
            (0x7000, 0, 1, 0, 7, false, false), (0x8000, 0, 1, 0, 0, true, false),
        ] as [(UInt16, UInt8, Int?, Int, Int, Bool, Bool)] {
            let header = PDHeader(word: word)
            #expect(header.type == type && header.revision == revision && header.id == id, "\(word)")
            #expect(header.objectCount == count && header.isExtended == isExtended, "\(word)")
            #expect(header.isFromSourceOrPlug == isFromSource, "\(word)")
        }
        #expect(PDHeader(type: 31, id: 7, objectCount: 7, isSource: true, revision: 3, isExtended: true).word == 0xFFBF)
        #expect(PDHeader(type: 32, id: 8, objectCount: 8, isSource: false, revision: 1).word == 0)
        #expect(PDHeader(type: 0, id: 0, objectCount: 0, isSource: false, revision: 0).word == 0)
        #expect(PDHeader(type: 0, id: 0, objectCount: 0, isSource: false, revision: 2).word == 0x0040)
        #expect(PDHeader(type: 0, id: 0, objectCount: 0, isSource: false).word == 0x0080)
        #expect(PDHeader(type: 0, id: 0, objectCount: 0, isSource: true, revision: 1).word == 0x0120)
    }

    @Test(
        arguments: [
            // 5 V 3 A with flags above; 20 V 2.25 A.
            (0x0801_912C, "5 V 3 A"), (0x0006_40E1, "20 V 2.25 A"),
            // 3.3 to 11 V 3 A, 3.3 to 21 V 5 A.
            (0xC0DC_213C, "PPS 3.3-11 V 3 A"), (0xC1A4_2164, "PPS 3.3-21 V 5 A"),
            // 5 to 12 V: 2 A, 27 W.
            (0x8F01_90C8, "variable 5-12 V 2 A"),
            (0x4F01_906C, "battery 5-12 V 27 W"),
            // 15 to 28 V, 140 W.
            (0xD230_968C, "EPR AVS 15-28 V 140 W"),
            (0xE004_B0E1, "AVS 15 V 3 A, 20 V 2.25 A"),
            (0xF000_0000, "object f0000000"),
            // Upside down.
            (0x8643_C000, "object 8643c000"),
        ] as [(UInt32, String)])
    func offer_readsAsPeopleWriteIt(word: UInt32, text: String) {
        #expect(PDSourceObject(word: word).description == text)
    }

    @Test func capabilities_areOffersInOrder() throws {
        let message = try message("a1332c9101082cd102003c21dcc0")
        #expect(message.sourceCapabilities.map(\.description) == ["5 V 3 A", "9 V 3 A", "PPS 3.3-11 V 3 A"])
        #expect(
            message.description
                == "SOP Source_Capabilities #1: 5 V 3 A, 9 V 3 A, PPS 3.3-11 V 3 A (does not run from a battery)")
    }

    @Test func extendedMessage_saysWhichChunkItIs() throws {
        let chunk = try #require(message("b1fd2880aabb").chunk)
        #expect(chunk == PDMessage.Chunk(number: 0, isRequest: false, dataSize: 40))
        #expect(try message("b1cf2888").chunk?.number == 1)
        #expect(try message("b19f008c").chunk == PDMessage.Chunk(number: 1, isRequest: true, dataSize: 0))
        #expect(
            try message("b1fd2880aabb", sop: 1).description
                == "SOP' EPR_Source_Capabilities #6: chunk 0 of 40 bytes, aabb")
    }

    @Test(arguments: ["", "a1", "a161", "a1612c", "a1612c9101", "b1fd", "b1fd28", "8210dc70"])
    func cutMessage_givesWhatIsThere(text: String) throws {
        let message = try message(text)
        #expect(!message.description.isEmpty)
        #expect(message.objects.count <= 1)
    }

    // MARK: What is agreed upon

    private func agreed(after messages: [String]) throws -> PDContract? {
        var negotiation = PDNegotiation()
        for text in messages { negotiation.heard(try message(text)) }
        return negotiation.contract
    }

    private let offers = "a1332c9101082cd102003c21dcc0"
    /// A request for 2.2 A of the second offer, which is 9 V.
    private let asksForNine = "8210dc700323"

    @Test func contract_isWhatWasAskedForAndAccepted() throws {
        #expect(try agreed(after: [offers, asksForNine]) == nil)
        let agreed = try agreed(after: [offers, "4102", asksForNine, "2101", "a305"])
        let contract = try #require(agreed)
        #expect(contract.voltage_mV == 9000)
        #expect(contract.current_mA == 2200)
        #expect(contract.position == 2)
        #expect(contract.description == "9 V 2.2 A of object 2, 9 V 3 A")
    }

    /// A request for 5.5 V (275 steps of 20 mV) and 1.5 A (30 of 50 mA) of the third offer.
    @Test func contract_ofAProgrammableOffer_hasTheVoltageAskedFor() throws {
        let request = UInt32(3 << 28 | 275 << 9 | 30)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: request >> UInt32(8 * $0)) }
        var negotiation = PDNegotiation()
        negotiation.heard(try message(offers))
        negotiation.heard(PDMessage(bytes: try hex("8210") + bytes))
        negotiation.heard(try message("a305"))
        #expect(negotiation.contract?.voltage_mV == 5500)
        #expect(negotiation.contract?.current_mA == 1500)
    }

    /// A request for 5 A of an object that it repeats: 28 V 5 A, the eighth.
    @Test func contract_inTheExtendedRange_isAboutTheObjectRepeated() throws {
        let request = UInt32(8 << 28 | 500 << 10 | 500)
        let repeated = UInt32(560 << 10 | 500)
        let bytes = [request, repeated].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) }
        }
        var negotiation = PDNegotiation()
        negotiation.heard(PDMessage(bytes: try hex("8920") + bytes))
        negotiation.heard(try message("a305"))
        #expect(negotiation.contract?.description == "28 V 5 A of object 8, 28 V 5 A")
    }

    @Test func accept_ofNothingAskedFor_changesNothing() throws {
        let nine = [offers, asksForNine, "a305"]
        #expect(try agreed(after: [offers, "a305"]) == nil)
        #expect(try agreed(after: nine + [asksForNine, "a405", "a305"]) == agreed(after: nine))
        #expect(try agreed(after: [offers, "8210dc700393", "a305"]) == nil, "there is no ninth")
        var negotiation = PDNegotiation()
        for text in nine { negotiation.heard(try message(text, sop: 1)) }
        #expect(negotiation.contract == nil, "a cable agrees on nothing")
    }
}
