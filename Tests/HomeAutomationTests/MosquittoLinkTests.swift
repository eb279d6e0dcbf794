import Domain
import HomeAutomation
import Testing

/// libmosquitto against brokers that are a few bytes long, and do what real ones should not.
struct MosquittoLinkTests {
    private static let will = BrokerMessage("bridge", "offline", isRetained: true)
    /// MQTT 5: accepted, no session, no properties.
    private static let accepted: [UInt8] = [0x20, 0x03, 0x00, 0x00, 0x00]

    /// A link that was opened, with all that it tells.
    private struct Attempt {
        let link: MosquittoLink
        var events: AsyncStream<BrokerEvent>.Iterator

        init(port: UInt16, credentials: String? = nil) throws {
            var settings = MosquittoLink.Settings(
                address: try BrokerAddress("mqtt://127.0.0.1:\(port)"), clientID: "test")
            settings.credentialsPath = credentials
            // No ping comes between, however long a test waits for its turn.
            settings.keepAlive = .seconds(3600)
            link = MosquittoLink(settings)
            events = Self.open(link)
        }

        static func open(_ link: MosquittoLink) -> AsyncStream<BrokerEvent>.Iterator {
            let (stream, continuation) = AsyncStream.makeStream(of: BrokerEvent.self)
            link.open(will: will) { event in
                continuation.yield(event)
                if case .lost = event { continuation.finish() }
            }
            return stream.makeAsyncIterator()
        }

        mutating func next() async -> BrokerEvent? { await events.next(isolation: nil) }

        /// Why it ended, where that is what comes next.
        mutating func lost() async -> BrokerTrouble? {
            guard case .lost(let cause)? = await next() else { return nil }
            return cause
        }
    }

    @Test func messages_goBothWays() async throws {
        let broker = try PacketPeer { peer in
            let connect = peer.packet()
            peer.write(Self.accepted)
            let published = peer.packet()
            // Confirms it by its number, which follows the topic.
            let number = published.dropFirst(2 + 2 + 5).prefix(2)
            peer.write([0x40, 0x02] + number)
            peer.write([0x30, 0x0A, 0x00, 0x03] + Array("a/b".utf8) + [0x00] + Array("word".utf8))
            _ = peer.packet()
            return connect + published
        }
        var attempt = try Attempt(port: broker.port)

        #expect(await attempt.next() == .opened)
        attempt.link.publish([NumberedMessage(7, BrokerMessage("topic", "payload", isRetained: true))])
        #expect(await attempt.next() == .acknowledged(7, refusal: nil))
        #expect(await attempt.next() == .received(BrokerMessage("a/b", "word")))
        attempt.link.close()
        #expect(await attempt.next() == .lost(BrokerTrouble("closed")))

        let heard = await broker.outcome
        #expect(heard.starts(with: [0x10]))
        // Protocol level 5; the will is there, retained, with quality of service 1.
        #expect(heard.dropFirst(2).starts(with: [0x00, 0x04] + Array("MQTT".utf8) + [0x05, 0b0010_1110]))
        // PUBLISH, quality of service 1, retained.
        #expect(heard.contains([0x33]))
    }

    @Test(
        arguments: [
            (0x86, "the broker refuses us: Bad User Name or Password"), (0x84, "the broker does not speak MQTT 5"),
            (0x01, "the broker does not speak MQTT 5"),
        ] as [(UInt8, String)])
    func refusal_isSaidInWords(code: UInt8, cause: String) async throws {
        let broker = try PacketPeer { peer in
            _ = peer.packet()
            peer.write([0x20, 0x03, 0x00, code, 0x00])
            return peer.packet()
        }
        var attempt = try Attempt(port: broker.port)

        #expect(await attempt.lost()?.message == cause)
    }

