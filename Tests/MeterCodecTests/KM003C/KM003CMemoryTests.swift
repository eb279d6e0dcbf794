import Cryptography
import Domain
import MeterCodec
import Testing

struct KM003CMemoryTests {
    /// The bytes that the vendor's program and its readers send, and their meaning.
    @Test func request_isTheOneThatMetersKnow() throws {
        let known = "4402010133f8860c0054288cdc7e52729826872dd18b539a39c407d5c063d91102e36a9e"
        #expect(try KM003CMemory.hardware.request(id: 2) == hex(known))
        let frame = try #require(decodedFrames(hex(known), with: KM003CDecoder(side: .both)).first)
        #expect(frame.content.details.contains(FrameDetail("address", .integer(0x420))))
        #expect(frame.content.details.contains(FrameDetail("size", .integer(64))))
    }

    @Test func addresses_areThoseThatAreKnownToBeGood() throws {
        let log = try #require(KM003CLogRange(offset: 192, sampleCount: 521))
        let places: [KM003CMemory] = [.hardware, .firmware, .serial, .hardwareID, .log(log)]
        #expect(places.map(\.address) == [0x420, 0x4420, 0x0300_0C00, 0x4001_0450, 0x9810_00C0])
        #expect(places.map(\.size) == [64, 64, 64, 12, 8336])
    }

    /// A catalogue consists of bytes from outside: it must not lead a read out of the logs.
    @Test(
        arguments: [
            (UInt32(0), 0, nil), (0, -1, nil), (0, 65_536, nil), (UInt32.max, 1, nil), (0xFFFF_FFF0, 65_535, nil),
            (KM003CLogRange.end, 1, nil), (KM003CLogRange.end - 16, 2, nil), (0, 1, 16), (0, 65_535, 1_048_560),
            (KM003CLogRange.end - 16, 1, 16),
        ] as [(UInt32, Int, UInt32?)])
    func range_thatLeavesTheLogs_isNone(offset: UInt32, sampleCount: Int, size: UInt32?) {
        #expect(KM003CLogRange(offset: offset, sampleCount: sampleCount)?.size == size)
    }

    @Test func proof_holdsTheHardwareID_andAsksForTheFirstLevel() throws {
        let own = try hex("000102030405060708090a0b")
        let request = KM003CProof.request(id: 6, hardwareID: own)
        #expect(Array(request.prefix(4)) == [0x4C, 0x06, 0x00, 0x02])
        let plain = try #require(ECBCipher.km003cProof.decrypted(Array(request.dropFirst(4))))
        #expect(plain == [UInt8](repeating: 0, count: 8) + own + [UInt8](repeating: 0, count: 12))
        #expect(KM003CProof.request(id: 6, hardwareID: []).count == 36)
        #expect(KM003CProof.request(id: 6, hardwareID: own + own).count == 36)
    }

    /// The words that both models were seen to send (okhsunrog/km003c-rs; jfessard/km003c-web, tests). 0202 is a
    /// refusal from either; read like a KM003C's own words it would be a level.
    @Test(arguments: [
        (UInt16(0x0201), ModelName.km003c, 0), (0x0203, .km003c, 1), (0x0205, .km003c, 2), (0x0202, .km003c, 0),
        (0x0204, .km003c, 0), (0x0202, .km002c, 0), (0x0204, .km002c, 1), (0x0201, .km002c, 0), (0x0203, .km002c, 1),
    ])
    func grant_isALevel(rawWord: UInt16, model: ModelName, level: Int) {
        #expect(KM003CProof.level(rawWord: rawWord, model: model) == level)
    }

    @Test(arguments: ["4c000102", "4c000202", "4c000302", "4c000402", "4c000502"])
    func answerToAProof_isAMessage_forATransferAlone(head: String) throws {
        let bytes = try hex(head) + [UInt8](repeating: 0xEE, count: 32)
        #expect(decodedFrames(bytes, with: KM003CDecoder(side: .transfer)).count == 1)
        #expect(decodedFrames(bytes, with: KM003CDecoder(side: .meter)).isEmpty)
    }

    @Test func blocks_sayWhatTheMeterIs() throws {
        var device = DeviceInfo()
        let front = [UInt8](repeating: 0xFF, count: 16)
        func texts(_ texts: String...) -> [UInt8] {
            front + texts.flatMap { Array($0.utf8) + [UInt8](repeating: 0, count: 12 - $0.utf8.count) }
        }
        KM003CDeviceBlock.read(.hardware, texts("KM003C", "2.1", "2022.11.7"), into: &device)
        KM003CDeviceBlock.read(.firmware, texts("KM003C", "1.9.5", "2025.1.7"), into: &device)
        KM003CDeviceBlock.read(.serial, Array("007777 ABCDEF 1700000000 \0LYS".utf8), into: &device)
        #expect(device == DeviceInfo(model: .km003c, serial: "007777", firmware: "1.9.5", hardware: "2.1"))

        for length in [0, 16, 20, 39] {
            var cut = DeviceInfo()
            KM003CDeviceBlock.read(.hardware, Array(texts("KM003C", "2.1").prefix(length)), into: &cut)
            #expect(cut.hardware == nil)
        }
        for place in [KM003CMemory.hardware, .firmware] {
            var named = DeviceInfo()
            KM003CDeviceBlock.read(place, texts("KM002C"), into: &named)
            #expect(named == DeviceInfo(model: .km002c))
        }
        KM003CDeviceBlock.read(.serial, [0xFF, 0x41], into: &device)
        #expect(device.serial == "007777")
    }

    @Test func logSample_isVoltsAmperesAndTotals() throws {
        // 9.000000 V, -1.500000 A, 320 000 µAh, 2 000 000 µWh, and the start of another sample.
        let samples = KM003CLogSample.all(in: try hex("40548900" + "a01ce9ff" + "00e20400" + "80841e00" + "40"))
        let reading = try #require(samples.first).reading
        #expect(samples.count == 1)
        #expect(reading[.voltage] == 9)
        #expect(reading[.current] == -1.5)
        #expect(reading[.charge] == 320)
        #expect(reading[.energy] == 2)
    }
}
