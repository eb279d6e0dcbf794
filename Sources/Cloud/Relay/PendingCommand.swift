import CloudAPI
import MeterModel

/// A command, at whom it is aimed and by whom. Its holder claims it before it does it.
struct PendingCommand: PendingRequest {
    static let rules = PendingRules(
        noun: "commands", offerTime: .milliseconds(CloudLimits.claimMilliseconds),
        outcomeTime: .milliseconds(CloudLimits.outcomeMilliseconds), keptFor: .seconds(60), openPerHost: 32,
        countPerHost: 512, countPerZone: 2048)

    var meter: String
    /// Of the lease at which it is aimed.
    var token: UInt64
    var holder: HostID
    var holderName: String
    var author: HostID
    var authorName: String
    var action: RelayActionBody

    var asker: HostID { author }
    var hosts: [HostID: AskedHost] { [holder: AskedHost(name: holderName, token: token)] }

    func outcome(_ end: PendingEnd<RelayCommandAnswer>) -> RelayCommandAnswer {
        var answer = said(end)
        answer.holderName = holderName
        return answer
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
        let why =
            end.cause == .closed
            ? "the cloud stopped meanwhile" : "\(holderName) took it and did not say what became of it"
        return RelayCommandAnswer(.timedOut, message: why)
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
