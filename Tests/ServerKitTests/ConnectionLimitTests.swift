import NIOCore
import NIOEmbedded
import NIOTLS
import ServerKit
import Testing

/// Which connections there may be.
struct ConnectionTableTests {
    @Test func oneAddress_takesNoPlaceFromAnother() {
        var table = ConnectionTable(ConnectionBounds(all: 3, perAddress: 2))

        #expect(table.open("a") == .admitted(0, closing: nil))
        #expect(table.open("a") == .admitted(1, closing: nil))
        #expect(table.open("a") == .refused)
        #expect(table.open("b") == .admitted(2, closing: nil))
        #expect(table.open("c") == .refused)
        #expect(table.count == 3)
    }

    @Test func placeOfAClosedConnection_isFree() {
        var table = ConnectionTable(ConnectionBounds(all: 1, perAddress: 1))

        #expect(table.open("a") == .admitted(0, closing: nil))
        table.close(0)
        table.close(0)
        #expect(table.count == 0)
        #expect(table.open("b") == .admitted(1, closing: nil))
    }

    @Test func trustedAddress_mayHaveMore() {
        var table = ConnectionTable(ConnectionBounds(all: 9, perAddress: 1, perTrustedAddress: 2))

        #expect(table.open("proxy", isTrusted: true) == .admitted(0, closing: nil))
        #expect(table.open("proxy", isTrusted: true) == .admitted(1, closing: nil))
        #expect(table.open("proxy", isTrusted: true) == .refused)
    }

    @Test func strangerOfTheSameAddress_givesWay_theOldestFirst() {
        var table = ConnectionTable(ConnectionBounds(all: 9, perAddress: 2))
        _ = table.open("b", isStranger: true)
        _ = table.open("a", isStranger: true)
        _ = table.open("a", isStranger: true)

        #expect(table.open("a", isStranger: true) == .admitted(3, closing: 1))
        #expect(table.open("a", isStranger: true) == .admitted(4, closing: 2))
        #expect(table.count == 3)
    }

    @Test func knownClient_neverGivesWay() {
        var table = ConnectionTable(ConnectionBounds(all: 2, perAddress: 2))
        _ = table.open("a", isStranger: true)
        _ = table.open("a", isStranger: true)
        table.know(0)

        #expect(table.open("b", isStranger: true) == .admitted(2, closing: 1))
        table.know(2)
        #expect(table.open("c", isStranger: true) == .refused)
    }

    @Test func strangers_haveALimitOfTheirOwn() {
        var table = ConnectionTable(ConnectionBounds(all: 9, perAddress: 9, strangers: 2))
        for address in ["a", "b"] { _ = table.open(address, isStranger: true) }

        #expect(table.open("c", isStranger: true) == .admitted(2, closing: 0))
        #expect(table.strangerCount == 2)
    }

    /// A thousand connections that say nothing push out each other, and nobody who is setting up TLS.
    @Test func silentStrangers_pushOutTheSilent() {
        var table = ConnectionTable(ConnectionBounds(all: 99, perAddress: 99, strangers: 4))
        for _ in 0..<4 { _ = table.open("a", isStranger: true) }
        table.hear(0)
        table.hear(1)

        for id in ConnectionTable.ID(4)..<20 {
            #expect(table.open("b", isStranger: true) == .admitted(id, closing: id - 2))
        }
        #expect(table.strangerCount == 4)
    }

    /// Nor do those that send a letter a second take the places of those from which nothing has come yet.
    @Test func speakingStrangers_pushOutTheirLike_whereTheyAreMore() {
        var table = ConnectionTable(ConnectionBounds(all: 99, perAddress: 99, strangers: 4))
        for id in ConnectionTable.ID(0)..<3 {
            _ = table.open("a", isStranger: true)
            table.hear(id)
        }
        _ = table.open("b", isStranger: true)

        #expect(table.open("c", isStranger: true) == .admitted(4, closing: 0))
        #expect(table.open("c", isStranger: true) == .admitted(5, closing: 3))
    }

