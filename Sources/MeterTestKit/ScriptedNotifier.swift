package import Domain
import Gateway
import Synchronization

package final class ScriptedNotifier: AlertNotifier {
    private struct State {
        var sent: [(target: String, number: Int64, notice: AlertNotice)] = []
        var answers: [String: AlertDelivery] = [:]
    }

    package let targets: [(name: String, kind: String)]
    private let state = Mutex(State())

    package init(_ names: String...) { targets = names.map { ($0, "webhook") } }

    package func answer(_ target: String, _ delivery: AlertDelivery) {
        state.withLock { $0.answers[target] = delivery }
    }

    package var sent: [(target: String, number: Int64, notice: AlertNotice)] { state.withLock { $0.sent } }

    package func send(_ notice: AlertNotice, number: Int64, to target: String) async -> AlertDelivery {
        state.withLock { state in
            state.sent.append((target, number, notice))
            return state.answers[target] ?? .delivered
        }
    }
}
