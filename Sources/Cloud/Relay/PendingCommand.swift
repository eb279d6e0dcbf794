import CloudAPI
import Domain

/// A command offered to the meter's holder, which must claim it before running it.
struct PendingCommand: PendingRequest {
    static let rules = PendingRules(
        noun: "commands", offerTime: .milliseconds(CloudLimits.claimMilliseconds),
        outcomeTime: .milliseconds(CloudLimits.outcomeMilliseconds), openPerHost: 32, countPerHost: 512,
        countPerZone: 2048)

    var wish: CommandWish
    /// Canonical id.
    var meter: String
    var holder: HostID
    var holderName: String
    var author: HostID
    var authorName: String

    var asker: HostID { author }
    var hosts: [HostID: AskedHost] { [holder: AskedHost(name: holderName, token: wish.token)] }

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

    /// Accepts only a refusal or "not done", because a holder must claim a command before running it.
    private func unclaimed(_ said: RelayCommandAnswer?) -> RelayCommandAnswer {
        guard let said, said.outcome == .refused || said.outcome == .notDone else {
            return notDone("the holder did it without asking")
        }
        return said
    }

    private func notDone(_ why: String) -> RelayCommandAnswer { RelayCommandAnswer(.notDone, message: why) }
}

struct CommandEnd: Hashable {
    var answer: RelayCommandAnswer
    var wasClaimed: Bool
    var isHoldersWord: Bool
}

extension RelayCommandAnswer {
    /// Answer if the holder claimed the command without reporting an outcome.
    static func silence(of holder: String) -> RelayCommandAnswer {
        var answer = RelayCommandAnswer(.timedOut, message: "\(holder) took it and did not say what became of it")
        answer.holderName = holder
        return answer
    }
}

/// Times when this replica first saw each version of a command, on its own monotonic clock: clocks of different
/// machines are not compared.
struct CommandAges {
    /// Retention time of a stored command, from its claim or, once known, its outcome. A repeated request must receive
    /// the outcome for 75 s after the command's end, which is at most 10 s after its claim.
    static let keptFor = Duration.seconds(75) + PendingCommand.rules.outcomeTime

    private var since: [CommandMark: MonotonicTime] = [:]

    mutating func look(at marks: [CommandMark], now: MonotonicTime) -> [CommandMark] {
        since = Dictionary(marks.map { ($0, since[$0] ?? now) }, uniquingKeysWith: min)
        return since.filter { now - $0.value >= Self.keptFor }.map(\.key)
    }
}
