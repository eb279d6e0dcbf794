import CoreTestKit
import Domain
import Testing

/// What is asked through the broker.
struct MeterRequestTests {
    /// For the log.
    @Test func request_saysWhatItIs() {
        #expect("\(MeterRequest(.connect(takeover: false)))" == "connect")
        #expect("\(MeterRequest(.connect(takeover: true)))" == "connect with takeover")
        #expect("\(MeterRequest(.disconnect))" == "disconnect")
    }

    @Test(arguments: [
        ("connect", MeterRequest(.connect(takeover: false))),
        ("  disconnect \n", MeterRequest(.disconnect)),
        ("next-screen", MeterRequest(.command(MeterCommand(.nextScreen)))),
        ("brightness 3", MeterRequest(.command(MeterCommand(.brightness, 3)))),
        ("mark screen  on", MeterRequest(.mark("screen on"))),
        (#"{"command":"mark","name":"a \u0022b\u0022"}"#, MeterRequest(.mark(#"a "b""#))),
        (#"{"command":"connect","takeover":true}"#, MeterRequest(.connect(takeover: true))),
        (
            #" { "command" : "brightness" , "number" : -2 , "transaction" : "a\u0031\n" } "#,
            MeterRequest(.command(MeterCommand(.brightness, -2)), transaction: "a1\n")
        ),
        (#"{"transaction":7,"number":null,"command":"disconnect"}"#, MeterRequest(.disconnect, transaction: "7")),
    ])
    func payload_isRead(text: String, request: MeterRequest) throws {
        #expect(try MeterRequest(Array(text.utf8)) == request)
    }

    @Test(arguments: [
        "", " ", "fly", "brightness three", "brightness 3 4", "connect 1", "{", "{}", "[]", #"{"command":3}"#,
        #"{"command":"brightness","number":"3"}"#, #"{"command":"brightness","number":3.5}"#,
        #"{"command":"rotate","command":"rotate"}"#, #"{"command":"rotate"} x"#, #"{"command":{"command":"rotate"}}"#,
        #"{"command":"rotate","also":1}"#, #"{"command":"disconnect","takeover":true}"#, #"{"command":"rot"#,
        #"{"command":"\ud800"}"#, #"{"command":"rotate","number":99999999999999999999}"#, #"{"command":"rotate",}"#,
        "mark", #"{"command":"mark"}"#, #"{"command":"mark","name":3}"#, #"{"command":"mark","name":"a","number":1}"#,
        #"{"command":"connect","name":"a"}"#,
    ])
    func nonsense_isRefused_withWhatIsLegal(text: String) {
        do {
            _ = try MeterRequest(Array(text.utf8))
            Issue.record("\(text) was taken")
        } catch {
            #expect(!error.message.isEmpty && !error.next.isEmpty)
        }
    }

    /// A broker's message may be kept, repeated or misled: none of them draws current or
    /// supplies a voltage.
    @Test(arguments: [
        "load-on", "load-current 10", "load-cutoff 10", "load-timer 1", #"{"command":"load-on"}"#,
        "source-voltage 3300",
    ])
    func whatDrawsCurrent_orSupplies_isRefused(text: String) {
        do {
            _ = try MeterRequest(Array(text.utf8))
            Issue.record("\(text) was taken")
        } catch {
            let deed = text.contains("source") ? "supplies a voltage" : "draws current"
            #expect(error.message.hasSuffix("\(deed), and is not done for a broker"))
            #expect(error.next.contains("load-off and source-off are done"))
        }
    }

    @Test func load_isSwitchedOff() throws {
        #expect(try MeterRequest(Array("load-off".utf8)) == MeterRequest(.command(MeterCommand(.loadOff))))
        do { _ = try MeterRequest(Array("fly".utf8)) } catch {
            #expect(error.next.contains("load-off") && !error.next.contains("load-on"))
        }
    }

    /// Whoever sends one is told what values may be, in place of a piece of what was sent.
    @Test(arguments: [
        (#"{"a":{}}"#, "its values may be texts and whole numbers only"),
        (#"{"a": {"b":1}}"#, "its values may be texts and whole numbers only"),
        (#"{"a":[1,2]}"#, "its values may be texts and whole numbers only"),
        (#"{"number":3.5}"#, "a number is not whole, or has too many digits, at byte 11"),
        (#"{"a":"\ud83d"}"#, "a text has half a character, at byte 12"),
        (#"{"a":1,"a":null}"#, "a name is there twice, at byte 11"),
    ])
    func wrongObject_isRefused_withWhatIsWrong(text: String, cause: String) {
        let error = #expect(throws: MeterRequest.Problem.self) { try MeterRequest(Array(text.utf8)) }
        #expect(error?.message == "the payload is not a JSON object: \(cause)")
    }

    @Test func transactionOfAWrongRequest_isKept() {
        var transaction: String?

        do { _ = try MeterRequest(Array(#"{"command":"fly","transaction":"t1"}"#.utf8)) } catch {
            transaction = error.transaction
        }

        #expect(transaction == "t1")
    }

    @Test func longPayload_isNotLookedAt() {
        var message: String?

        do { _ = try MeterRequest([UInt8](repeating: 0x7B, count: 1025)) } catch { message = error.message }

        #expect(message == "the payload has 1025 bytes")
    }

    /// What a stranger sends comes back to him, so in part only, and nothing that a terminal would obey.
    @Test func message_doesNotRepeatWhateverIsSent() {
        var message = ""
        let text = "\u{1B}[2J" + String(repeating: "x", count: 900)

        do { _ = try MeterRequest(Array(text.utf8)) } catch { message = error.message }

        #expect(message.count < 80)
        #expect(!message.contains("\u{1B}"))
    }

    /// Bytes from anywhere never trap, and what is taken is a request.
    @Test(arguments: 0..<10)
    func anyBytes_areARequestOrRefused(_ portion: Int) {
        let pieces = [
            "{", "}", "\"", ":", ",", "command", "connect", "brightness", "number", "3", "-", " ", "\\", "\\u", "d83d",
            "de00", "transaction", "takeover", "true", "null", "[", "9999999999999999999", "\u{0}", "é", "\n",
        ]
        for seed in UInt64(portion * 200)..<UInt64(portion * 200 + 200) {
            var rng = SeededRNG(seed: seed)
            var bytes: [UInt8] = rng.chance(50) ? Array("{\"command\":".utf8) : []
            for _ in 0..<rng.below(20) {
                bytes += rng.chance(90) ? Array(rng.pick(pieces).utf8) : [UInt8(truncatingIfNeeded: rng.next())]
            }

            do {
                let request = try MeterRequest(bytes)
                #expect(!request.description.isEmpty, "seed \(seed)")
            } catch {
                #expect(error.message.count < 200, "seed \(seed)")
            }
        }
    }
}

/// Requests as the machine treats them.
struct BridgeRequestTests {
    private let topics = Sample.topics

    private func bench() -> Bench {
        var bench = Bench.open()
        bench.observe([Sample.meter(), Sample.meter(Sample.other)], at: 1)
        bench.acknowledgeAll(at: 1)
        bench.clear()
        return bench
    }

    @Test func request_isCarriedOut_andAnswered() throws {
        var bench = bench()

        bench.ask(#"{"command":"brightness","number":3,"transaction":"t1"}"#, at: 2)
        let (number, request, id) = try #require(bench.requests.first)
        bench.take(bench.machine.answered(number, .done(state: "data-available"), at: Sample.at(3)))

        #expect(request.kind == .command(MeterCommand(.brightness, 3)))
        #expect(id == Sample.id)
        let response = try #require(bench.last(topics.response(Sample.id.topicKey)))
        #expect(!response.isRetained)
        #expect(
            response.text
                == #"{"meter":"02:00:00:00:25:0C","request":"brightness 3","status":"ok","state":"data-available","#
                + #""transaction":"t1"}"#)
    }

    @Test func failure_isAnswered_withWhatToDo() throws {
        var bench = bench()

        bench.ask("connect", of: Sample.other, at: 2)
        let (number, _, _) = try #require(bench.requests.first)
        bench.take(
            bench.machine.answered(
                number, .failed(code: "held", message: "attic has it", next: "take it"), at: Sample.at(3)))

        #expect(
            bench.last(topics.response(Sample.other.topicKey))?.text
                == #"{"meter":"usb:5fc9:0063:DEMO003C","request":"connect","status":"error","#
                + #""error":{"code":"held","message":"attic has it","next":"take it"}}"#)
    }

    @Test func nonsense_isAnswered_andNotCarriedOut() {
        var bench = bench()

        bench.ask(#"{"command":"fly","transaction":"t2"}"#, at: 2)

        #expect(bench.requests.isEmpty)
        let text = bench.last(topics.response(Sample.id.topicKey))?.text
        #expect(text?.contains(#""code":"bad-request""#) == true)
        #expect(text?.contains(#""transaction":"t2""#) == true)
    }

    @Test func unknownMeter_isAnswered() {
        var bench = bench()

        bench.take(
            bench.machine.received(
                BrokerMessage("\(topics.base)/bridge/\(topics.gateway)/request/nobody", "connect"), at: Sample.at(2)))

        #expect(bench.requests.isEmpty)
        #expect(bench.last(topics.response("nobody"))?.text.contains("no-such-meter") == true)
    }

    /// The broker would send it at each connection, long after somebody wanted it.
    @Test func retainedRequest_isNotCarriedOut() {
        var bench = bench()

        bench.take(
            bench.machine.received(
                BrokerMessage(topics.request(Sample.id), "disconnect", isRetained: true), at: Sample.at(2)))

        #expect(bench.requests.isEmpty)
        #expect(bench.notices == [.requestRefused(key: Sample.id.topicKey, cause: "it is a retained message")])
    }

    @Test(arguments: ["", "a/b", "a b", "é", "+", "#", String(repeating: "x", count: 201)])
    func topicThatIsNoMeters_isIgnored(key: String) {
        var bench = bench()

        bench.take(
            bench.machine.received(
                BrokerMessage("\(topics.base)/bridge/\(topics.gateway)/request/\(key)", "connect"), at: Sample.at(2)))

        #expect(bench.others.isEmpty && bench.published.isEmpty)
    }

    @Test func flood_isBounded_andSaidOnce() {
        var bench = bench()

        for _ in 0..<10_000 { bench.ask("next-screen", at: 2) }
        let carriedOut = bench.requests.count
        bench.observe([Sample.meter(), Sample.meter(Sample.other)], at: 3)
        bench.acknowledgeAll(at: 3)

        #expect(carriedOut == 8)
        #expect(bench.count(topics.response(Sample.id.topicKey)) == 20 - 8)
        #expect(
            bench.notices.compactMap { if case .requestsIgnored(let count) = $0 { count } else { nil } } == [9980])
    }

    @Test func floodOfNonsense_fillsNoLog() {
        var bench = bench()

        for _ in 0..<10_000 { bench.ask("fly", at: 2) }
        bench.observe([Sample.meter(), Sample.meter(Sample.other)], at: 3)

        #expect(bench.notices.count == 20 + 1)
    }

    @Test func answerAfterTheLinkIsGone_isNotKept() throws {
        var bench = bench()
        bench.ask("connect", at: 2)
        let (number, _, _) = try #require(bench.requests.first)
        bench.lose(at: 3)
        bench.clear()

        bench.take(bench.machine.answered(number, .done(state: "x"), at: Sample.at(4)))
        bench.reopen(at: 10)
        bench.acknowledgeAll(at: 10)

        #expect(bench.count(topics.response(Sample.id.topicKey)) == 0)
    }
}
