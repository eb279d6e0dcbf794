package import Domain

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

    /// User-readable fault and remedy. Nil without a fault.
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

    /// Whether the adapter can report devices. If not, the devices that it reported earlier count as gone.
    package var isListening: Bool { phase.isListening }

    package var info: ControllerInfo? { setup.info }

    package var demand: SearchDemand { search.demand }

    package var discoveryOwner: DiscoveryOwner? { search.owner }

    package func discoveryTime(at now: MonotonicTime) -> Duration { search.time(at: now) }

    /// Commands that stop this program's own discovery when the program ends.
    package var farewell: [ManagementCommand] { search.farewell.map { [$0] } ?? [] }

    package var linkCount: Int { slots.count }

    package func isLinked(_ link: SlotKey) -> Bool { slots.contains(link) }

    /// Whether a link to this device is up or opening, so that a pairing is expected.
    package func expectsPairing(with device: RadioAddress) -> Bool {
        isLinked(SlotKey(device.address, isClassic: device.kind == .classic))
    }

    /// Whether Bondable is on. Nil until the adapter has been read, or if it has no Bluetooth Classic.
    package var isBondable: Bool? { setup.isBondable }

    package var isBondableContested: Bool { setup.isBondableContested }

    package var recoveries: Int { ladder.recoveries }

    package var chipReset: ChipReset? { ladder.chipReset }

    package var isResettingChip: Bool {
        if case .recovering(.resetting) = phase { true } else { false }
    }
}
