package import NIOCore
import Synchronization

/// How many connections there may be at a time, in all and from one address. One more is closed as it comes, so that
/// somebody who opens very many takes no place from anybody else.
package final class ConnectionLimit: Sendable {
    private struct State {
        var all = 0
        var byAddress: [String: Int] = [:]
    }

    private let all: Int
    private let perAddress: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - all: at least 1.
    ///   - perAddress: at least 1; of an IPv6 address, those of its whole network count together.
    package init(all: Int, perAddress: Int) {
        self.all = max(1, all)
        self.perAddress = max(1, perAddress)
    }

    /// Connections that are open.
    package var count: Int { state.withLock { $0.all } }

    /// Counts one more connection; `close` ends it.
    ///
    /// - Returns: false where there are enough already. Nothing is counted then.
    package func open(from address: String) -> Bool {
        state.withLock { state in
            guard state.all < all, state.byAddress[address, default: 0] < perAddress else { return false }
            state.all += 1
            state.byAddress[address, default: 0] += 1
            return true
        }
    }

    package func close(from address: String) {
        state.withLock { state in
            state.all -= 1
            let rest = state.byAddress[address, default: 0] - 1
            state.byAddress[address] = rest > 0 ? rest : nil
        }
    }

    /// What counts one connection, to be put in its pipeline before it is active.
    package func handler() -> any RemovableChannelHandler { ConnectionLimitHandler(limit: self) }
}

/// Counts the connection in whose pipeline it is, or closes it.
private final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    private let limit: ConnectionLimit
    /// Under which the connection was counted; nil while it is not.
    private var address: String?

    init(limit: ConnectionLimit) { self.limit = limit }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { count(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        count(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { release() }

    private func count(_ context: ChannelHandlerContext) {
        guard address == nil else { return }
        let asker = IPAddress.network(of: context.channel.remoteAddress)
        if limit.open(from: asker) { address = asker } else { context.close(promise: nil) }
    }

    private func release() {
        if let address { limit.close(from: address) }
        address = nil
    }
}
