import BluetoothCore
import CoreTestKit
import Domain
import Testing

struct ATTBearerTests {
    private static let read = ATTPDU.readRequest(handle: 3)
    private static let search = ATTPDU.readByGroupTypeRequest(.all, type: .primaryService)

    // MARK: One request at a time

    @Test func secondRequest_waitsForTheFirstOnesAnswer() {
        var bearer = ATTBearer()
        bearer.send(Self.read)
        bearer.send(Self.search)
        #expect(bearer.nextPDU(at: .seconds(0)) == Self.read)
        #expect(bearer.nextPDU(at: .seconds(0)) == nil)

        let answered = bearer.received(ATTPDU.readResponse([7]).bytes)

        #expect(answered == .answered(request: Self.read, .response(.readResponse([7]))))
        #expect(bearer.nextPDU(at: .seconds(1)) == Self.search)
    }

    @Test func command_needsNoAnswer_andKeepsItsPlace() {
        var bearer = ATTBearer()
        let command = ATTPDU.writeCommand(handle: 3, value: [1])
        bearer.send(command)
        bearer.send(Self.read)
        bearer.send(command)
        #expect(bearer.nextPDU(at: .seconds(0)) == command)
        #expect(bearer.nextPDU(at: .seconds(0)) == Self.read)
        #expect(bearer.nextPDU(at: .seconds(0)) == command)
        #expect(bearer.nextPDU(at: .seconds(0)) == nil)
    }

    @Test func errorResponse_answersTheRequestItNames() {
        var bearer = ATTBearer()
        bearer.send(Self.read)
        _ = bearer.nextPDU(at: .seconds(0))

        let other = bearer.received(ATTPDU.errorResponse(to: 0x10, handle: 3, error: .invalidHandle).bytes)
        let own = bearer.received(ATTPDU.errorResponse(to: 0x0A, handle: 3, error: .readNotPermitted).bytes)

        #expect(other == .none)
        #expect(own == .answered(request: Self.read, .refused(.readNotPermitted)))
        #expect(bearer.counters.unasked == 1)
    }

    @Test func unaskedLateAndDoubledAnswers_areCounted_andChangeNothing() {
        var bearer = ATTBearer()
        #expect(bearer.received(ATTPDU.readResponse([1]).bytes) == .none)
        bearer.send(Self.read)
        #expect(bearer.received(ATTPDU.readResponse([1]).bytes) == .none)
        _ = bearer.nextPDU(at: .seconds(0))
        #expect(bearer.received(ATTPDU.writeResponse.bytes) == .none)
        #expect(bearer.received(ATTPDU.readResponse([1]).bytes) != .none)
        #expect(bearer.received(ATTPDU.readResponse([1]).bytes) == .none)
        #expect(bearer.received(ATTPDU.confirmation.bytes) == .none)
        #expect(bearer.counters.unasked == 5)
    }

    @Test func malformedAnswer_isAnAnswer() {
        var bearer = ATTBearer()
        bearer.send(Self.search)
        _ = bearer.nextPDU(at: .seconds(0))
        let error = ATTDecodeError(opcode: 0x11, fault: .tooShort(length: 1))
        #expect(bearer.received([0x11]) == .answered(request: Self.search, .malformed(error)))
        #expect(bearer.counters.malformed == 1)
    }

    // MARK: Time

    @Test func unansweredRequest_killsTheBearer_after30Seconds() {
        var bearer = ATTBearer()
        bearer.send(Self.read)
        bearer.send(Self.search)
        #expect(bearer.nextWake == nil)
        _ = bearer.nextPDU(at: .seconds(5))
        #expect(bearer.nextWake == .seconds(35))
        #expect(bearer.woke(at: .seconds(34)) == .none)

        #expect(bearer.woke(at: .seconds(35)) == .timedOut(request: Self.read))

        #expect(bearer.isDead)
        #expect(bearer.nextWake == nil)
        #expect(bearer.received(ATTPDU.readResponse([1]).bytes) == .none)
        bearer.send(Self.read)
        #expect(bearer.nextPDU(at: .seconds(36)) == nil)
    }

    @Test func clockOfARequest_runsFromWhenItWasSent() {
        var bearer = ATTBearer()
        bearer.send(Self.read)
        #expect(bearer.woke(at: .seconds(1000)) == .none)
        _ = bearer.nextPDU(at: .seconds(1000))
        #expect(bearer.nextWake == .seconds(1030))
        _ = bearer.received(ATTPDU.readResponse([]).bytes)
        #expect(bearer.nextWake == nil)
    }

    // MARK: Values

    @Test func values_comeAlsoWhileARequestIsOut() {
        var bearer = ATTBearer()
        bearer.send(Self.read)
        _ = bearer.nextPDU(at: .seconds(0))
        let value = ATTHandleValue(handle: 0x1B, value: [1, 2])

        #expect(bearer.received(ATTPDU.notification(value).bytes) == .values([value]))
        #expect(bearer.received(ATTPDU.multipleNotification([value, value]).bytes) == .values([value, value]))
        #expect(bearer.nextPDU(at: .seconds(0)) == nil)
        #expect(bearer.received(ATTPDU.readResponse([]).bytes) != .none)
    }

    @Test func indication_isConfirmed() {
        var bearer = ATTBearer()
        let value = ATTHandleValue(handle: 0x0E, value: [])
        #expect(bearer.received(ATTPDU.indication(value).bytes) == .values([value]))
        #expect(bearer.nextPDU(at: .seconds(0)) == .confirmation)
        #expect(bearer.nextPDU(at: .seconds(0)) == nil)
    }

