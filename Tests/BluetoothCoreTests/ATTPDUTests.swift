import BluetoothCore
import CoreTestKit
import Domain
import Testing

struct ATTPDUTests {
    /// Every kind once at least, with its bytes as the specification lays them out.
    private static let samples: [(pdu: ATTPDU, hex: String)] = [
        (.errorResponse(to: 0x10, handle: 0x0031, error: .attributeNotFound), "01 10 3100 0a"),
        (.exchangeMTURequest(mtu: 517), "02 0502"),
        (.exchangeMTUResponse(mtu: 23), "03 1700"),
        (.findInformationRequest(ATTHandleRange(0x1C, 0x1D)), "04 1c00 1d00"),
        (
            .findInformationResponse([
                ATTInformation(handle: 0x1C, type: BluetoothUUID(short: 0x2901)),
                ATTInformation(handle: 0x1D, type: .clientCharacteristicConfiguration),
            ]), "05 01 1c00 0129 1d00 0229"
        ),
        (
            .findInformationResponse([
                ATTInformation(
                    handle: 0x12, type: BluetoothUUID(high: 0x0049_0220_0147_7070, low: 0x4121_01D0_0229_0078))
            ]), "05 02 1200 7800 2902 d001 2141 7070 4701 2002 4900"
        ),
        (.findByTypeValueRequest(.all, type: 0x2800, value: [0xE0, 0xFF]), "06 0100 ffff 0028 e0ff"),
        (.findByTypeValueResponse([ATTHandleRange(0x19, 0x1D)]), "07 1900 1d00"),
        (.readByTypeRequest(.all, type: .characteristic), "08 0100 ffff 0328"),
        (
            .readByTypeRequest(
                ATTHandleRange(0xFFFF, 0xFFFF),
                type: BluetoothUUID(high: 0x0049_0220_0147_7070, low: 0x4121_01D0_0229_0078)),
            "08 ffff ffff 7800 2902 d001 2141 7070 4701 2002 4900"
        ),
        (
            .readByTypeResponse([ATTHandleValue(handle: 0x1A, value: [0x10, 0x1B, 0x00, 0xE4, 0xFF])]),
            "09 07 1a00 10 1b00 e4ff"
        ),
        (.readRequest(handle: 0x1B), "0a 1b00"),
        (.readResponse([]), "0b"),
        (.readResponse([1, 2]), "0b 01 02"),
        (.readBlobRequest(handle: 3, offset: 22), "0c 0300 1600"),
        (.readBlobResponse([9]), "0d 09"),
        (.readMultipleRequest([3, 5]), "0e 0300 0500"),
        (.readMultipleResponse([7]), "0f 07"),
        (.readByGroupTypeRequest(ATTHandleRange(1, 0xFFFF), type: .primaryService), "10 0100 ffff 0028"),
        (
            .readByGroupTypeResponse([
                ATTGroupValue(range: ATTHandleRange(1, 11), value: [0x00, 0x18]),
                ATTGroupValue(range: ATTHandleRange(12, 15), value: [0x01, 0x18]),
            ]), "11 06 0100 0b00 0018 0c00 0f00 0118"
        ),
        (.writeRequest(handle: 0x1D, value: [1, 0]), "12 1d00 01 00"),
        (.writeResponse, "13"),
        (.prepareWriteRequest(handle: 2, offset: 18, value: [4]), "16 0200 1200 04"),
        (.prepareWriteResponse(handle: 2, offset: 18, value: [4]), "17 0200 1200 04"),
        (.executeWriteRequest(isCommitted: true), "18 01"),
        (.executeWriteRequest(isCommitted: false), "18 00"),
        (.executeWriteResponse, "19"),
        (.notification(ATTHandleValue(handle: 0x1B, value: [0xAA, 0x07])), "1b 1b00 aa 07"),
        (.indication(ATTHandleValue(handle: 0x0E, value: [])), "1d 0e00"),
        (.confirmation, "1e"),
        (.readMultipleVariableRequest([3, 5, 7]), "20 0300 0500 0700"),
        (.readMultipleVariableResponse([[1], [], [2, 3]]), "21 0100 01 0000 0200 02 03"),
        (
            .multipleNotification([ATTHandleValue(handle: 3, value: [1]), ATTHandleValue(handle: 5, value: [])]),
            "23 0300 0100 01 0500 0000"
        ),
        (.writeCommand(handle: 0x20, value: [0xF0]), "52 2000 f0"),
        (
            .signedWriteCommand(handle: 0x20, value: [0xF0], signature: Array(1...12)),
            "d2 2000 f0 01 02 03 04 05 06 07 08 09 0a 0b 0c"
        ),
        // A value of no bytes, and a list of two handles, the fewest.
        (
            .signedWriteCommand(handle: 0x20, value: [], signature: Array(1...12)),
            "d2 2000 01 02 03 04 05 06 07 08 09 0a 0b 0c"
        ),
        (.readMultipleVariableRequest([3, 5]), "20 0300 0500"),
    ]

