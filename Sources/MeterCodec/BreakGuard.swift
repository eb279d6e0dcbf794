/// A measurement that can be compared with the previous one.
package protocol Successor: Sendable {
    /// Returns whether this measurement differs from `last` so much that one of them may be damaged.
    func breaks(with last: Self) -> Bool
    /// Returns whether `next` shows that the jump from `last` to this measurement was real; `last` is nil for the first
    /// one.
    func isConfirmed(by next: Self, after last: Self?) -> Bool
}

/// Delays a measurement that jumps from the previous one until the next one confirms it. For meters whose frames have
/// no checksum.
///
/// A confirmed measurement keeps its arrival time; an unconfirmed one is dropped and counted. Measurements near the
/// last level, the level before it, or the last dropped one always pass, because a load may pulse.
package struct BreakGuard<Measurement: Successor>: Sendable {
    private struct Item: Sendable {
        var measurement: Measurement
        var frame: Frame
    }

    private var held: Item?
    private var last: Measurement?
    /// Level before the last jump.
    private var former: Measurement?
    private var dropped: Measurement?

    package init() {}

    /// - Parameter parts: the part of the frame to delay and the part to report immediately; nil to delay the whole
    ///   frame.
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

/// Voltage and current, compared to distinguish real steps from damaged frames.
package struct StepLevel: Hashable, Sendable {
    package var voltage: Double
    package var current: Double

    /// Relative change of the voltage above which it is a step.
    private let voltagePart: Double

    /// - Parameter voltagePart: relative change that counts as a step; less than 0.1 for a supply with a constant
    ///   voltage.
    package init(voltage: Double, current: Double, voltagePart: Double = 0.1) {
        (self.voltage, self.current, self.voltagePart) = (voltage, current, voltagePart)
    }

    /// Returns whether voltage or current differs by more than 50 mV or 50 mA and by more than 10 % (voltage:
    /// `voltagePart`).
    package func isStep(from other: StepLevel) -> Bool {
        Self.isStep(from: other.voltage, to: voltage, voltagePart) || Self.isStep(from: other.current, to: current, 0.1)
    }

    /// Returns whether `next` is near this level or continues the step from `last`. Current changes below a factor of
    /// two need no confirmation: a recorded J7-C drew 0.37, 0.46 and 0.38 A in three seconds (syssi/esphome-atorch-dl24
    /// docs/pdus/atorch-j7-c.txt).
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
