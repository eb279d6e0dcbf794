import NIOCore
import ServerKit
import Synchronization

/// Limits each local user's connections, so that no user blocks the others. Over loopback, all users have one address.
final class LocalUserLimit: Sendable {
    private let most: Int
    private let users: LocalUsers
    /// Connections by user. The key nil stands for closing connections, whose user the kernel no longer reports.
    private let counts = Mutex<[UInt32?: Int]>([:])

    init(most: Int, users: LocalUsers) {
        self.most = most
        self.users = users
    }

    func handler() -> any RemovableChannelHandler { LocalUserLimitHandler(limit: self) }

    /// Returns false without counting if the user is at the limit.
    func open(for user: UInt32?) -> Bool {
        counts.withLock { counts in
            guard counts[user, default: 0] < most else { return false }
            counts[user, default: 0] += 1
            return true
        }
    }

    func close(for user: UInt32?) {
        counts.withLock { counts in
            let rest = counts[user, default: 0] - 1
            counts[user] = rest > 0 ? rest : nil
        }
    }

    func user(at connection: WebConnection) -> UInt32? { users.peer(connection)?.user }
}

private final class LocalUserLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    private enum State {
        case new
        case counted(UInt32?)
        case over
    }

    private let limit: LocalUserLimit
    private var state = State.new

    init(limit: LocalUserLimit) { self.limit = limit }

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
        guard case .new = state else { return }
        state = .over
        guard let connection = WebConnection(context.channel), IPAddress.isLoopback(connection.client) else { return }
        let user = limit.user(at: connection)
        if limit.open(for: user) { state = .counted(user) } else { context.close(promise: nil) }
    }

    private func release() {
        if case .counted(let user) = state { limit.close(for: user) }
        state = .over
    }
}