    @Test func refusedMessage_isAcknowledgedWithTheCause() async throws {
        let broker = try PacketPeer { peer in
            _ = peer.packet()
            peer.write(Self.accepted)
            let number = peer.packet().dropFirst(2 + 2 + 5).prefix(2)
            peer.write([0x40, 0x03] + number + [0x87])
            return peer.packet()
        }
        var attempt = try Attempt(port: broker.port)

        #expect(await attempt.next() == .opened)
        attempt.link.publish([NumberedMessage(1, BrokerMessage("topic", "payload"))])
        #expect(await attempt.next() == .acknowledged(1, refusal: "Not authorized"))
        attempt.link.close()
    }

    /// Long payloads are read as far as they may be requests.
    @Test func longMessage_isCutShort() async throws {
        let broker = try PacketPeer { peer in
            _ = peer.packet()
            peer.write(Self.accepted)
            let payload = [UInt8](repeating: 0x61, count: 10_000)
            peer.write([0x30, 0x96, 0x4E, 0x00, 0x03] + Array("a/b".utf8) + [0x00] + payload)
            return peer.packet()
        }
        var attempt = try Attempt(port: broker.port)

        #expect(await attempt.next() == .opened)
        guard case .received(let message)? = await attempt.next() else {
            Issue.record("nothing received")
            return
        }
        #expect(message.payload.count == 8192)
        attempt.link.close()
    }

    @Test func brokerThatGoes_isLost() async throws {
        let broker = try PacketPeer { peer in
            _ = peer.packet()
            peer.write(Self.accepted)
            return []
        }
        var attempt = try Attempt(port: broker.port)

        #expect(await attempt.next() == .opened)
        let cause = await attempt.lost()
        #expect(cause?.message.isEmpty == false && cause?.next != nil)
    }

    @Test func nobodyThere_isSaidInWords() async throws {
        let port = try PacketPeer { _ in [] }.closedPort()
        var attempt = try Attempt(port: port)

        #expect(await attempt.lost()?.message == "nothing listens at mqtt://127.0.0.1:\(port): Connection refused")
    }

    /// Whatever comes, it ends with a cause and without a trap.
    @Test(
        arguments: [
            [0x00], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x20, 0x00], [0x20, 0x03, 0x00, 0x00],
            Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [0x20, 0x7F] + [UInt8](repeating: 0xFF, count: 127),
            [0x90, 0x00], [0x62, 0x02, 0x00, 0x01],
        ] as [[UInt8]])
    func garbage_endsTheAttempt(bytes: [UInt8]) async throws {
        let broker = try PacketPeer { peer in
            _ = peer.packet()
            peer.write(bytes)
            return []
        }
        var attempt = try Attempt(port: broker.port)

        var last: BrokerEvent?
        while let event = await attempt.next() { last = event }
        guard case .lost(let cause)? = last else {
            Issue.record("not lost")
            return
        }
        #expect(!cause.message.isEmpty && cause.message != "closed" && cause.next != nil)
    }

    /// One that takes the connection and says nothing holds nobody up.
    @Test func silentBroker_canBeLeft_andTriedAgain() async throws {
        let broker = try PacketPeer { peer in
            _ = peer.packet()
            // Until it is left.
            return peer.packet()
        }
        var attempt = try Attempt(port: broker.port)
        await broker.hasHeard()

        attempt.link.close()

        #expect(await attempt.next() == .lost(BrokerTrouble("closed")))
        var second = Attempt.open(attempt.link)
        guard case .lost? = await second.next(isolation: nil) else {
            Issue.record("the second attempt is at nobody")
            return
        }
    }

    @Test func credentialsThatCannotBeRead_endTheAttempt() async throws {
        var attempt = try Attempt(port: 1, credentials: "/nowhere/broker")

        let cause = await attempt.lost()
        #expect(
            cause?.message
                == "the broker's credentials cannot be read from /nowhere/broker: No such file or directory")
        #expect(cause?.next == "check the path, and that meterd's user may read it")
    }
}
