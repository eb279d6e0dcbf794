struct RunSchedule: Hashable, Sendable {
    struct Retry: Hashable, Sendable {
        var at: MonotonicTime
        /// Whether the cloud set the time. Only a person may shorten such a wait.
        var isLimit: Bool
    }

    /// Reason of the next run; nil if none is requested.
    private(set) var again: SyncTrigger?
    private(set) var retry: Retry?
    /// Record types to fetch in the next run.
    private(set) var unread: Set<RecordType> = []
    private(set) var failures = 0
    private var lastCheck = MonotonicTime.origin
    private var hasRemoteChange = false

    // MARK: Requests

    /// Requests a run. Only a person's request replaces an earlier reason.
    mutating func ask(_ trigger: SyncTrigger) {
        if again == nil || trigger == .asked { again = trigger }
    }

    mutating func ask(_ trigger: SyncTrigger, reading types: some Sequence<RecordType>) {
        unread.formUnion(types)
        ask(trigger)
    }

    mutating func start(at now: MonotonicTime) {
        lastCheck = now
        startOver(because: .started)
    }

    mutating func startOver(because trigger: SyncTrigger) {
        (retry, failures) = (nil, 0)
        ask(trigger, reading: RecordType.known)
    }

    /// Drops earlier requests, because the run that now ends satisfies them.
    mutating func forgetWhoAsked() { again = nil }

    mutating func clear() { (again, retry) = (nil, nil) }

    // MARK: Waiting

    mutating func endWait() { retry = nil }

    mutating func endWaitUnlessLimited() { if retry?.isLimit != true { retry = nil } }

    mutating func forgetFailures() { failures = 0 }

    mutating func failed(_ failures: Int, retryAt time: MonotonicTime, isLimit: Bool) {
        self.failures = failures
        retry = Retry(at: time, isLimit: isLimit)
        ask(.retry)
    }

    // MARK: Remote changes

    mutating func remoteChanged() { hasRemoteChange = true }

    mutating func everythingRead(at now: MonotonicTime) {
        lastCheck = now
        hasRemoteChange = false
    }

    func nextPoll(_ timing: SyncTiming) -> MonotonicTime { lastCheck + timing.pollInterval }

    /// - Returns: false if another host's change was reported since the last check, so no poll is needed.
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

    /// - Returns: nil if no run is requested, or before its start time.
    mutating func take(at now: MonotonicTime) -> (trigger: SyncTrigger, types: Set<RecordType>)? {
        guard let trigger = again, retry.map({ $0.at <= now }) ?? true else { return nil }
        defer { (again, retry, unread) = (nil, nil, []) }
        return (trigger, unread)
    }

    mutating func leave(_ types: [RecordType]) { unread.formUnion(types) }

    var nextRetry: MonotonicTime? { again == nil ? nil : retry?.at }
}
