/// What a host wants done with a meter that another host has.
package enum RelayAction: Hashable, Sendable {
    case command(MeterCommand)
    case startRecording(name: String?)
    case stopRecording
    /// Of a newer version.
    case unknown(String)
}

/// As people type it.
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

/// A command on its way to the host that has the meter.
package struct RelayCommand: Hashable, Sendable {
    package var id: RequestID
    /// The id under which the meter is leased.
    package var meter: MeterID
    /// Of the lease at which it is aimed: another holder does not do it.
    package var token: FencingToken
    package var action: RelayAction
    package var author: HostID
    package var authorName: String
    /// The copy of the cloud that decides about it; nil where there is only one.
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

/// What became of a command.
package enum RelayOutcome: Hashable, Sendable {
    /// - Parameter result: what the holder's own API answers, as a text of JSON; nil where that says nothing.
    case done(result: String?)
    /// The holder refused it, in the words of its own API.
    case refused(code: String, message: String, next: String)
    /// It was not done, and will not be.
    case notDone(String)
    /// It may have been done.
    case timedOut(String)
}
