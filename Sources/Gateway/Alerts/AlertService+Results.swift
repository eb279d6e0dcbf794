package import Domain
import Synchronization

/// Announces each battery test's result once, through the notifications of alerts.
extension AlertService {
    struct Telling {
        var recording: Recording
        var meter: MeterID
        /// Number of targets not yet notified.
        var left: Int
        var over: @Sendable () -> Void
    }

    /// - Parameter over: called once every target was notified or given up. Until then, a restart announces the result
    ///   again.
    package func tell(_ test: Recording, of meter: MeterID, over: @escaping @Sendable () -> Void) {
        guard let targets = test.test?.notify, !targets.isEmpty, test.result != nil else { return over() }
        state.withLock { state in
            // The notice number is the test's start in milliseconds, which exceeds every alert's number. It survives a
            // restart, so that receivers recognise a repetition.
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

    /// Adds the missing notices of battery test results to the outbox, one for each target.
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

    func resultEnded(_ entry: AlertOutbox.Entry, in state: inout State) {
        guard var telling = state.tellings[entry.number] else { return }
        telling.left -= 1
        state.tellings[entry.number] = telling.left > 0 ? telling : nil
        if telling.left <= 0 { telling.over() }
    }
}
