import ConnectionCore
import IOPorts
import MeterCodec
import MeterModel

/// One channel to a meter at a time, from `open` to `close`, with all that lives only as long as it: the steps of its
/// opening, and the exchange over it.
struct MeterLine {
    private(set) var channel: (any ByteChannel)?
    /// The channel is open: leaving it says goodbye to the meter, and losing it is counted.
    private(set) var isUp = false
    /// Rises with each channel, so that a late event of an old one is known as such.
    private(set) var number = 0
    /// The present channel, or the last one, brought a reading.
    private(set) var hasReading = false
    /// Channels in a row that were up and brought no reading.
    private(set) var silentLinks = 0
    /// There is one from when the meter is set up. While logs are read it rests.
    var exchange: ExchangeMachine?
    private var opening: [Outgoing] = []
    private var openingTimer: LoopTimer?

    /// - Parameter make: makes a channel whose events carry this number.
    mutating func open(_ make: (_ number: Int) -> any ByteChannel) {
        number += 1
        channel = make(number)
    }

    /// Whether an event is of the present channel.
    func isCurrent(_ number: Int) -> Bool { number == self.number && channel != nil }

    mutating func cameUp() {
        isUp = true
        hasReading = false
    }

    /// From now on `nextStep` tells what sets the meter up.
    mutating func beginOpening(_ steps: [Outgoing]) { opening = steps }

    mutating func nextStep() -> Outgoing? { opening.isEmpty ? nil : opening.removeFirst() }

    mutating func pauseOpening(with timer: LoopTimer) { openingTimer = timer }

    mutating func broughtReading() {
        hasReading = true
        silentLinks = 0
    }

    /// Nothing came for too long.
    mutating func wasSilent() {
        if !hasReading { silentLinks += 1 }
    }

    /// The meter told who it is: whoever speaks to it from now on sets it up anew.
    mutating func wasIdentified() {
        silentLinks = 0
        exchange = nil
    }

    /// Harmless where there is no channel.
    ///
    /// - Parameter pause: for which the channel takes what still comes, where the meter was told goodbye.
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
