package import Domain

package protocol AlertNotifier: Sendable {
    var targets: [(name: String, kind: String)] { get }
    /// Notifies one target within its time limit; ends early if the task is cancelled.
    ///
    /// - Parameter number: lets a target recognise a repetition.
    func send(_ notice: AlertNotice, number: Int64, to target: String) async -> AlertDelivery
}

package struct SilentNotifier: AlertNotifier {
    package init() {}

    package var targets: [(name: String, kind: String)] { [] }

    package func send(_ notice: AlertNotice, number: Int64, to target: String) async -> AlertDelivery {
        .refused("this host has no [notify.\(target)]")
    }
}
