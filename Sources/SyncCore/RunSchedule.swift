import MeterModel
import SettingsCore

/// Which run is wanted, and from when on.
struct RunSchedule: Hashable, Sendable {
    /// When a run that failed is tried again.
    struct Retry: Hashable, Sendable {
        var at: MonotonicTime
        /// The cloud named the time; only a person may be faster.
        var isLimit: Bool
    }

    /// Why another run is wanted, if one is. During a run this is its "again".
    private(set) var again: SyncTrigger?
    private(set) var retry: Retry?
    /// Types with changes that nobody has read, but for what the present run still will.
    private(set) var unread: Set<RecordType> = []
    /// Runs that failed in a row.
    private(set) var failures = 0
    private var lastCheck = MonotonicTime.origin
    private var hasRemoteChange = false

    // MARK: Asking

    /// Asks for a run, now or after the present one. The first reason stays, but for a person's.
    mutating func ask(_ trigger: SyncTrigger) {
        if again == nil || trigger == .asked { again = trigger }
    }

    /// Asks for a run that reads these types too.
    mutating func ask(_ trigger: SyncTrigger, reading types: some Sequence<RecordType>) {
        unread.formUnion(types)
        ask(trigger)
    }

    mutating func start(at now: MonotonicTime) {
        lastCheck = now
        startOver(because: .started)
    }

    /// As if nothing had failed so far.
    mutating func startOver(because trigger: SyncTrigger) {
        (retry, failures) = (nil, 0)
        ask(trigger, reading: RecordType.known)
    }

    /// What asked for another run so far is told how the present one ended; what comes from now on is not.
    mutating func forgetWhoAsked() { again = nil }

    mutating func clear() { (again, retry) = (nil, nil) }

    // MARK: Waiting

    /// A person waits for nothing.
    mutating func endWait() { retry = nil }

    /// No need to wait any longer, unless the cloud named the time.
    mutating func endWaitUnlessLimited() { if retry?.isLimit != true { retry = nil } }

    mutating func forgetFailures() { failures = 0 }

    mutating func failed(_ failures: Int, retryAt time: MonotonicTime, isLimit: Bool) {
        self.failures = failures
        retry = Retry(at: time, isLimit: isLimit)
        ask(.retry)
    }

    // MARK: Remote changes

    /// Another host changed something.
    mutating func remoteChanged() { hasRemoteChange = true }

    /// A complete run counts as a check for remote changes.
    mutating func everythingRead(at now: MonotonicTime) {
        lastCheck = now
        hasRemoteChange = false
    }

    func nextPoll(_ timing: SyncTiming) -> MonotonicTime { lastCheck + timing.pollInterval }

    /// - Returns: false where a change was told since the last check: then this poll is needless.
    mutating func poll(at now: MonotonicTime) -> Bool {
        lastCheck = now
        guard !hasRemoteChange else {
            hasRemoteChange = false
            return false
        }
        ask(.poll, reading: RecordType.known)
        return true
    }

    // MARK: Runs

    /// - Returns: the run that is wanted, once its time has come.
    mutating func take(at now: MonotonicTime) -> (trigger: SyncTrigger, types: Set<RecordType>)? {
        guard let trigger = again, retry.map({ $0.at <= now }) ?? true else { return nil }
        defer { (again, retry, unread) = (nil, nil, []) }
        return (trigger, unread)
    }

    /// What a run did not read is still to be read.
    mutating func leave(_ types: [RecordType]) { unread.formUnion(types) }

    /// When a run that is wanted may be tried.
    var nextRetry: MonotonicTime? { again == nil ? nil : retry?.at }
}
