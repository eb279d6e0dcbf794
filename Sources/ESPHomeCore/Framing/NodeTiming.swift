/// The times of a node's machines. Those with a source are of the reference clients, aioesphomeapi 46.23.0 and
/// bleak-esphome 4.1.0, or of esphome 2026.6.5.
package struct NodeTiming: Sendable {
    /// From the connection being up until the node has told about itself (aioesphomeapi: 30 s).
    package var greeting = Duration.seconds(30)
    /// Without a byte for this long the node is asked whether it lives (aioesphomeapi: 20 s).
    package var pingAfter = Duration.seconds(20)
    /// Without a byte for this long the connection is dead (aioesphomeapi: 90 s).
    package var deadAfter = Duration.seconds(90)
    /// How long a subscription may take. It is answered at once, or not at all while another client has the proxy.
    package var subscription = Duration.seconds(10)
    /// When to subscribe again, and the same from the second time on: the node forgets a dead client after 150 s.
    package var subscribeAgain = (first: Duration.seconds(30), later: Duration.seconds(60))
    /// Pause between two connections: doubles from the first to the second.
    package var retry = (first: Duration.seconds(1), longest: Duration.seconds(60))
    /// How long it may be out of reach until a person is told to act.
    package var patience = Duration.seconds(60)
    /// How long a link may wait for its turn: less than a session gives to an attempt (30 s), so that the reason is known.
    package var turn = Duration.seconds(25)
    /// How long a link may take to come up (bleak-retry-connector 4.7.1: 20 s). No other link is made meanwhile.
    package var connect = Duration.seconds(20)
    /// How long the list of services may take. The proxy has it when the link is up, so this is the network's time; both
    /// together are less than a session gives to an attempt (30 s).
    package var services = Duration.seconds(9)
    /// How long a link may take to end (aioesphomeapi: 20 s).
    package var disconnect = Duration.seconds(20)

    package init() {}
}
