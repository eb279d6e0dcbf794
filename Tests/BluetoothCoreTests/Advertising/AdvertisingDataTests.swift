import BluetoothCore
import CoreTestKit
import Domain
import Testing

struct AdvertisingDataTests {
    @Test func structures_areRead() {
        let data = AdvertisingData(
            [2, 0x01, 6, 3, 0x03, 0xE0, 0xFF, 2, 0x0A, 0xF4, 4, 0x0D, 0x04, 0x05, 0x1F, 6, 0x09] + Array("UM25C".utf8))
        #expect(data.flags == 6)
        #expect(data.services == [BluetoothUUID(short: 0xFFE0)])
        #expect(data.transmitPower == -12)
        #expect(data.deviceClass == 0x1F0504)
        #expect(data.name == DeviceName("UM25C"))
        #expect(!data.isTruncated)
    }

    @Test func servicesOfEveryWidth_areOne() {
        let short = AdvertisingData([3, 0x02, 0xE0, 0xFF])
        let middle = AdvertisingData([5, 0x05, 0xE0, 0xFF, 0, 0])
        let long = AdvertisingData(
            [17, 0x07, 0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0xE0, 0xFF, 0, 0])
        #expect(short.services == [BluetoothUUID(short: 0xFFE0)])
        #expect(middle.services == short.services)
        #expect(long.services == short.services)
    }

    @Test func structureThatClaimsTooMuch_endsTheData_whatCameBeforeCounts() {
        let data = AdvertisingData([3, 0x03, 0xE0, 0xFF, 9, 0x09, 0x55])
        #expect(data.isTruncated)
        #expect(data.services.count == 1)
        #expect(data.name == nil)
    }

    @Test func zeroLength_endsTheData() {
        let data = AdvertisingData([2, 0x01, 6, 0, 3, 0x03, 0xE0, 0xFF])
        #expect(data.services.isEmpty)
        #expect(!data.isTruncated)
    }

    @Test func emptyStructures_meanNothing() {
        let data = AdvertisingData([1, 0x01, 1, 0x0A, 1, 0x09, 2, 0x03, 0xE0, 1, 0x07])
        #expect(data == AdvertisingData([UInt8]()))
    }

    @Test func completeName_winsOverAShortenedOne_whicheverComesFirst() {
        let after = AdvertisingData([4, 0x08] + Array("UM2".utf8) + [6, 0x09] + Array("UM25C".utf8))
        let before = AdvertisingData([6, 0x09] + Array("UM25C".utf8) + [4, 0x08] + Array("UM2".utf8))
        #expect(after.name == DeviceName("UM25C"))
        #expect(before.name == DeviceName("UM25C"))
    }

    @Test func name_losesWhatWouldMoveACursor_andItsPadding() {
        let data = AdvertisingData([12, 0x09] + Array(" U\u{1B}[2JM\r\n".utf8) + [0, 0x41])
        #expect(data.name?.text == "U[2JM")
        #expect(AdvertisingData([3, 0x09, 0, 0x41]).name == nil)
    }

    @Test func name_thatIsNoUTF8_isStillAName() {
        #expect(AdvertisingData([3, 0x09, 0xFF, 0x41]).name?.text == "\u{FFFD}A")
    }

    /// The whole list and a part of it, of each width (Assigned Numbers 2.3: 0x02 to 0x07).
    @Test func services_areReadFromEachType() {
        let long: [UInt8] = [0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0xE0, 0xFF, 0, 0]
        for (type, body) in [
            (UInt8(0x02), [0xE0, 0xFF]), (0x03, [0xE0, 0xFF]), (0x04, [0xE0, 0xFF, 0, 0]), (0x05, [0xE0, 0xFF, 0, 0]),
            (0x06, long), (0x07, long),
        ] as [(UInt8, [UInt8])] {
            let data = AdvertisingData([UInt8(body.count + 1), type] + body)
            #expect(data.services == [BluetoothUUID(short: 0xFFE0)], "type \(type)")
        }
    }

    @Test func services_areNotKeptWithoutEnd() {
        let many = (0..<200).flatMap { number -> [UInt8] in [3, 0x03, UInt8(number), 0x18] }
        #expect(AdvertisingData(many).services.count == AdvertisingData.servicesMax)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func anyBytes_areReadOrCutOff(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        let bytes = (0..<rng.below(64)).map { _ in UInt8(rng.below(rng.below(2) == 0 ? 32 : 256)) }
        let data = AdvertisingData(bytes)
        #expect(data.services.count <= AdvertisingData.servicesMax)
        #expect(data.name.map { $0.text.utf8.count <= 3 * bytes.count } ?? true)
    }
}
