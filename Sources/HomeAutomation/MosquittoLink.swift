package import Domain
import LinuxIO
import Synchronization

/// A connection to a broker through libmosquitto, over MQTT 5.
///
/// Each attempt has a thread of its own, and only that touches the library: connecting may block it for as long as the
/// kernel tries (two minutes for a host that does not answer), and nothing else waits. While such a thread is running,
/// the next attempt fails at once, so there is never more than one.
package final class MosquittoLink: BrokerLink {
    package struct Settings: Hashable, Sendable {
        package var address: BrokerAddress
        /// Unique among all clients of the broker, which disconnects the older of two with the same id.
        package var clientID: String
        /// The file with user and password, if the broker requires them.
        package var credentialsPath: String?
        /// The PEM file of certificates one of which must have issued the broker's. Nil for those that the system
        /// trusts.
        package var certificatePath: String?
        /// Longest time without a packet to the broker.
        package var keepAlive = Duration.seconds(30)

        package init(address: BrokerAddress, clientID: String) {
            self.address = address
            self.clientID = clientID
        }
    }

    private struct State {
        /// The orders for the present attempt or link.
        var orders: MosquittoOrders?
        /// Whether a thread is still running.
        var isBusy = false
    }

    private let settings: Settings
    private let state: Shared<State>

    package init(_ settings: Settings) {
        self.settings = settings
        state = Shared(State())
    }

    deinit { close() }

    package func open(will: BrokerMessage, tell listener: @escaping @Sendable (BrokerEvent) -> Void) {
        close()
        let orders: MosquittoOrders
        do {
            orders = try MosquittoOrders()
        } catch {
            return listener(
                .lost(
                    BrokerTrouble(
                        "no pair of sockets can be had: \(error.words)", next: "are too many files open?")))
        }
        let isFree = state.lock.withLock { state in
            guard !state.isBusy else { return false }
            state = State(orders: orders, isBusy: true)
            return true
        }
        guard isFree else {
            return listener(
                .lost(
                    BrokerTrouble(
                        "the attempt before has not ended yet: the network does not answer",
                        next: "is \(settings.address.host) on, and on this network? a firewall may stand between")))
        }
        BackgroundThread.run { [settings, state] in
            let cause = MosquittoSession.run(settings, will: will, orders: orders, tell: listener)
            state.lock.withLock { state in
                state.isBusy = false
                if state.orders === orders { state.orders = nil }
            }
            listener(.lost(cause))
        }
    }

    package func close() {
        let orders = state.lock.withLock { state in state.orders.take() }
        orders?.add(.close)
    }

    package func subscribe(_ topics: [String]) { add(.subscribe(topics)) }

    package func publish(_ messages: [NumberedMessage]) { add(.publish(messages)) }

    private func add(_ order: MosquittoOrders.Order) {
        state.lock.withLock { $0.orders }?.add(order)
    }

    /// A lock that the thread keeps alive, rather than the link.
    private final class Shared<Value: Sendable>: Sendable {
        let lock: Mutex<Value>

        init(_ value: Value) { lock = Mutex(value) }
    }
}
