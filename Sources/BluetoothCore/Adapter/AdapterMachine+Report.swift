package import Domain

/// What a machine says about its adapter.
extension AdapterMachine {
    package var state: AdapterState {
        switch phase {
        case .off: .blocked
        case .forbidden: .forbidden
        case .settingUp where isDenied, .running where isDenied: .forbidden
        case .recovering: .recovering
        case .settingUp: ladder.state ?? .starting
        case .running: ladder.state ?? (search.isRunning || commands.isStartingDiscovery ? .searching : .idle)
        }
    }

    /// What is wrong and what to do about it, if anything is.
    package var trouble: String? {
        switch phase {
        case .off: power.trouble
        case .forbidden: Self.forbiddenText
        case .settingUp where isDenied, .running where isDenied: Self.forbiddenText
        case .settingUp, .running, .recovering:
            ladder.trouble(hasEverHeard: search.hasEverHeard)
        }
    }

    private static let forbiddenText =
        "This program may not look for meters over Bluetooth: it needs CAP_NET_ADMIN. Grant it with"
        + " AmbientCapabilities=CAP_NET_ADMIN in its systemd unit, or with"
        + " 'sudo setcap cap_net_admin+ep' on the program."

    /// Whether devices can be heard at all, so that an unheard one must have gone.
    package var isListening: Bool { phase.isListening }

    /// Nil until the adapter has been read.
    package var info: ControllerInfo? { setup.info }

    /// The present demand.
    package var demand: SearchDemand { search.demand }

    /// The owner of the running discovery.
    package var discoveryOwner: DiscoveryOwner? { search.owner }

    /// The total time for which discoveries of this program have run.
    package func discoveryTime(at now: MonotonicTime) -> Duration { search.time(at: now) }

    /// The last commands to the kernel, which leave the adapter quiet when nobody looks after it any more.
    package var farewell: [ManagementCommand] { search.farewell.map { [$0] } ?? [] }

    /// Number of links that are open or opening.
    package var linkCount: Int { slots.count }

    package func isLinked(_ link: SlotKey) -> Bool { slots.contains(link) }

    /// Whether a pairing with this device is expected, which it is only while a link to it is up or being made.
    package func expectsPairing(with device: RadioAddress) -> Bool {
        isLinked(SlotKey(device.address, isClassic: device.kind == .classic))
    }

    /// Nil if the adapter has not been read yet, or has no Classic to pair over.
    package var isBondable: Bool? { setup.isBondable }

    /// Whether another program insists on Bondable being off.
    package var isBondableContested: Bool { setup.isBondableContested }

    /// Number of recovery steps taken so far.
    package var recoveries: Int { ladder.recoveries }

    /// What can reset the chip, if anything is known that this program may use.
    package var chipReset: ChipReset? { ladder.chipReset }

    /// Whether the chip is being reset, so that the adapter is expected to disappear.
    package var isResettingChip: Bool {
        if case .recovering(.resetting) = phase { true } else { false }
    }
}
