package import NIOCore
import Synchronization

/// Limits the open connections, in total and per address. At the limit, a new connection is refused, or replaces the
/// oldest one without a valid access token.
package final class ConnectionLimit: Sendable {
    private struct State {
        var table: ConnectionTable
        var closers: [ConnectionTable.ID: @Sendable () -> Void] = [:]
        var refused: UInt64 = 0
    }

    private let proxies: Set<[UInt8]>
    private let state: Mutex<State>

    /// - Parameter proxies: addresses of proxies, for which the limit `perTrustedAddress` applies.
    package init(_ bounds: ConnectionBounds, proxies: [String] = []) {
        self.proxies = Set(proxies.compactMap(IPAddress.plainBytes(of:)))
        state = Mutex(State(table: ConnectionTable(bounds)))
    }

    /// - Parameters:
    ///   - all: limit in total; at least 1.
    ///   - perAddress: limit per IPv4 address or IPv6 network; at least 1.
    package convenience init(all: Int, perAddress: Int) {
        self.init(ConnectionBounds(all: all, perAddress: perAddress))
    }

    package var count: Int { state.withLock { $0.table.count } }
    /// Number of connections refused or closed because of a limit.
    package var refused: UInt64 { state.withLock { $0.refused } }

    /// Returns a handler that counts one connection of a listener without access tokens. Add it before the channel is
    /// active.
    package func handler() -> any RemovableChannelHandler { ConnectionLimitHandler(limit: self, isStranger: false) }

    /// Returns a handler that counts one connection of a listener with access tokens. Add it first in the pipeline,
    /// before TLS, so that closing is immediate, and `ConnectionDeadlineHandler` last.
    package func strangerHandler() -> any RemovableChannelHandler {
        ConnectionLimitHandler(limit: self, isStranger: true)
    }

    /// Counts one more connection.
    ///
    /// - Parameter closing: closes the connection, from any thread, when another one replaces it.
    /// - Returns: nil if the connection is refused.
    func open(
        from address: SocketAddress?, isStranger: Bool, closing: @escaping @Sendable () -> Void
    ) -> ConnectionTable.ID? {
        let (asker, isTrusted) = asker(address)
        let (id, closer) = state.withLock { state -> (ConnectionTable.ID?, (@Sendable () -> Void)?) in
            switch state.table.open(from: asker, isTrusted: isTrusted, isStranger: isStranger) {
            case .refused:
                state.refused += 1
                return (nil, nil)
            case .admitted(let id, let replaced):
                if isStranger { state.closers[id] = closing }
                if replaced != nil { state.refused += 1 }
                return (id, replaced.flatMap { state.closers.removeValue(forKey: $0) })
            }
        }
        closer?()
        return id
    }

    func know(_ id: ConnectionTable.ID) {
        state.withLock { state in
            state.table.know(id)
            state.closers[id] = nil
        }
    }

    func hear(_ id: ConnectionTable.ID) { state.withLock { $0.table.hear(id) } }

    func close(_ id: ConnectionTable.ID) {
        state.withLock { state in
            state.table.close(id)
            state.closers[id] = nil
        }
    }

    /// Returns the name under which a connection is counted, and whether many clients may share its address.
    private func asker(_ address: SocketAddress?) -> (name: String, isTrusted: Bool) {
        guard let text = address?.ipAddress, let bytes = IPAddress.plainBytes(of: text) else { return ("local", true) }
        // Loopback and proxies are single machines, so count them by address, not by network.
        if IPAddress.isLoopback(text) || proxies.contains(bytes) { return (text, true) }
        return (IPAddress.network(of: address), false)
    }
}

final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    private let limit: ConnectionLimit
    private let isStranger: Bool
    /// Id in the connection table; nil while the connection is not counted.
    private var id: ConnectionTable.ID?
    private var isRefused = false
    private var wasHeard = false
    private var context: ChannelHandlerContext?

    init(limit: ConnectionLimit, isStranger: Bool) {
        self.limit = limit
        self.isStranger = isStranger
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { count(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        count(context)
        if !isRefused { context.fireChannelActive() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !wasHeard, let id {
            wasHeard = true
            limit.hear(id)
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        release()
    }

    func know() { if let id { limit.know(id) } }

    /// Closes the connection immediately, without waiting for the client's TLS shutdown.
    func closeAtOnce() { context?.close(promise: nil) }

    private func count(_ context: ChannelHandlerContext) {
        guard id == nil, !isRefused else { return }
        let loop = context.eventLoop
        let bound = NIOLoopBound(self, eventLoop: loop)
        id = limit.open(from: context.channel.remoteAddress, isStranger: isStranger) {
            loop.execute { bound.value.closeAtOnce() }
        }
        guard id == nil else { return }
        isRefused = true
        context.close(promise: nil)
    }

    private func release() {
        if let id { limit.close(id) }
        id = nil
    }
}
