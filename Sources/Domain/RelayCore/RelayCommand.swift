/// Action that a host requests from the meter's holder.
package enum RelayAction: Hashable, Sendable {
    case command(MeterCommand)
    case startRecording(name: String?)
    case stopRecording
    /// Action of a newer version.
    case unknown(String)
}

/// The action as people type it.
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
    /// Token of the lease that the requesting host saw. A holder under another token refuses the command.
    package var token: FencingToken
    package var action: RelayAction
    package var author: HostID
    package var authorName: String
    /// Replica of the cloud that decides about the command; nil if there is only one.
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
    /// - Parameter result: JSON text of the holder's own API; nil if the API returns none.
    case done(result: String?)
    /// The holder refused the command, in the words of its own API.
    case refused(code: String, message: String, next: String)
    /// The command was not executed and will not be.
    case notDone(String)
    /// The command may have been executed.
    case timedOut(String)
}