    @Test(arguments: [(1024, 216, 648), (64, 1, 1), (1 << 20, 512, 16_384)])
    func descriptors_leaveEnoughForMeters(_ limit: Int, _ page: Int, _ cloud: Int) {
        let budget = DescriptorBudget(descriptors: UInt64(limit), hasPage: true)

        #expect((budget.page, budget.cloud) == (page, cloud))
        #expect(limit < 256 || limit - page - cloud >= DescriptorBudget.meters + DescriptorBudget.own)
        #expect(budget.cloudBounds(perAddress: 64).perTrustedAddress == 512)
    }
}

extension ConnectionTable {
    fileprivate mutating func open(_ address: String, isTrusted: Bool = false, isStranger: Bool = false) -> Answer {
        open(from: address, isTrusted: isTrusted, isStranger: isStranger)
    }
}

/// What becomes of one connection, on the time of its event loop.
struct ConnectionDeadlineTests {
    private let limit = ConnectionLimit(ConnectionBounds(all: 2, perAddress: 1), proxies: ["192.0.2.9"])

    private func connect(from address: String = "192.0.2.1") throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([
            limit.strangerHandler(), ConnectionDeadlineHandler(patience: .seconds(10)),
        ])
        // The other end, whichever of the two connects.
        try channel.connect(to: try SocketAddress(ipAddress: address, port: 4711)).wait()
        return channel
    }

    private func pass(_ seconds: Int64, _ channel: EmbeddedChannel) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    }

    @Test func clientThatSaysNothing_isCutAfterItsTime() throws {
        let channel = try connect()

        pass(9, channel)
        #expect(channel.isActive)
        pass(1, channel)
        #expect(!channel.isActive)
        #expect(limit.count == 0)
    }

    @Test func timeBeginsAgain_onceTLSIsSetUp() throws {
        let channel = try connect()

        pass(9, channel)
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        pass(9, channel)
        #expect(channel.isActive)
        pass(1, channel)
        #expect(!channel.isActive)
    }

    @Test func strangersAnswer_beginsTheLastWait() throws {
        let channel = try connect()
        try channel.writeInbound("head")
        pass(60, channel)
        #expect(channel.isActive)

        channel.triggerUserOutboundEvent(ConnectionVerdict.stranger, promise: nil)
        try channel.writeInbound("body, ever more of it")
        pass(10, channel)
        #expect(!channel.isActive)
    }

    @Test func knownClient_mayTakeItsTime() throws {
        let channel = try connect()
        try channel.writeInbound("head")

        channel.triggerUserOutboundEvent(ConnectionVerdict.known, promise: nil)
        channel.triggerUserOutboundEvent(ConnectionVerdict.stranger, promise: nil)
        pass(300, channel)

        #expect(channel.isActive)
    }

    @Test func oneTooMany_takesTheSilentOnesPlace_andIsCutAtAKnownOnes() throws {
        let silent = try connect()
        let second = try connect()
        silent.embeddedEventLoop.run()
        #expect(!silent.isActive)
        second.triggerUserOutboundEvent(ConnectionVerdict.known, promise: nil)

        let third = try connect()

        #expect(second.isActive)
        #expect(!third.isActive)
        #expect(limit.refused == 2)
    }

    @Test func listenerThatDoesNotTellClientsApart_cutsTheNewOne() throws {
        let pages = ConnectionLimit(all: 1, perAddress: 1)
        let channels = [EmbeddedChannel(), EmbeddedChannel()]
        for channel in channels {
            try channel.pipeline.syncOperations.addHandler(pages.handler())
            try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.7", port: 8642)).wait()
        }

        #expect(channels.map(\.isActive) == [true, false])
        #expect(pages.count == 1)
    }

    @Test(arguments: ["127.0.0.1", "192.0.2.9", "::ffff:192.0.2.9"])
    func loopbackAndProxies_mayHaveMore(_ address: String) throws {
        let limit = ConnectionLimit(
            ConnectionBounds(all: 9, perAddress: 1, perTrustedAddress: 2), proxies: ["192.0.2.9"])
        let channels = try (0..<3).map { _ in
            let channel = EmbeddedChannel()
            try channel.pipeline.syncOperations.addHandler(limit.handler())
            try channel.connect(to: try SocketAddress(ipAddress: address, port: 4711)).wait()
            return channel
        }

        #expect(channels.map(\.isActive) == [true, true, false])
    }
}
