import HummingbirdCore
import Logging
import NIOCore
import ServerKit

struct LimitedChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let limit: ConnectionLimit

    init(_ base: Base, limit: ConnectionLimit) {
        self.base = base
        self.limit = limit
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(limit.strangerHandler())
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
