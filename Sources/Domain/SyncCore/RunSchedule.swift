/// Which run is wanted, and from when on.
struct RunSchedule: Hashable, Sendable {
    /// When a run that failed is tried again.
    struct Retry: Hashable, Sendable {
        var at: MonotonicTime
        /// The cloud named the time, which only a person may shorten.
        var isLimit: Bool
    }

    /// Why another run is wanted, if one is. During a run: why one must follow it.
    private(set) var again: SyncTrigger?
    private(set) var retry: Retry?
    /// Types with changes still to be read, other than those that the present run will read.
    private(set) var unread: Set<RecordType> = []
    /// Runs that failed in a row.
    private(set) var failures = 0
    private var lastCheck = MonotonicTime.origin
    private var hasRemoteChange = false

    // MARK: Requests

    /// Asks for a run, now or after the present one. The first reason stays, unless a person asks.
    mutating func ask(_ trigger: SyncTrigger) {
        if again == nil || trigger == .asked { again = trigger }
    }

    /// Asks for a run that also reads these types.
    mutating func ask(_ trigger: SyncTrigger, reading types: some Sequence<RecordType>) {
        unread.formUnion(types)
        ask(trigger)
    }

    mutating func start(at now: MonotonicTime) {
        lastCheck = now
        startOver(because: .started)
    }

    /// Starts over as if nothing had failed so far.
    mutating func startOver(because trigger: SyncTrigger) {
        (retry, failures) = (nil, 0)
        ask(trigger, reading: RecordType.known)
    }

    /// Forgets the requests for another run made so far: they are answered by the end of the present one. Later
    /// requests count.
    mutating func forgetWhoAsked() { again = nil }

    mutating func clear() { (again, retry) = (nil, nil) }

    // MARK: Waiting

    /// A request by a person need not wait.
    mutating func endWait() { retry = nil }

    /// Ends the wait, unless the cloud named the time.
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

    /// - Returns: false if a change was reported since the last check, which makes this poll needless.
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

    /// When a wanted run may be tried.
    var nextRetry: MonotonicTime? { again == nil ? nil : retry?.at }
}
