package import Domain
import Synchronization

/// Announces each result of a battery test once, through the notifications of alerts.
extension AlertService {
    struct Telling {
        var recording: Recording
        var meter: MeterID
        /// Number of targets still to be notified.
        var left: Int
        var over: @Sendable () -> Void
    }

    /// - Parameter over: called after every target was notified or given up. Until then, a restart announces the result
    ///   again.
    package func tell(_ test: Recording, of meter: MeterID, over: @escaping @Sendable () -> Void) {
        guard let targets = test.test?.notify, !targets.isEmpty, test.result != nil else { return over() }
        state.withLock { state in
            // The number is the test's start in milliseconds, greater than any alert's number. It is the same after a
            // restart, so that a receiver recognises a repetition.
            var number = test.started.millisecondsSince1970
            while let other = state.tellings[number] {
                guard other.recording.id != test.id else { return }
                number += 1
            }
            state.tellings[number] = Telling(recording: test, meter: meter, left: targets.count, over: over)
            state.untold.append(number)
        }
        wakeUp.yield()
    }

    /// Adds notices to the outbox for battery test results that have none yet: one for each target, with the meter's
    /// name.
    func addResults(_ facts: [MeterID: MeterFacts], in state: inout State) {
        for number in state.untold {
            guard let telling = state.tellings[number], let test = telling.recording.test,
                let result = telling.recording.result
            else { continue }
            var notice = AlertNotice(
                result, test.until, name: telling.recording.name, of: telling.meter, value: test.value,
                at: telling.recording.until)
            notice.meterName = facts[telling.meter]?.name
            let (age, overflow) = loop.wallNow.millisecondsSince1970.subtractingReportingOverflow(
                notice.at.millisecondsSince1970)
            for target in test.notify {
                let entry = AlertOutbox.Entry(number: number, target: target, notice: notice)
                let dropped = state.outbox.add(entry, age: overflow ? .zero : .milliseconds(age), at: loop.now)
                if let dropped { noteDropped(dropped, in: &state) }
            }
        }
        state.untold = []
    }

    /// Counts a delivered or abandoned notice of a test.
    func resultEnded(_ entry: AlertOutbox.Entry, in state: inout State) {
        guard var telling = state.tellings[entry.number] else { return }
        telling.left -= 1
        state.tellings[entry.number] = telling.left > 0 ? telling : nil
        if telling.left <= 0 { telling.over() }
    }
}
