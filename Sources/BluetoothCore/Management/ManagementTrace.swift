package import Domain

/// The last commands to, and events from, the kernel's management channel. Stores only numbers, which contain no PINs
/// or keys.
package struct ManagementTrace: Sendable {
    package struct Entry: Hashable, Sendable {
        package var time: MonotonicTime
        /// Adapter index; `ManagementPacket.noIndex` if none is concerned.
        package var index: UInt16
        package var content: Content
    }

    package enum Content: Hashable, Sendable {
        case command(opcode: UInt16)
        case answer(opcode: UInt16, ManagementStatus)
        case discovering(isOn: Bool)
        case settings(ControllerSettings)
        case adapter(isThere: Bool)
        case controllerError(UInt8)
        case device(RadioAddress, DeviceEvent)
        case other(UInt16)
    }

    package enum DeviceEvent: Hashable, Sendable {
        case connected
        case disconnected(ManagementEvent.DisconnectReason)
        case connectFailed(ManagementStatus)
        case pinRequested
        case confirmationRequested
        case passkeyRequested
        case authenticationFailed(ManagementStatus)
        case paired
        case unblocked
    }

    package static let entriesMax = 256
    private var ring: [Entry] = []
    private var next = 0

    package init() {}

    /// Oldest first.
    package var entries: [Entry] { Array(ring[next...] + ring[..<next]) }

    package mutating func record(_ content: Content, of index: UInt16, at now: MonotonicTime) {
        let entry = Entry(time: now, index: index, content: content)
        if ring.count < Self.entriesMax {
            ring.append(entry)
        } else {
            ring[next] = entry
            next = (next + 1) % Self.entriesMax
        }
    }

    /// Ignores device reports, which are too frequent.
    package mutating func record(_ event: ManagementEvent, of index: UInt16, at now: MonotonicTime) {
        guard let content = Content(event) else { return }
        record(content, of: index, at: now)
    }
}

extension ManagementTrace.Content {
    fileprivate init?(_ event: ManagementEvent) {
        switch event {
        case .commandComplete(let opcode, let status, _), .commandStatus(let opcode, let status):
            // Confirm Name is as frequent as device reports.
            guard opcode != Self.confirmName else { return nil }
            self = .answer(opcode: opcode, status)
        case .controllerError(let code): self = .controllerError(code)
        case .indexAdded: self = .adapter(isThere: true)
        case .indexRemoved: self = .adapter(isThere: false)
        case .newSettings(let settings): self = .settings(settings)
        case .discovering(_, let isOn): self = .discovering(isOn: isOn)
        case .deviceConnected(let device): self = .device(device, .connected)
        case .deviceDisconnected(let device, let reason): self = .device(device, .disconnected(reason))
        case .connectFailed(let device, let status): self = .device(device, .connectFailed(status))
        case .pinCodeRequest(let device, _): self = .device(device, .pinRequested)
        case .userConfirmationRequest(let device, _, _): self = .device(device, .confirmationRequested)
        case .userPasskeyRequest(let device): self = .device(device, .passkeyRequested)
        case .authenticationFailed(let device, let status): self = .device(device, .authenticationFailed(status))
        case .newLinkKey(let device): self = .device(device, .paired)
        case .deviceUnblocked(let device): self = .device(device, .unblocked)
        case .deviceFound: return nil
        case .controllerSuspended: self = .other(0x002D)
        case .controllerResumed: self = .other(0x002E)
        case .other(let code): self = .other(code)
        }
    }

    private static let confirmName: UInt16 = 0x0025

    /// User-readable text, with the numbers of BlueZ's doc/mgmt.
    ///
    /// - Parameter isKnown: whether a device may be named. The address of any other device is private.
    package func words(isKnown: (RadioAddress) -> Bool) -> String {
        switch self {
        case .command(let opcode): "command \(Self.hex(opcode))"
        case .answer(let opcode, let status): "answer to \(Self.hex(opcode)): \(status.words) (\(status.rawValue))"
        case .discovering(let isOn): "discovering: \(isOn ? "on" : "off")"
        case .settings(let settings): "settings: 0x\(String(settings.rawValue, radix: 16))"
        case .adapter(let isThere): isThere ? "adapter there" : "adapter gone"
        case .controllerError(let code): "controller error 0x\(String(code, radix: 16))"
        case .device(let device, let event):
            "\(isKnown(device) ? device.address.description : "a stranger"): \(event.words)"
        case .other(let code): "event \(Self.hex(code))"
        }
    }

    private static func hex(_ number: UInt16) -> String { "0x\(number.fourHexDigits)" }
}

extension ManagementTrace.DeviceEvent {
    fileprivate var words: String {
        switch self {
        case .connected: "connected"
        case .disconnected(let reason): "disconnected: \(reason.words) (\(reason.rawValue))"
        case .connectFailed(let status): "connect failed: \(status.words) (\(status.rawValue))"
        case .pinRequested: "a PIN is asked for"
        case .confirmationRequested: "a confirmation is asked for"
        case .passkeyRequested: "a passkey is asked for"
        case .paired: "paired"
        case .unblocked: "unblocked"
        case .authenticationFailed(let status): "authentication failed: \(status.words) (\(status.rawValue))"
        }
    }
}
