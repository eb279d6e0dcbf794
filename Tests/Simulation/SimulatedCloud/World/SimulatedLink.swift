/// The way between one host and the cloud: loses, delays, doubles, reorders, and may be cut in either direction.
package struct SimulatedLink {
    package enum Direction: CaseIterable { case up, down }

    package var isUpCut = false
    package var isDownCut = false
    package var lossPermille: UInt64
    package var doublePermille: UInt64
    /// Messages that take far longer than others, so that later ones overtake them.
    package var slowPermille: UInt64
    package var slowest: TrueTime
    /// At most one message is lost in so long; nil: chance alone decides.
    package var oneLossPer: TrueTime?
    private var lastLoss: TrueTime?

    package init(lossPermille: UInt64, doublePermille: UInt64, slowPermille: UInt64, slowest: TrueTime) {
        self.lossPermille = lossPermille
        self.doublePermille = doublePermille
        self.slowPermille = slowPermille
        self.slowest = slowest
    }

    package func isCut(_ direction: Direction) -> Bool { direction == .up ? isUpCut : isDownCut }
    package var isCut: Bool { isUpCut || isDownCut }

    /// A message is sent.
    ///
    /// - Returns: after how long it arrives; empty: never; two: it arrives twice.
    package mutating func send(_ direction: Direction, at time: TrueTime, _ rng: inout SimulationRNG) -> [TrueTime] {
        guard !isCut(direction), !isLost(at: time, &rng) else { return [] }
        var delays = [delay(&rng)]
        if rng.happens(permille: doublePermille) { delays.append(delays[0] + delay(&rng) * 3) }
        return delays
    }

    private mutating func isLost(at time: TrueTime, _ rng: inout SimulationRNG) -> Bool {
        guard rng.happens(permille: lossPermille) else { return false }
        if let oneLossPer, let lastLoss, time - lastLoss < oneLossPer { return false }
        lastLoss = time
        return true
    }

    package func delay(_ rng: inout SimulationRNG) -> TrueTime {
        rng.happens(permille: slowPermille)
            ? TrueTime(rng.number(below: Int(slowest))) : TrueTime(500 + rng.number(below: 60_000))
    }
}
