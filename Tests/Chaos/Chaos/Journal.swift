import CloudAPI
import Domain
import Glibc
import LeaseWitness
import LinuxIO
import SimulatedCloud
import Synchronization

/// What a process of hosts did and saw, line by line in a file. A line is there as soon as it was written, also after
/// SIGKILL: a call is written before it is made, so that one without an end has an unknown outcome.
///
/// Every moment is on the boot-time clock, which all processes of the machine share. Words are separated by blanks, `-`
/// stands for nothing. `JournalReader` reads it.
final class Journal: Sendable {
    private let file: Int32
    private let count = Atomic<UInt64>(0)

    init(path: String) throws {
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ChaosFailure("\(path) cannot be written: \(errno)") }
    }

    deinit { close(file) }

    static var now: Int64 { LinuxClock.now.sinceOrigin.nanoseconds }

    /// One write, which is whole or not there.
    func write(_ words: String) {
        let line = Array((words + "\n").utf8)
        let written = Glibc.write(file, line, line.count)
        precondition(written == line.count, "the journal cannot be written: \(errno)")
    }

    // MARK: Calls

    /// - Returns: the call's number, for `end`.
    func begin(
        _ request: LeaseOperation.Request, of meter: MeterID, in zone: String, at time: Int64 = Journal.now
    ) -> UInt64 {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let what =
            switch request {
            case .acquire(let acquire):
                "acquire \(acquire.requestID) \(acquire.host) \(acquire.session) "
                    + "\(acquire.previousSession?.description ?? "-") \(acquire.takeover.map { "\($0.rawValue)" } ?? "-")"
            case .renew(let session, let token): "renew \(session) \(token.rawValue)"
            case .release(let session, let token): "release \(session) \(token.rawValue)"
            case .revoke, .read: preconditionFailure("not a call of a host")
            }
        write("call \(number) \(time) \(zone) \(meter) \(what)")
        return number
    }

    func end(_ number: UInt64, _ outcome: LeaseOperation.Outcome) {
        let what =
            switch outcome {
            case .granted(let token): "granted \(token.rawValue)"
            case .refused(let reason, let sight): "refused \(reason.rawValue) \(sight.map { Self.words($0) } ?? "? ?")"
            case .renewed: "renewed"
            case .lost(let loss): "lost \(loss.rawValue)"
            case .done: "done"
            case .seen, .unknown: "unknown"
            }
        write("end \(number) \(Self.now) \(what)")
    }

    /// What a list showed of one meter.
    func saw(_ sight: LeaseOperation.Sight, of meter: MeterID, in zone: String, since calledAt: Int64) {
        write("saw \(calledAt) \(Self.now) \(zone) \(meter) \(Self.words(sight))")
    }

    private static func words(_ sight: LeaseOperation.Sight) -> String {
        "\(sight.holder?.description ?? "-") \(sight.token.map { "\($0.rawValue)" } ?? "-")"
    }

    /// A call that is over, as somebody else recorded it.
    func add(_ operation: LeaseOperation, of meter: MeterID, in zone: String) {
        let calledAt = operation.calledAt.sinceOrigin.nanoseconds
        if case .seen(let sight) = operation.outcome { return saw(sight, of: meter, in: zone, since: calledAt) }
        end(begin(operation.request, of: meter, in: zone, at: calledAt), operation.outcome)
    }

    /// What a holder did for another host, or what its author heard of it.
    func add(_ event: CommandLedger.Event) {
        switch event {
        case .did(let id): write("did \(id)")
        case .heard(let id, let outcome, let isRepeat, let isLate):
            write("heard \(id) \(outcome.rawValue) \(isRepeat) \(isLate)")
        }
    }

    // MARK: Meters and settings

    /// The host speaks with the meter, by this permission, which was good at `time`.
    func use(_ meter: MeterID, in zone: String, by host: HostID, _ token: FencingToken, at time: MonotonicTime) {
        write("use \(time.sinceOrigin.nanoseconds) \(zone) \(meter) \(host) \(token.rawValue)")
    }

    /// The host's own store has it.
    func wrote(_ key: String, _ property: String, _ value: Int64, in zone: String) {
        write("wrote \(zone) \(key) \(property) \(value)")
    }

    /// The cloud said that it has it.
    func acknowledged(_ key: String, _ property: String, _ value: Int64, in zone: String) {
        write("acknowledged \(zone) \(key) \(property) \(value)")
    }

    /// The cloud has what a host pushed.
    func pushed(_ host: HostID, in zone: String, since calledAt: Int64) {
        write("pushed \(calledAt) \(Self.now) \(zone) \(host)")
    }

    /// A host was given a page of the zone's changes, and a token that is of that time.
    func fetched(in zone: String, since calledAt: Int64) { write("fetched \(calledAt) \(Self.now) \(zone)") }

    /// What the cloud had in the end.
    func found(_ key: String, _ property: String, _ value: Int64, in zone: String) {
        write("found \(zone) \(key) \(property) \(value)")
    }

    /// All records that a host has in the end, as one number.
    func ended(_ host: String, in zone: String, records: Int, digest: UInt64) {
        write("ended \(zone) \(host) \(records) \(digest)")
    }

    /// What somebody saw of a meter that another host had, and how often it changed hands meanwhile.
    func watched(readings: Int, handovers: Int) { write("watched \(readings) \(handovers)") }

    /// The cloud said that its store went back.
    func lostTimeline(in zone: String) { write("timeline \(Self.now) \(zone)") }

    /// An answer that no fault explains.
    func surprise(_ words: String) { write("surprise \(words.replacing("\n", with: " "))") }
}

/// Why a run says nothing, or nothing good.
struct ChaosFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
