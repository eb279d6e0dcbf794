package import Domain
import LinuxIO
import Synchronization

/// A connection to a broker through libmosquitto, over MQTT 5.
///
/// Each attempt has its own thread, the only one that uses the library. Connecting may block this thread until the
/// kernel's timeout: two minutes for a silent host. Until the thread ends, further attempts fail immediately.
package final class MosquittoLink: BrokerLink {
    package struct Settings: Hashable, Sendable {
        package var address: BrokerAddress
        /// Must be unique, because a broker disconnects the older of two clients with the same ID.
        package var clientID: String
        package var credentialsPath: String?
        /// PEM file of the authorities for the broker's certificate; nil for the system's.
        package var certificatePath: String?
        /// Longest interval between two packets to the broker.
        package var keepAlive = Duration.seconds(30)

        package init(address: BrokerAddress, clientID: String) {
            self.address = address
            self.clientID = clientID
        }
    }

    private struct State {
        var orders: MosquittoOrders?
        var isBusy = false
    }

    private let settings: Settings
    private let state: Shared<State>

    package init(_ settings: Settings) {
        self.settings = settings
        state = Shared(State())
    }

    deinit { close() }

    package func open(will: BrokerMessage?, tell listener: @escaping @Sendable (BrokerEvent) -> Void) {
        close()
        let orders: MosquittoOrders
        do {
            orders = try MosquittoOrders()
        } catch {
            return listener(
                .lost(
                    BrokerTrouble(
                        "no socket pair is available: \(error.words)", next: "are too many files open?")))
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

    /// Value shared by the link and its thread, because the thread may outlive the link.
    private final class Shared<Value: Sendable>: Sendable {
        let lock: Mutex<Value>

        init(_ value: Value) { lock = Mutex(value) }
    }
}
