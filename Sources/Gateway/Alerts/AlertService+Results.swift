package import Domain
import Synchronization

/// Battery tests that are over are told in the way of alerts, though they are no rules: what came of one is told once.
extension AlertService {
    /// What is on its way to be told of a test.
    struct Telling {
        var recording: Recording
        var meter: MeterID
        /// How many are still to be told.
        var left: Int
        var over: @Sendable () -> Void
    }

    /// Tells what came of a battery test.
    ///
    /// - Parameter over: called once all were told, or given up. Before that, the same is to be told after a restart.
    package func tell(_ test: Recording, of meter: MeterID, over: @escaping @Sendable () -> Void) {
        guard let targets = test.test?.notify, !targets.isEmpty, test.result != nil else { return over() }
        state.withLock { state in
            // Above those of alerts, and the same after a restart, so that a receiver recognises a repetition.
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

    /// Puts what is to be told into the outbox. The meters' names are known by now.
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

    /// One was told of a test, or given up.
    func resultEnded(_ entry: AlertOutbox.Entry, in state: inout State) {
        guard var telling = state.tellings[entry.number] else { return }
        telling.left -= 1
        state.tellings[entry.number] = telling.left > 0 ? telling : nil
        if telling.left <= 0 { telling.over() }
    }
}