    // MARK: MTU

    @Test(arguments: [
        (517, UInt16(517), 517), (517, 23, 23), (517, 65_535, 517), (185, 517, 185), (517, 0, 23), (517, 22, 23),
        (9, 100, 23), (9999, 9999, 517), (517, 24, 24), (24, 517, 24), (22, 100, 23), (517, 516, 516),
        (516, 517, 516), (518, 518, 517),
    ])
    func mtu_isTheSmallerOfBoth_withinBounds(own: Int, theirs: UInt16, agreed: Int) {
        var bearer = ATTBearer(ownMTU: own)
        #expect(bearer.mtu == 23)
        bearer.exchangeMTU()
        #expect(bearer.nextPDU(at: .seconds(0)) == .exchangeMTURequest(mtu: UInt16(min(max(own, 23), 517))))
        _ = bearer.received(ATTPDU.exchangeMTUResponse(mtu: theirs).bytes)
        #expect(bearer.mtu == agreed)
    }

    @Test func peersMTURequest_isAnswered_andAgreedTo() {
        var bearer = ATTBearer(ownMTU: 100)
        #expect(bearer.received(ATTPDU.exchangeMTURequest(mtu: 50).bytes) == .none)
        #expect(bearer.nextPDU(at: .seconds(0)) == .exchangeMTUResponse(mtu: 100))
        #expect(bearer.mtu == 50)
    }

    // MARK: A peer that asks

    @Test(arguments: [
        ("10 0100 ffff 0028", "01 10 0100 0a"), ("08 0500 ffff 0328", "01 08 0500 0a"),
        ("04 0100 0200", "01 04 0100 0a"), ("06 0100 ffff 0028 e0ff", "01 06 0100 0a"),
        ("10 0000 ffff 0028", "01 10 0000 01"), ("08 0500 0400 0328", "01 08 0500 01"),
        // A range of one handle is one, to the last handle that there is.
        ("08 0500 0500 0328", "01 08 0500 0a"), ("04 0100 0100", "01 04 0100 0a"), ("04 ffff ffff", "01 04 ffff 0a"),
        ("10 0000 0000 0028", "01 10 0000 01"), ("06 ffff feff 0028 e0ff", "01 06 ffff 01"),
        ("0a 0700", "01 0a 0700 01"), ("12 0700 01", "01 12 0000 06"), ("0c 0700 0000", "01 0c 0000 06"),
        ("18 01", "01 18 0000 06"), ("0a 07", "01 0a 0000 04"), ("30 01", "01 30 0000 06"),
    ])
    func peersRequest_isRefused_asByAServerWithoutAttributes(asked: String, answer: String) throws {
        var bearer = ATTBearer()
        let request = try #require(Hex.decode(asked))
        #expect(bearer.received(request) == .none)
        #expect(bearer.nextPDU(at: .seconds(0))?.bytes == Hex.decode(answer))
        #expect(bearer.nextPDU(at: .seconds(0)) == nil)
    }

    @Test(arguments: ["52 0700 01", "d2 0700 01 000000000000000000000000", "7f", "f2 01", "1d 01", ""])
    func commandAndRubbish_areNotAnswered(asked: String) throws {
        var bearer = ATTBearer()
        let packet = try #require(Hex.decode(asked))
        #expect(bearer.received(packet) == .none)
        #expect(bearer.nextPDU(at: .seconds(0)) == nil)
    }

    /// Commands want no answer; each is counted, and nothing is said.
    @Test func commands_areCounted_andNotAnswered() {
        var bearer = ATTBearer()
        for number in 1...3 {
            #expect(bearer.received([0x52, 0x03, 0x00, 0x01]) == .none)
            #expect(bearer.counters.refused == number)
        }
        #expect(bearer.nextPDU(at: .seconds(0)) == nil)
    }

    @Test func floodOfRequests_pilesUpNothing() {
        var bearer = ATTBearer()
        for _ in 0..<1000 { _ = bearer.received([0x0A, 1, 0]) }
        var answers = 0
        while bearer.nextPDU(at: .seconds(0)) != nil { answers += 1 }
        #expect(answers == 4)
        #expect(bearer.counters.unanswered == 996)
        #expect(bearer.counters.refused == 1000)
    }

    /// Any packets in any order: never two requests out, never more answers than the bound, and each request ends.
    @Test(arguments: 0..<UInt64(200))
    func randomWalk_keepsOneRequestOut(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var bearer = ATTBearer()
        var now = MonotonicTime.origin
        var isOut = false
        for step in 0..<500 where !bearer.isDead {
            switch rng.below(6) {
            case 0: bearer.send(rng.below(2) == 0 ? Self.read : Self.search)
            case 1:
                guard let pdu = bearer.nextPDU(at: now), pdu.opcode.kind == .request else { continue }
                #expect(!isOut, "seed \(seed) step \(step): two requests are out")
                isOut = true
            case 2:
                now = now + .seconds(rng.below(12))
                if bearer.woke(at: now) != .none { isOut = false }
            case 3:
                // What fits, or an error for it.
                let answers: [ATTPDU] = [
                    .readResponse([1]), .errorResponse(to: 0x10, handle: 1, error: .attributeNotFound),
                ]
                if case .answered = bearer.received(answers[rng.below(2)].bytes) { isOut = false }
            default:
                let length = rng.below(30)
                if case .answered = bearer.received(rng.bytes(length)) { isOut = false }
            }
            #expect((bearer.nextWake != nil) == isOut, "seed \(seed) step \(step)")
            #expect((23...517).contains(bearer.mtu))
        }
    }
}
