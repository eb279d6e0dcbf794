/// Resources that a finished session or daemon did not release.
package struct Leftovers: Hashable, Sendable, CustomStringConvertible {
    package var timers: Int
    package var channels: Int

    package init(on loop: VirtualLoop, _ links: SimulatedLinks) {
        timers = loop.pendingTimers
        channels = links.openChannels
    }

    package init(timers: Int, channels: Int) {
        self.timers = timers
        self.channels = channels
    }

    package static let none = Leftovers(timers: 0, channels: 0)

    package var description: String { "\(timers) timers, \(channels) channels" }
}
