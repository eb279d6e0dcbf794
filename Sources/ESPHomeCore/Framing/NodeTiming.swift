/// Timeouts and pauses for an ESPHome node and its links. Sources: aioesphomeapi 46.23.0, bleak-esphome 4.1.0 and
/// esphome 2026.6.5.
package struct NodeTiming: Sendable {
    /// Maximum time from connection to the node's self-description (aioesphomeapi: 30 s).
    package var greeting = Duration.seconds(30)
    /// Time without received data before a ping (aioesphomeapi: 20 s).
    package var pingAfter = Duration.seconds(20)
    /// Time without received data until the connection counts as dead (aioesphomeapi: 90 s).
    package var deadAfter = Duration.seconds(90)
    /// Timeout of a subscription: the node answers immediately, or not at all while another client uses the proxy.
    package var subscription = Duration.seconds(10)
    /// Pause before the first retry of a subscription, and before each later one. The node drops a dead client after
    /// 150 s and then accepts another.
    package var subscribeAgain = (first: Duration.seconds(30), later: Duration.seconds(60))
    /// Pause between connection attempts; doubles from `first` to `longest`.
    package var retry = (first: Duration.seconds(1), longest: Duration.seconds(60))
    package var patience = Duration.seconds(60)
    /// Maximum time in the queue for a Bluetooth link. Shorter than a session's limit for an attempt (30 s), so that
    /// users see the reason: no free slot.
    package var turn = Duration.seconds(25)
    /// Timeout for making a Bluetooth link (bleak-retry-connector 4.7.1: 20 s), during which the proxy makes no other.
    package var connect = Duration.seconds(20)
    /// Timeout for receiving the list of services, which the proxy has when the link is up. `connect` plus `services`
    /// is less than a session's limit for an attempt (30 s).
    package var services = Duration.seconds(9)
    /// Timeout for ending a Bluetooth link (aioesphomeapi: 20 s).
    package var disconnect = Duration.seconds(20)

    package init() {}
}
