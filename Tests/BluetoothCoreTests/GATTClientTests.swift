import BluetoothCore
import CoreTestKit
import Domain
import Testing

struct GATTClientTests {
    /// Plays one operation against scripted answers and keeps the conversation.
    private struct Play {
        var client = GATTClient()
        var lines: [Line] = []
        var outcome: GATTClient.Outcome?

        /// What was sent, in hex.
        var sent: [String] { lines.compactMap { if case .sent(let hex) = $0 { hex } else { nil } } }

        /// The code of the request that an operation begins with, in hex.
        static func request(of operation: GATTClient.Operation) -> String? {
            var client = GATTClient()
            _ = client.begin(operation)
            return client.nextPDU(at: .origin).map { Hex.encode([$0.opcode.rawValue]) }
        }

        /// - Parameter answers: taken one for each request, in hex; the operation stays unfinished where they run out.
        mutating func run(_ operation: GATTClient.Operation, answers: [String]) throws {
            var answers = answers[...]
            outcome = nil
            if case .finished(let result) = client.begin(operation) { outcome = result }
            while let pdu = client.nextPDU(at: .origin) {
                lines.append(.sent(Hex.encode(pdu.bytes)))
                guard pdu.opcode.kind == .request, let answer = answers.popFirst() else { continue }
                lines.append(.received(answer))
                let packet = try #require(Hex.decode(answer))
                if case .finished(let result) = client.received(packet) { outcome = result }
            }
        }
    }

    // MARK: Transcripts

