/// Times used by a node's state machines. Sources: the reference clients, aioesphomeapi 46.23.0 and bleak-esphome
/// 4.1.0, and esphome 2026.6.5.
package struct NodeTiming: Sendable {
    /// Maximum time from the open connection until the node has described itself (aioesphomeapi: 30 s).
    package var greeting = Duration.seconds(30)
    /// Time without a byte before a ping (aioesphomeapi: 20 s).
    package var pingAfter = Duration.seconds(20)
    /// Time without a byte until the connection counts as dead (aioesphomeapi: 90 s).
    package var deadAfter = Duration.seconds(90)
    /// Timeout of a subscription. The node answers immediately, or not at all while another client uses the proxy.
    package var subscription = Duration.seconds(10)
    /// Pause before the first retry of a subscription, and before each later one. The node drops a dead client after
    /// 150 s, and then accepts another client.
    package var subscribeAgain = (first: Duration.seconds(30), later: Duration.seconds(60))
    /// Pause between two connections. Doubles from `first` to `longest`.
    package var retry = (first: Duration.seconds(1), longest: Duration.seconds(60))
    package var patience = Duration.seconds(60)
    /// Longest time that a link waits in the queue. Shorter than a session's limit for an attempt (30 s), so that the
    /// report contains the reason.
    package var turn = Duration.seconds(25)
    /// Timeout of making a link (bleak-retry-connector 4.7.1: 20 s). The proxy makes no other link during this time.
    package var connect = Duration.seconds(20)
    /// Timeout of the list of services. The proxy has the list when the link is up, so only the network causes delay.
    /// With `connect`, it is less than a session's limit for an attempt (30 s).
    package var services = Duration.seconds(9)
    /// Timeout of ending a link (aioesphomeapi: 20 s).
    package var disconnect = Duration.seconds(20)

    package init() {}
}
