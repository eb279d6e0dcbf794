import CloudAPI
import Domain

/// A command that is offered to the host that has the meter. Its holder claims it before it does it.
struct PendingCommand: PendingRequest {
    static let rules = PendingRules(
        noun: "commands", offerTime: .milliseconds(CloudLimits.claimMilliseconds),
        outcomeTime: .milliseconds(CloudLimits.outcomeMilliseconds), openPerHost: 32, countPerHost: 512,
        countPerZone: 2048)

    var wish: CommandWish
    /// Under its canonical id.
    var meter: String
    var holder: HostID
    var holderName: String
    var author: HostID
    var authorName: String

    var asker: HostID { author }
    var hosts: [HostID: AskedHost] { [holder: AskedHost(name: holderName, token: wish.token)] }

    /// As the store keeps it, from the claim or the end on.
    func stored(_ outcome: RelayCommandAnswer? = nil) -> StoredCommand {
        StoredCommand(wish, holder: holder, holderName: holderName, outcome: outcome)
    }

    func outcome(_ end: PendingEnd<RelayCommandAnswer>) -> CommandEnd {
        var answer = said(end)
        answer.holderName = holderName
        return CommandEnd(answer: answer, wasClaimed: end.wasClaimed, isHoldersWord: end.parts[holder] != nil)
    }

    private func said(_ end: PendingEnd<RelayCommandAnswer>) -> RelayCommandAnswer {
        guard end.wasClaimed else {
            return switch end.cause {
            case .answered: unclaimed(end.parts[holder])
            case .expired: notDone("\(holderName) did not take it within \(Self.rules.offerTime.milliseconds / 1000) s")
            case .withdrawn: notDone("it was taken back")
            case .changedHands: notDone("the meter changed hands before it was done")
            case .closed: notDone("the cloud stopped before it was done")
            }
        }
        if let said = end.parts[holder] { return said }
        return end.cause == .closed
            ? RelayCommandAnswer(.timedOut, message: "the cloud stopped meanwhile") : .silence(of: holderName)
    }

    /// A holder that has not claimed a command cannot have done it.
    private func unclaimed(_ said: RelayCommandAnswer?) -> RelayCommandAnswer {
        guard let said, said.outcome == .refused || said.outcome == .notDone else {
            return notDone("the holder did it without asking")
        }
        return said
    }

    private func notDone(_ why: String) -> RelayCommandAnswer { RelayCommandAnswer(.notDone, message: why) }
}

/// How a command ended at this copy of the cloud. Another one may know more.
struct CommandEnd: Hashable {
    var answer: RelayCommandAnswer
    /// Through this copy.
    var wasClaimed: Bool
    var isHoldersWord: Bool
}

extension RelayCommandAnswer {
    /// The holder claimed the command, and nothing more is known.
    static func silence(of holder: String) -> RelayCommandAnswer {
        var answer = RelayCommandAnswer(.timedOut, message: "\(holder) took it and did not say what became of it")
        answer.holderName = holder
        return answer
    }
}

/// When this copy of the cloud first saw each stored command as it is now: no clocks are compared.
struct CommandAges {
    /// From the claim or, once the outcome is known, from then. A repeat gets the outcome for 75 s after the end, and an
    /// outcome comes within 10 s of its claim.
    static let keptFor = Duration.seconds(75) + PendingCommand.rules.outcomeTime

    private var since: [CommandMark: MonotonicTime] = [:]

    /// - Parameter marks: all stored commands.
    /// - Returns: those that are old.
    mutating func look(at marks: [CommandMark], now: MonotonicTime) -> [CommandMark] {
        since = Dictionary(marks.map { ($0, since[$0] ?? now) }, uniquingKeysWith: min)
        return since.filter { now - $0.value >= Self.keptFor }.map(\.key)
    }
}
