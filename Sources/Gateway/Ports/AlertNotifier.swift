package import Domain

/// Tells people and programs, as the configuration says.
package protocol AlertNotifier: Sendable {
    /// Those that can be told, by name, with their kind.
    var targets: [(name: String, kind: String)] { get }
    /// Tells one of them; takes its time limit at most, and ends early if the task is cancelled.
    ///
    /// - Parameter number: the notice's, by which a repetition is recognised.
    func send(_ notice: AlertNotice, number: Int64, to target: String) async -> AlertDelivery
}

/// For a host that tells nobody.
package struct SilentNotifier: AlertNotifier {
    package init() {}

    package var targets: [(name: String, kind: String)] { [] }

    package func send(_ notice: AlertNotice, number: Int64, to target: String) async -> AlertDelivery {
        .refused("this host has no [notify.\(target)]")
    }
}
