package enum RelayAction: Hashable, Sendable {
    case command(MeterCommand)
    case startRecording(name: String?)
    case stopRecording
    /// Action from a newer version.
    case unknown(String)
}

extension RelayAction: CustomStringConvertible {
    package var description: String {
        switch self {
        case .command(let command): command.description
        case .startRecording(let name): name.map { "record start \"\($0)\"" } ?? "record start"
        case .stopRecording: "record stop"
        case .unknown(let kind): kind
        }
    }
}

package struct RelayCommand: Hashable, Sendable {
    package var id: RequestID
    /// Id under which the meter is leased.
    package var meter: MeterID
    /// Fencing token of the lease that the requesting host saw. A holder with another token refuses.
    package var token: FencingToken
    package var action: RelayAction
    package var author: HostID
    package var authorName: String
    /// Replica of the cloud that manages the command; nil if there is only one.
    package var copy: String?

    package init(
        id: RequestID, meter: MeterID, token: FencingToken, action: RelayAction, author: HostID, authorName: String,
        copy: String? = nil
    ) {
        self.id = id
        self.meter = meter
        self.token = token
        self.action = action
        self.author = author
        self.authorName = authorName
        self.copy = copy
    }
}

package enum RelayOutcome: Hashable, Sendable {
    /// - Parameter result: JSON from the holder's API; nil if none.
    case done(result: String?)
    /// The holder refused the command; the texts are those of its API.
    case refused(code: String, message: String, next: String)
    /// The command was not executed, and will not be.
    case notDone(String)
    /// The command may have been executed.
    case timedOut(String)
}
