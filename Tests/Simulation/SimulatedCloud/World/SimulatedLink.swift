/// The way between one host and the cloud: loses, delays, doubles, reorders, and may be cut in either direction.
struct SimulatedLink {
    enum Direction: CaseIterable { case up, down }

    var isUpCut = false
    var isDownCut = false
    var lossPermille: UInt64
    var doublePermille: UInt64
    /// Messages that take far longer than others, so that later ones overtake them.
    var slowPermille: UInt64
    var slowest: TrueTime
    /// At most one message is lost in so long; nil: chance alone decides.
    var oneLossPer: TrueTime?
    private var lastLoss: TrueTime?

    init(lossPermille: UInt64, doublePermille: UInt64, slowPermille: UInt64, slowest: TrueTime) {
        self.lossPermille = lossPermille
        self.doublePermille = doublePermille
        self.slowPermille = slowPermille
        self.slowest = slowest
    }

    func isCut(_ direction: Direction) -> Bool { direction == .up ? isUpCut : isDownCut }
    var isCut: Bool { isUpCut || isDownCut }

    /// A message is sent.
    ///
    /// - Returns: after how long it arrives; empty: never; two: it arrives twice.
    mutating func send(_ direction: Direction, at time: TrueTime, _ dice: inout SeededDice) -> [TrueTime] {
        guard !isCut(direction), !isLost(at: time, &dice) else { return [] }
        var delays = [delay(&dice)]
        if dice.happens(permille: doublePermille) { delays.append(delays[0] + delay(&dice) * 3) }
        return delays
    }

    private mutating func isLost(at time: TrueTime, _ dice: inout SeededDice) -> Bool {
        guard dice.happens(permille: lossPermille) else { return false }
        if let oneLossPer, let lastLoss, time - lastLoss < oneLossPer { return false }
        lastLoss = time
        return true
    }

    func delay(_ dice: inout SeededDice) -> TrueTime {
        dice.happens(permille: slowPermille)
            ? TrueTime(dice.number(below: Int(slowest))) : TrueTime(500 + dice.number(below: 60_000))
    }
}
