import Domain
import MeterCodec

/// One channel to a meter at a time, from `open` to `close`, with all that lives only as long as it: the steps of its
/// opening and the exchange over it.
struct MeterLine {
    private(set) var channel: (any ByteChannel)?
    /// The channel is open: leaving it sends the meter its goodbye, and losing it counts.
    private(set) var isUp = false
    /// Rises with each channel, so that a late event from an old one is recognised.
    private(set) var number = 0
    /// Whether the present channel, or the last one, brought a reading.
    private(set) var hasReading = false
    /// Consecutive channels that were up and brought no reading.
    private(set) var silentLinks = 0
    /// Present once the meter is being set up. It rests while logs are read.
    var exchange: ExchangeMachine?
    private var opening: [Outgoing] = []
    private var openingTimer: LoopTimer?

    /// - Parameter make: makes a channel whose events carry this number.
    mutating func open(_ make: (_ number: Int) -> any ByteChannel) {
        number += 1
        channel = make(number)
    }

    /// Whether an event belongs to the present channel.
    func isCurrent(_ number: Int) -> Bool { number == self.number && channel != nil }

    mutating func cameUp() {
        isUp = true
        hasReading = false
    }

    /// From now on `nextStep` gives what sets the meter up.
    mutating func beginOpening(_ steps: [Outgoing]) { opening = steps }

    mutating func nextStep() -> Outgoing? { opening.isEmpty ? nil : opening.removeFirst() }

    mutating func pauseOpening(with timer: LoopTimer) { openingTimer = timer }

    mutating func broughtReading() {
        hasReading = true
        silentLinks = 0
    }

    /// The line was silent for too long.
    mutating func wasSilent() {
        if !hasReading { silentLinks += 1 }
    }

    /// The meter identified itself: the driver that takes over sets it up anew.
    mutating func wasIdentified() {
        silentLinks = 0
        exchange = nil
    }

    /// Harmless without a channel.
    ///
    /// - Parameter pause: how long the channel goes on receiving after the meter was sent its goodbye.
    mutating func close(after pause: Duration?, on loop: any SessionLoop) {
        if let pause { channel?.close(after: pause) } else { channel?.close() }
        channel = nil
        isUp = false
        exchange = nil
        opening = []
        if let openingTimer { loop.cancel(openingTimer) }
        openingTimer = nil
    }
}
