import CloudClient
import Testing

struct ServerSentEventsTests {
    private let stream = ": hello\n\nevent: lease\ndata: {\"a\":1}\n\ndata:x\r\ndata: y\r\n\r\nevent: ping\rdata: é\r\r"

    @Test func append_givesEachEvent_whateverThePieces() throws {
        let bytes = Array(stream.utf8)

        for size in 1...bytes.count {
            var reader = ServerSentEvents()
            var events: [ServerSentEvents.Event] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                events += try reader.append(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(
                events.map { [$0.name, $0.data] } == [["lease", "{\"a\":1}"], ["message", "x\ny"], ["ping", "é"]],
                "pieces of \(size)")
        }
    }

    @Test func append_throws_whenAnEventNeverEnds() throws {
        var reader = ServerSentEvents()
        let line = Array("data: \(String(repeating: "x", count: 65_000))\n".utf8)

        #expect(throws: ServerSentEvents.TooLong.self) {
            for _ in 0...20 { _ = try reader.append(line) }
        }
    }

    @Test func append_forgetsTheNameOfAnEventWithoutData() throws {
        var reader = ServerSentEvents()

        let events = try reader.append(Array("event: lease\n\ndata: 1\n\n".utf8))

        #expect(events.map(\.name) == ["message"])
    }
}
