/// A measurement that can be held against the one before it.
package protocol Successor: Sendable {
    /// Whether this breaks with `last`: one of them may be damaged.
    func breaks(with last: Self) -> Bool
    /// Whether `next` shows that this was meant, although it broke with `last`; nil if nothing came before.
    func isConfirmed(by next: Self, after last: Self?) -> Bool
}

/// Holds back a measurement that breaks with the one before it, until the next one confirms it, for meters whose frames have no
/// check.
///
/// A break that was confirmed is told with the moment at which it came; one that was not is dropped and counted, and the next
/// measurement passes. A level that was seen before passes: a load that pulses once a second would be dropped for ever otherwise.
package struct BreakGuard<Measurement: Successor>: Sendable {
    private struct Item: Sendable {
        var measurement: Measurement
        var frame: Frame
    }

    private var held: Item?
    private var last: Measurement?
    /// The one before the last break, and the last one that was dropped.
    private var former: Measurement?
    private var dropped: Measurement?

    package init() {}

    /// Takes the next measurement and passes on what it means.
    ///
    /// - Parameters:
    ///   - frame: what is told of it.
    ///   - parts: the same in two, where the frame has more than the measurement: what waits, and what need not.
    package mutating func take(
        _ next: Measurement, as frame: Frame, parts: (waiting: Frame, rest: Frame)? = nil,
        _ handle: (MeterEvent) -> Void
    ) {
        if let held = held.take() {
            guard held.measurement.isConfirmed(by: next, after: last) else {
                handle(.filtered(samples: 1))
                dropped = held.measurement
                return pass(next, frame, handle)
            }
            handle(.confirmed(held.frame))
            follow(held.measurement)
        }
        let known = [last, former, dropped].compactMap { $0 }
        guard known.isEmpty || known.contains(where: { !next.breaks(with: $0) }) else {
            held = Item(measurement: next, frame: parts?.waiting ?? frame)
            if let rest = parts?.rest { handle(.frame(rest)) }
            return handle(.held)
        }
        pass(next, frame, handle)
    }

    private mutating func pass(_ next: Measurement, _ frame: Frame, _ handle: (MeterEvent) -> Void) {
        follow(next)
        handle(.frame(frame))
    }

    private mutating func follow(_ next: Measurement) {
        if let last, next.breaks(with: last) { former = last }
        last = next
    }
}

/// A voltage and a current, for telling a step that is real from damage.
package struct StepLevel: Hashable, Sendable {
    package var voltage: Double
    package var current: Double

    /// The part of a voltage by which it steps.
    private let voltagePart: Double

    /// - Parameter voltagePart: less than 10 % where the supply holds its voltage.
    package init(voltage: Double, current: Double, voltagePart: Double = 0.1) {
        (self.voltage, self.current, self.voltagePart) = (voltage, current, voltagePart)
    }

    /// More than 10 %, and more than 50 mV or 50 mA.
    package func isStep(from other: StepLevel) -> Bool {
        Self.isStep(from: other.voltage, to: voltage, voltagePart) || Self.isStep(from: other.current, to: current, 0.1)
    }

    /// Whether `next` is near this, or goes further the same way, in what stepped from `last`. A current that steps to less than
    /// twice, or more than half, needs no proof: recorded J7-C draw 0.37, 0.46 and 0.38 A in three seconds
    /// (syssi/esphome-atorch-dl24 docs/pdus/atorch-j7-c.txt).
    package func isConfirmed(by next: StepLevel, after last: StepLevel) -> Bool {
        Self.isConfirmed(voltage, by: next.voltage, after: last.voltage, voltagePart)
            && (Self.isConfirmed(current, by: next.current, after: last.current, 0.1)
                || [last.current, next.current].allSatisfy { abs($0 - current) <= max(abs($0), abs(current)) / 2 })
    }

    private static func isStep(from one: Double, to other: Double, _ part: Double) -> Bool {
        abs(one - other) > 0.05 && abs(one - other) > max(abs(one), abs(other)) * part
    }

    private static func isConfirmed(_ value: Double, by next: Double, after last: Double, _ part: Double) -> Bool {
        !isStep(from: last, to: value, part) || !isStep(from: value, to: next, part)
            || (next - value) * (value - last) > 0
    }
}