    @Test func everyKind_isWrittenAndReadAsTheSpecificationSays() throws {
        for sample in Self.samples {
            let bytes = try #require(Hex.decode(sample.hex))
            #expect(sample.pdu.bytes == bytes, "\(sample.pdu.opcode)")
            let read = try ATTPDU(bytes)
            #expect(read == sample.pdu)
            #expect(read.opcode.rawValue == bytes[0])
        }
        #expect(Set(Self.samples.map(\.pdu.opcode)) == Set(ATTOpcode.allCases))
    }

    /// No prefix of a PDU traps; one that still can be read is one of a shorter value, and writes back as it was.
    @Test func truncatedPDU_isRefusedOrShorter_neverGuessed() throws {
        for sample in Self.samples {
            let bytes = sample.pdu.bytes
            for length in 0..<bytes.count {
                let prefix = Array(bytes.prefix(length))
                do {
                    let read = try ATTPDU(prefix)
                    // A length inside the PDU says more than there is: allowed for the last value of this kind alone.
                    guard sample.pdu.opcode != .readMultipleVariableResponse else { continue }
                    #expect(read.bytes == prefix, "\(sample.pdu.opcode) cut to \(length)")
                } catch {
                    #expect(length == 0 || error.opcode == bytes[0])
                    #expect(length == 0 || error.description.contains(sample.pdu.opcode.description))
                }
            }
        }
    }

    @Test(arguments: [
        ("05 03 1c00 0129", "Find Information Response has the unknown format 3"),
        ("05 01 1c00 01", "Find Information Response lists 3 bytes as entries of 4"),
        ("09 01 1a", "Read By Type Response lists 1 bytes as entries of 1"),
        ("09 00", "Read By Type Response lists 0 bytes as entries of 0"),
        ("09 07", "Read By Type Response ends after 2 bytes"),
        ("09 07 1a00 10 1b00 e4", "Read By Type Response lists 6 bytes as entries of 7"),
        ("11 03 0100 0b", "Read By Group Type Response lists 3 bytes as entries of 3"),
        ("11 ff 0100 0b00", "Read By Group Type Response lists 4 bytes as entries of 255"),
        ("08 0100 ffff 0328 00", "Read By Type Request lists 3 bytes as entries of 16"),
        ("08 0100 ffff", "Read By Type Request ends after 5 bytes"),
        ("08 0100 ffff 03", "Read By Type Request ends after 6 bytes"),
        ("10 0100 ffff 000102030405060708090a0b0c0d0e", "Read By Group Type Request lists 15 bytes as entries of 16"),
        (
            "10 0100 ffff 000102030405060708090a0b0c0d0e0f10",
            "Read By Group Type Request lists 17 bytes as entries of 16"
        ),
        ("05 01", "Find Information Response ends after 2 bytes"),
        ("05 02 1200 000102030405060708090a0b0c0d0e", "Find Information Response lists 17 bytes as entries of 18"),
        ("07", "Find By Type Value Response ends after 1 bytes"),
        ("07 19", "Find By Type Value Response lists 1 bytes as entries of 4"),
        ("07 1900 1d", "Find By Type Value Response lists 3 bytes as entries of 4"),
        ("0e 0300", "Read Multiple Request ends after 3 bytes"),
        ("0e 0300 05", "Read Multiple Request ends after 4 bytes"),
        ("20 0300 0500 07", "Read Multiple Variable Request lists 5 bytes as entries of 2"),
        ("21", "Read Multiple Variable Response ends after 1 bytes"),
        ("21 01", "Read Multiple Variable Response ends after 2 bytes"),
        ("23", "Multiple Handle Value Notification ends after 1 bytes"),
        ("18 02", "Execute Write Request has the unknown format 2"),
        ("13 00", "Write Response has 2 bytes, too many"),
        ("23 0300 ff00 01", "Multiple Handle Value Notification ends after 6 bytes"),
        ("d2 2000 f0", "Signed Write Command ends after 4 bytes"),
        ("d2 2000 0102030405060708090a0b", "Signed Write Command ends after 14 bytes"),
        ("7f 00", "PDU 0x7F is of an unknown kind"),
        ("", "an empty PDU"),
    ])
    func malformedPDU_isNamed(hex: String, words: String) throws {
        let bytes = try #require(Hex.decode(hex))
        let error = #expect(throws: ATTDecodeError.self) { try ATTPDU(bytes) }
        #expect(error?.description == words)
    }