    @Test func services_areAskedForUntilThereAreNoMore() throws {
        var play = Play()
        try play.run(
            .discoverServices, answers: ["1106 0100 0b00 0018 0c00 0f00 0118", "1106 1900 1d00 e0ff", "0110 1e00 0a"])
        #expect(
            play.lines == [
                .sent("100100ffff0028"), .received("1106 0100 0b00 0018 0c00 0f00 0118"),
                .sent("101000ffff0028"), .received("1106 1900 1d00 e0ff"),
                .sent("101e00ffff0028"), .received("0110 1e00 0a"),
            ])
        #expect(play.outcome == .done)
        #expect(play.client.database.services.map(\.uuid.description) == ["1800", "1801", "FFE0"])
        #expect(play.client.database.services.map(\.range.last) == [11, 15, 29])
    }

    /// The FNB58's own attributes 19h to 21h, as its module lists them.
    @Test func characteristicsAndDescriptors_areFoundWithTheirEnds() throws {
        var play = Play()
        try play.run(.discoverServices, answers: ["1106 1900 1d00 e0ff", "0110 1e00 0a"])
        try play.run(.discoverCharacteristics(service: 0x19), answers: ["0907 1a00 101b00e4ff", "0108 1c00 0a"])
        try play.run(.discoverDescriptors(characteristic: 0x1A), answers: ["0501 1c00 0129 1d00 0229"])

        #expect(play.outcome == .done)
        #expect(
            play.lines.suffix(6).map(\.description) == [
                "> 081a001d000328", "< 0907 1a00 101b00e4ff", "> 081c001d000328", "< 0108 1c00 0a",
                "> 041c001d00", "< 0501 1c00 0129 1d00 0229",
            ])
        let found = try #require(
            play.client.database.characteristic(BluetoothUUID(short: 0xFFE4), of: BluetoothUUID(short: 0xFFE0)))
        #expect(found.properties == [.notify])
        #expect(found.value == 0x1B)
        #expect(found.end == 0x1D)
        #expect(found.subscription == 0x1D)
    }

    @Test func characteristic_endsWhereTheNextBegins() throws {
        var play = Play()
        try play.run(.discoverServices, answers: ["1106 0100 ffff e0ff"])
        try play.run(
            .discoverCharacteristics(service: 1),
            answers: ["0907 0200 120300e1ff", "0915 0500 0c0600 000102030405060708090a0b0c0d0e0f", "0108 0700 0a"])
        #expect(play.outcome == .done)
        let found = play.client.database.services[0].characteristics
        #expect(found.map(\.end) == [4, 0xFFFF])
        #expect(found[1].uuid.short == nil)
    }

    @Test func longValue_isReadInParts() throws {
        var play = Play()
        let full = String(repeating: "ab", count: 22)
        try play.run(.read(3), answers: ["0b" + full, "0d" + full, "0d0102"])
        #expect(
            play.sent == ["0a0300", "0c03001600", "0c03002c00"])
        #expect(play.outcome == .value([UInt8](repeating: 0xAB, count: 44) + [1, 2]))
    }

    @Test(arguments: ["010c0300 07", "010c0300 0b", "010c0300 06"])
    func valueThatEndsWithItsPacket_isWhole(refusal: String) throws {
        var play = Play()
        try play.run(.read(3), answers: ["0b" + String(repeating: "ab", count: 22), refusal])
        #expect(play.outcome == .value([UInt8](repeating: 0xAB, count: 22)))
    }

    @Test func subscriptionAndWrites() throws {
        var play = Play()
        try play.run(.subscribe(0x1D, .notifications), answers: ["13"])
        try play.run(.write(0x20, [0xF0]), answers: ["0112 2000 03"])
        #expect(play.outcome == .failed(.refused(.writeNotPermitted)))
        #expect(play.lines.map(\.description) == ["> 121d000100", "< 13", "> 122000f0", "< 0112 2000 03"])
    }

    @Test func mtu_isExchangedOnce() throws {
        var play = Play()
        try play.run(.exchangeMTU, answers: ["03 b900"])
        #expect(play.outcome == .done)
        #expect(play.client.mtu == 185)
        #expect(play.lines.first == .sent("020502"))
    }

    // MARK: One at a time

    @Test func secondOperation_isTurnedAway() {
        var client = GATTClient()
        #expect(client.begin(.read(1)) == .started)
        #expect(client.begin(.read(2)) == .busy)
    }

    @Test func silence_endsTheOperation_andAllLaterOnes() {
        var client = GATTClient()
        _ = client.begin(.read(1))
        _ = client.nextPDU(at: .origin)
        #expect(client.woke(at: .seconds(29)) == .none)
        #expect(client.woke(at: .seconds(30)) == .timedOut)
        #expect(client.begin(.read(1)) == .finished(.failed(.timedOut)))
    }

    @Test func whatWasNeverFound_isNotAskedAbout() {
        var client = GATTClient()
        let unknown = GATTClient.OnBegin.finished(.failed(.misbehaved(.unknownAttribute(9))))
        #expect(client.begin(.discoverCharacteristics(service: 9)) == unknown)
        #expect(client.begin(.discoverDescriptors(characteristic: 9)) == unknown)
    }

    // MARK: The second time

    /// What was found before is found anew, and no list is added to.
    @Test func discoveryAgain_findsTheSame() throws {
        var play = Play()
        for _ in 0..<2 {
            try play.run(.discoverServices, answers: ["1106 1900 1d00 e0ff", "0110 1e00 0a"])
            for _ in 0..<2 {
                try play.run(
                    .discoverCharacteristics(service: 0x19), answers: ["0907 1a00 101b00e4ff", "0108 1c00 0a"])
                for _ in 0..<2 {
                    try play.run(.discoverDescriptors(characteristic: 0x1A), answers: ["0501 1c00 0129 1d00 0229"])
                    #expect(play.outcome == .done)
                }
            }
            #expect(play.client.database.services.count == 1)
            #expect(play.client.database.services[0].characteristics.count == 1)
            #expect(play.client.database.services[0].characteristics[0].descriptors.count == 2)
        }
    }

    /// A refusal ends an operation and nothing else.
    @Test func refusedOperation_isFollowedByOthers() throws {
        var play = Play()
        for operation in [
            GATTClient.Operation.exchangeMTU, .discoverServices, .read(3), .write(3, [1]), .subscribe(3, .indications),
        ] {
            let request = try #require(Play.request(of: operation))
            try play.run(operation, answers: ["01\(request)0300 05"])
            #expect(play.outcome == .failed(.refused(.insufficientAuthentication)), "\(operation)")
            #expect(!play.client.isBusy)
        }
        // The end of a list ends no other operation well.
        for operation in [GATTClient.Operation.read(3), .write(3, [1])] {
            let request = try #require(Play.request(of: operation))
            try play.run(operation, answers: ["01\(request)0300 0a"])
            #expect(play.outcome == .failed(.refused(.attributeNotFound)), "\(operation)")
        }
        try play.run(.read(3), answers: ["0b07"])
        #expect(play.outcome == .value([7]))
    }

    @Test func descriptorsAndCharacteristics_mayBeRefused() throws {
        var play = Play()
        try play.run(.discoverServices, answers: ["1106 1900 1d00 e0ff", "0110 1e00 0a"])
        try play.run(.discoverCharacteristics(service: 0x19), answers: ["0108 1a00 0f"])
        #expect(play.outcome == .failed(.refused(.insufficientEncryption)))
        try play.run(.discoverCharacteristics(service: 0x19), answers: ["0907 1a00 101b00e4ff", "0108 1c00 0a"])
        try play.run(.discoverDescriptors(characteristic: 0x1A), answers: ["0104 1c00 0f"])
        #expect(play.outcome == .failed(.refused(.insufficientEncryption)))
        try play.run(.discoverDescriptors(characteristic: 0x1A), answers: ["0104 1c00 0a"])
        #expect(play.outcome == .done)
    }

    // MARK: Ends

    /// The list of services ends at 0xFFFF, the last handle: nothing is asked behind it, and something before it.
    @Test(arguments: [
        (["1106 1900 ffff e0ff"], ["100100ffff0028"]),
        (["1106 1900 feff e0ff", "1106 ffff ffff 0118"], ["100100ffff0028", "10ffffffff0028"]),
        (["1106 1900 feff e0ff", "0110 ffff 0a"], ["100100ffff0028", "10ffffffff0028"]),
    ])
    func services_reachToTheLastHandle(answers: [String], questions: [String]) throws {
        var play = Play()
        try play.run(.discoverServices, answers: answers)
        #expect(play.outcome == .done)
        #expect(play.sent == questions)
    }

    /// A list reaches to the last handle of what was asked for, and what ends there is not asked about once more.
    @Test(
        arguments: [
            // A service of one handle has no room for a characteristic, and a value at the end none for a descriptor.
            ("0500 0500", [], [], []),
            ("0100 0a00", ["0907 0900 120a00e1ff"], [], ["0802000a000328"]),
            (
                "0100 0a00", ["0907 0800 120900e1ff", "0108 0a00 0a"], ["0501 0a00 0229"],
                ["0802000a000328", "080a000a000328", "040a000a00"]
            ),
            (
                "0100 0a00", ["0907 0200 120300e1ff", "0108 0400 0a"], ["0501 0900 0229", "0104 0a00 0a"],
                ["0802000a000328", "0804000a000328", "0404000a00", "040a000a00"]
            ),
            (
                "0100 ffff", ["0907 fdff 12feffe1ff", "0108 ffff 0a"], ["0501 ffff 0229"],
                ["080200ffff0328", "08ffffffff0328", "04ffffffff"]
            ),
            ("0100 ffff", ["0907 feff 12ffffe1ff"], [], ["080200ffff0328"]),
        ] as [(String, [String], [String], [String])])
    func list_reachesToItsLastHandle(
        service: String, characteristics: [String], descriptors: [String], questions: [String]
    ) throws {
        var play = Play()
        try play.run(.discoverServices, answers: ["1106 \(service) e0ff", "0110 0b00 0a"])
        play.lines = []
        let first = play.client.database.services[0].range.first
        try play.run(.discoverCharacteristics(service: first), answers: characteristics)
        if let found = play.client.database.services[0].characteristics.first {
            try play.run(.discoverDescriptors(characteristic: found.declaration), answers: descriptors)
        }
        #expect(play.outcome == .done)
        #expect(play.sent == questions)
    }

    /// As many attributes as are kept, of whatever kind the last is.
    @Test func attributes_areKept_upToTheLimit() throws {
        let limit = GATTClient.attributeLimit
        // Services of one handle each.
        func services(_ count: Int, last: ATTHandleRange? = nil) -> GATTClient {
            var client = GATTClient()
            _ = client.begin(.discoverServices)
            for number in 1...count {
                _ = client.nextPDU(at: .origin)
                let isLast = number == count
                let range =
                    isLast
                    ? last ?? ATTHandleRange(UInt16(number), UInt16(number))
                    : ATTHandleRange(UInt16(number), UInt16(number))
                let service = ATTGroupValue(range: range, value: [0xE0, 0xFF])
                _ = client.received(ATTPDU.readByGroupTypeResponse([service]).bytes)
            }
            return client
        }
        #expect(services(limit).isBusy)
        #expect(!services(limit + 1).isBusy)
        for (count, isOne) in [(limit - 1, true), (limit, false)] {
            let first = UInt16(count)
            var client = services(count, last: ATTHandleRange(first, 0xFFFF))
            #expect(client.begin(.discoverCharacteristics(service: first)) == .started)
            _ = client.nextPDU(at: .origin)
            let value = first + 2
            let found = ATTHandleValue(
                handle: first + 1,
                value: [0x12, UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8), 0xE1, 0xFF])
            let answer = client.received(ATTPDU.readByTypeResponse([found]).bytes)
            #expect((answer == .none) == isOne)
        }
        for (count, isOne) in [(limit - 2, true), (limit - 1, false)] {
            let first = UInt16(count)
            var client = services(count, last: ATTHandleRange(first, 0xFFFF))
            _ = client.begin(.discoverCharacteristics(service: first))
            _ = client.nextPDU(at: .origin)
            let value = first + 2
            let found = ATTHandleValue(
                handle: first + 1,
                value: [0x12, UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8), 0xE1, 0xFF])
            _ = client.received(ATTPDU.readByTypeResponse([found]).bytes)
            _ = client.nextPDU(at: .origin)
            _ = client.received(ATTPDU.errorResponse(to: 0x08, handle: value + 1, error: .attributeNotFound).bytes)
            #expect(client.begin(.discoverDescriptors(characteristic: first + 1)) == .started)
            _ = client.nextPDU(at: .origin)
            let descriptor = ATTInformation(handle: value + 1, type: .clientCharacteristicConfiguration)
            let answer = client.received(ATTPDU.findInformationResponse([descriptor]).bytes)
            #expect((answer == .none) == isOne)
        }
    }

    /// A part as long as a packet may be followed by another, a shorter one may not; nor one that makes the greatest value.
    @Test(arguments: [(23, 21, 1), (23, 22, 2), (512, 511, 2), (513, 512, 1)])
    func value_goesOn_exactlyWhereAPacketIsFull(mtu: Int, length: Int, requests: Int) throws {
        var play = Play()
        try play.run(.exchangeMTU, answers: ["03" + Hex.encode([UInt8(mtu & 0xFF), UInt8(mtu >> 8)])])
        play.lines = []
        try play.run(.read(3), answers: ["0b" + String(repeating: "ab", count: length), "0d"])
        #expect(play.outcome == .value([UInt8](repeating: 0xAB, count: length)))
        #expect(play.sent.count == requests)
    }

    // MARK: Hostile servers

    /// What is asked one after the other, and what an honest server answers.
    private static let discovery: [(operation: GATTClient.Operation, answers: [String])] = [
        (.discoverServices, ["1106 0100 0a00 e0ff", "0110 0b00 0a"]),
        (.discoverCharacteristics(service: 1), ["0907 0200 120300e1ff", "0108 0400 0a"]),
        (.discoverDescriptors(characteristic: 2), []),
    ]

    @Test(arguments: [
        // Goes back, stands still, ends before it begins.
        (0, ["1106 0500 0900 0018", "1106 0500 0900 0018"], GATTFailure.misbehaved(.handlesGoBack(to: 5))),
        (0, ["1106 0000 0900 0018"], .misbehaved(.handlesGoBack(to: 0))),
        (0, ["1106 0500 0400 0018"], .misbehaved(.handlesGoBack(to: 4))),
        (0, ["1106 0500 0900 0018 0900 0c00 0118"], .misbehaved(.handlesGoBack(to: 9))),
        (0, ["1106 0500 0900 0018", "1106 0900 0c00 0118"], .misbehaved(.handlesGoBack(to: 9))),
        // A name of three bytes, and of none.
        (0, ["1107 0500 0900 001800"], .misbehaved(.entryLength(7))),
        (0, ["1104 0500 0900"], .misbehaved(.entryLength(4))),
        (0, ["1108 0500 0900 00180000"], .misbehaved(.entryLength(8))),
        (0, ["1100"], .malformed(ATTDecodeError(opcode: 0x11, fault: .unevenList(entryLength: 0, length: 0)))),
        (0, ["0110 0100 05"], .refused(.insufficientAuthentication)),
        // A value before its declaration and in its place; a declaration before what was asked for, and in a value's place.
        (1, ["0907 0200 120100e1ff"], .misbehaved(.handlesGoBack(to: 1))),
        (1, ["0907 0200 120200e1ff"], .misbehaved(.handlesGoBack(to: 2))),
        (1, ["0907 0100 120300e1ff"], .misbehaved(.handlesGoBack(to: 1))),
        (1, ["0907 0200 120300e1ff 0300 120400e2ff"], .misbehaved(.handlesGoBack(to: 3))),
        (1, ["0907 0200 120300e1ff", "0907 0300 120400e2ff"], .misbehaved(.handlesGoBack(to: 3))),
        (1, ["0907 0200 120300e1ff", "0907 0200 120300e1ff"], .misbehaved(.handlesGoBack(to: 2))),
        (1, ["0907 0200 120b00e1ff"], .misbehaved(.handleOutside(11))),
        (1, ["0907 0a00 120b00e1ff"], .misbehaved(.handleOutside(11))),
        (1, ["0906 0200 120300e1"], .misbehaved(.entryLength(6))),
        (1, ["0902 0200"], .misbehaved(.entryLength(2))),
        (2, ["0501 0300 0229"], .misbehaved(.handlesGoBack(to: 3))),
        (2, ["0501 0b00 0229"], .misbehaved(.handleOutside(11))),
        (2, ["0501 0400 0229 0400 0229"], .misbehaved(.handlesGoBack(to: 4))),
        (2, ["0501 0400 0229", "0501 0400 0229"], .misbehaved(.handlesGoBack(to: 4))),
    ])
    func lyingList_endsItsDiscovery(step: Int, answers: [String], failure: GATTFailure) throws {
        var play = Play()
        for earlier in Self.discovery.prefix(step) { try play.run(earlier.operation, answers: earlier.answers) }
        try play.run(Self.discovery[step].operation, answers: answers)
        #expect(play.outcome == .failed(failure))
        #expect(!play.client.isBusy)
    }

    @Test func endlessDiscovery_ends() {
        var client = GATTClient()
        _ = client.begin(.discoverServices)
        var requests = 0
        var outcome: GATTClient.Outcome?
        while outcome == nil, let pdu = client.nextPDU(at: .origin), case .readByGroupTypeRequest(let range, _) = pdu {
            requests += 1
            let service = ATTGroupValue(range: ATTHandleRange(range.first, range.first), value: [0xE0, 0xFF])
            if case .finished(let result) = client.received(ATTPDU.readByGroupTypeResponse([service]).bytes) {
                outcome = result
            }
        }
        #expect(outcome == .failed(.misbehaved(.tooManyAttributes(limit: 512))))
        #expect(requests == 513)
    }

    @Test func endlessValue_isCutAt512Bytes() {
        var client = GATTClient()
        _ = client.begin(.read(3))
        var requests = 0
        var outcome: GATTClient.Outcome?
        while outcome == nil, let pdu = client.nextPDU(at: .origin) {
            requests += 1
            let part = [UInt8](repeating: 1, count: requests.isMultiple(of: 2) ? 22 : 60)
            let answer = pdu.opcode == .readRequest ? ATTPDU.readResponse(part) : .readBlobResponse(part)
            if case .finished(let result) = client.received(answer.bytes) { outcome = result }
        }
        #expect(outcome == .value([UInt8](repeating: 1, count: 512)))
        #expect(requests < 20)
    }

    /// A server that answers each request with anything of the right kind: every operation ends within a bound, with
    /// one request out at a time.
    @Test(arguments: 0..<UInt64(300))
    func anyServer_isAskedABoundedNumberOfTimes(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var client = GATTClient()
        for operation in 0..<8 {
            guard case .started = client.begin(randomOperation(&rng, client.database)) else { continue }
            var requests = 0
            while client.isBusy {
                guard let pdu = client.nextPDU(at: .origin) else {
                    Issue.record("seed \(seed) operation \(operation): waits, and asks nothing")
                    return
                }
                guard pdu.opcode.kind == .request else { continue }
                requests += 1
                #expect(requests <= 600, "seed \(seed) operation \(operation): asks for ever")
                guard requests <= 600 else { return }
                // What nobody asked for may come as well, and be answered.
                let length = rng.below(30)
                if rng.below(8) == 0 { _ = client.received(rng.bytes(length)) }
                while client.nextWake != nil, let other = client.nextPDU(at: .origin) {
                    #expect(other.opcode.kind != .request, "seed \(seed): two requests are out")
                }
                guard client.nextWake != nil else { continue }
                _ = client.received(randomAnswer(to: pdu, &rng))
                // It may have been no answer; then the right one must still end it.
                let refusal = ATTPDU.errorResponse(to: pdu.opcode.rawValue, handle: 0, error: .unlikelyError)
                if client.nextWake != nil { _ = client.received(refusal.bytes) }
            }
        }
    }

    private func randomOperation(_ rng: inout SeededRNG, _ database: GATTDatabase) -> GATTClient.Operation {
        let service = database.services.randomElement(using: &rng)
        switch rng.below(6) {
        case 0: return .exchangeMTU
        case 1: return .read(3)
        case 2: return .write(3, [1])
        case 3:
            guard let service else { return .discoverServices }
            return .discoverCharacteristics(service: service.range.first)
        case 4:
            guard let found = service?.characteristics.randomElement(using: &rng) else { return .discoverServices }
            return .discoverDescriptors(characteristic: found.declaration)
        default: return .discoverServices
        }
    }

    /// Mostly what moves on, so that the long ways are gone, too.
    private func randomAnswer(to pdu: ATTPDU, _ rng: inout SeededRNG) -> [UInt8] {
        let noise = UInt16(rng.below(12) == 0 ? rng.below(65_536) : 0)
        switch pdu {
        case .readByGroupTypeRequest(let range, _) where rng.below(40) > 0:
            let first = range.first &+ noise
            let last = first &+ UInt16(rng.below(20))
            return ATTPDU.readByGroupTypeResponse([
                ATTGroupValue(range: ATTHandleRange(first, last), value: [0xE0, 0xFF])
            ]).bytes
        case .readByTypeRequest(let range, _) where rng.below(40) > 0:
            let value = range.first &+ 1 &+ noise
            return ATTPDU.readByTypeResponse([
                ATTHandleValue(
                    handle: range.first,
                    value: [0x12, UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8), 0xE1, 0xFF])
            ]).bytes
        case .findInformationRequest(let range) where rng.below(40) > 0:
            let handle = range.first &+ noise
            return ATTPDU.findInformationResponse([ATTInformation(handle: handle, type: .characteristic)]).bytes
        default:
            var answer = rng.bytes(1 + rng.below(60))
            answer[0] = pdu.opcode.rawValue &+ 1
            return rng.below(4) == 0
                ? ATTPDU.errorResponse(to: pdu.opcode.rawValue, handle: 0, error: .attributeNotFound).bytes : answer
        }
    }
}