    @Test func oversizedPDU_isRefused() {
        let longest = [UInt8](repeating: 0x0B, count: ATTPDU.largestMTU)
        #expect((try? ATTPDU(longest)) == .readResponse(Array(longest.dropFirst())))
        #expect(throws: ATTDecodeError(opcode: 0x0B, fault: .tooLong(length: 518))) { try ATTPDU(longest + [0]) }
    }

    /// Any bytes at all end in a PDU that writes back what was read, or in an error. The seed is the message.
    @Test(arguments: 0..<UInt64(300))
    func anyBytes_areReadOrRefused(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        for _ in 0..<100 {
            let length = rng.below(seed.isMultiple(of: 2) ? 40 : 530)
            var bytes = rng.bytes(length)
            if !bytes.isEmpty, seed.isMultiple(of: 3) {
                bytes[0] = ATTOpcode.allCases[rng.below(ATTOpcode.allCases.count)].rawValue
            }
            guard let pdu = try? ATTPDU(bytes) else { continue }
            let again = try? ATTPDU(pdu.bytes)
            #expect(again == pdu, "seed \(seed): \(Hex.encode(bytes))")
        }
    }
}

struct GATTPropertiesTests {
    /// Vol 3 part G 3.3.1.1, from the lowest bit on.
    @Test func properties_areAsTheSpecificationNumbersThem() {
        let all: [GATTProperties] = [
            .broadcast, .read, .writeWithoutResponse, .write, .notify, .indicate, .signedWrite, .extended,
        ]
        #expect(all.map(\.rawValue) == (0..<8).map { 1 << $0 })
    }
}

struct ATTOpcodeTests {
    @Test func response_belongsToEachRequest_andToNothingElse() {
        for opcode in ATTOpcode.allCases {
            #expect((opcode.response != nil) == (opcode.kind == .request), "\(opcode)")
            #expect(opcode.response.map { $0.kind == .response } ?? true)
            #expect(ATTOpcode.isCommand(opcode.rawValue) == (opcode.kind == .command))
        }
        #expect(ATTOpcode.readRequest.response == .readResponse)
        #expect(ATTOpcode.readByGroupTypeRequest.response == .readByGroupTypeResponse)
        #expect(ATTOpcode.executeWriteRequest.response == .executeWriteResponse)
    }

    @Test func names_areDistinct() {
        #expect(Set(ATTOpcode.allCases.map(\.description)).count == ATTOpcode.allCases.count)
    }
}

struct ATTErrorCodeTests {
    @Test func everyCode_comesBackFromAnErrorResponse_withWordsAndItsNumber() throws {
        for raw in UInt8.min...UInt8.max {
            let pdu = ATTPDU.errorResponse(to: 0x0A, handle: 1, error: ATTErrorCode(rawValue: raw))
            #expect(try ATTPDU(pdu.bytes) == pdu)
            let digits = (raw < 16 ? "0" : "") + Hex.encode([raw]).uppercased().drop { $0 == "0" }
            #expect(ATTErrorCode(rawValue: raw).description.hasSuffix(" (ATT error 0x\(raw == 0 ? "00" : digits))"))
        }
    }

    /// Table 3.4 of the specification, and what the supplement adds.
    @Test func origins_areAsTheSpecificationDividesThem() {
        let origins = (UInt8.min...UInt8.max).map { ATTErrorCode(rawValue: $0).origin }
        #expect(origins[0x01...0x13].allSatisfy { $0 == .protocolDefined })
        #expect(origins[0x80...0x9F].allSatisfy { $0 == .application })
        #expect(origins[0xE0...0xFF].allSatisfy { $0 == .commonProfile })
        #expect(origins.filter { $0 == .reserved }.count == 256 - 0x13 - 0x20 - 0x20)
    }

    /// The numbers of table 3.4 and of the supplement, each with what people read.
    @Test func everyName_hasItsNumberAndItsWords() {
        let names: [(ATTErrorCode, UInt8, String)] = [
            (.invalidHandle, 0x01, "there is no such attribute"), (.readNotPermitted, 0x02, "it cannot be read"),
            (.writeNotPermitted, 0x03, "it cannot be written"), (.invalidPDU, 0x04, "the request was malformed"),
            (.insufficientAuthentication, 0x05, "it wants pairing first"),
            (.requestNotSupported, 0x06, "it does not know that request"),
            (.invalidOffset, 0x07, "the offset lies behind the end"),
            (.insufficientAuthorization, 0x08, "it wants an authorisation"),
            (.prepareQueueFull, 0x09, "too many writes are prepared"),
            (.attributeNotFound, 0x0A, "nothing like that was found"),
            (.attributeNotLong, 0x0B, "the value is too short to be read in parts"),
            (.encryptionKeyTooShort, 0x0C, "the encryption key is too short"),
            (.invalidValueLength, 0x0D, "the value has the wrong length"),
            (.unlikelyError, 0x0E, "something went wrong in it"),
            (.insufficientEncryption, 0x0F, "it wants an encrypted link"),
            (.unsupportedGroupType, 0x10, "that is not a grouping attribute"),
            (.insufficientResources, 0x11, "it is out of memory"),
            (.databaseOutOfSync, 0x12, "its attributes have changed"),
            (.valueNotAllowed, 0x13, "the value is not allowed"),
            (.writeRequestRejected, 0xFC, "it rejected the write"),
            (.subscriptionImproperlyConfigured, 0xFD, "the subscription is not configured as it should be"),
            (.procedureInProgress, 0xFE, "it is busy with an earlier request"),
            (.outOfRange, 0xFF, "the value is out of range"),
        ]
        for (code, number, words) in names {
            #expect(code.rawValue == number)
            #expect(code.description.hasPrefix(words + " ("), "\(number)")
            #expect(code.wantsSecurity == [0x05, 0x08, 0x0C, 0x0F].contains(number), "\(number)")
        }
        for (number, words) in [
            (0x00, "it refused for an unknown reason"), (0x14, "it refused for an unknown reason"),
            (0x80, "it refused for a reason of its own"), (0x9F, "it refused for a reason of its own"),
            (0xE0, "it refused for a profile's reason"), (0xA0, "it refused for an unknown reason"),
        ] as [(UInt8, String)] {
            #expect(ATTErrorCode(rawValue: number).description.hasPrefix(words + " ("))
            #expect(!ATTErrorCode(rawValue: number).wantsSecurity)
        }
    }

    @Test func namedCodes_haveWordsOfTheirOwn() {
        let named = (0x01...0x13).map { ATTErrorCode(rawValue: $0) } + (0xFC...0xFF).map { ATTErrorCode(rawValue: $0) }
        let words = named.map { String($0.description.prefix { $0 != "(" }) }
        #expect(Set(words).count == named.count)
        #expect(ATTErrorCode.insufficientAuthentication.wantsSecurity)
        #expect(!ATTErrorCode.attributeNotFound.wantsSecurity)
    }
}

struct BluetoothUUIDTests {
    @Test func shortForm_goesBothWays() {
        let uuid = BluetoothUUID(short: 0xFFE0)
        #expect(uuid.littleEndianBytes == [0xE0, 0xFF])
        #expect(BluetoothUUID(littleEndian: [0xE0, 0xFF]) == uuid)
        #expect(BluetoothUUID(littleEndian: [0xE0, 0xFF, 0, 0]) == uuid)
        #expect(BluetoothUUID(littleEndian: uuid.longLittleEndianBytes) == uuid)
        #expect(uuid.description == "FFE0")
    }

    @Test func longForm_goesBothWays() {
        let bytes: [UInt8] = Array(0..<16)
        let uuid = BluetoothUUID(littleEndian: bytes)
        #expect(uuid?.littleEndianBytes == bytes)
        #expect(uuid?.description == "0F0E0D0C-0B0A-0908-0706-050403020100")
        #expect(BluetoothUUID(short: 0x1_2345_678).description == "12345678-0000-1000-8000-00805F9B34FB")
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func otherLengths_areNoName(length: Int) {
        #expect(BluetoothUUID(littleEndian: [UInt8](repeating: 0, count: length)) == nil)
    }
}
