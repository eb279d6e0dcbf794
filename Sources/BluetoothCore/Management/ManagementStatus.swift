/// Result of a management command or cause of a failed link (BlueZ `doc/mgmt`, "Command Status Event"; numbers: Linux's
/// `net/bluetooth/mgmt.h`). Keeps unknown numbers.
package struct ManagementStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let success = ManagementStatus(rawValue: 0x00)
    package static let unknownCommand = ManagementStatus(rawValue: 0x01)
    package static let notConnected = ManagementStatus(rawValue: 0x02)
    package static let failed = ManagementStatus(rawValue: 0x03)
    package static let connectFailed = ManagementStatus(rawValue: 0x04)
    package static let authenticationFailed = ManagementStatus(rawValue: 0x05)
    package static let notPaired = ManagementStatus(rawValue: 0x06)
    package static let noResources = ManagementStatus(rawValue: 0x07)
    package static let timeout = ManagementStatus(rawValue: 0x08)
    package static let alreadyConnected = ManagementStatus(rawValue: 0x09)
    package static let busy = ManagementStatus(rawValue: 0x0A)
    package static let rejected = ManagementStatus(rawValue: 0x0B)
    package static let notSupported = ManagementStatus(rawValue: 0x0C)
    package static let invalidParameters = ManagementStatus(rawValue: 0x0D)
    package static let disconnected = ManagementStatus(rawValue: 0x0E)
    package static let notPowered = ManagementStatus(rawValue: 0x0F)
    package static let cancelled = ManagementStatus(rawValue: 0x10)
    package static let invalidIndex = ManagementStatus(rawValue: 0x11)
    package static let rfkilled = ManagementStatus(rawValue: 0x12)
    package static let alreadyPaired = ManagementStatus(rawValue: 0x13)
    package static let permissionDenied = ManagementStatus(rawValue: 0x14)

    /// Text for people, without a full stop.
    package var words: String {
        Self.named[self] ?? "the kernel answered with status 0x\(String(rawValue, radix: 16))"
    }

    /// Like `words`, for a command to the adapter itself. Status 5 is then the kernel's errno for an input/output
    /// error: the controller did not answer. For a command about a device, status 5 concerns the PIN.
    package var wordsOfAdapter: String {
        self == .authenticationFailed ? "the adapter did not answer the kernel" : words
    }

    private static let named: [ManagementStatus: String] = [
        .success: "it worked",
        .unknownCommand: "this kernel does not know the command",
        .notConnected: "the device is not connected",
        .failed: "the adapter failed",
        .connectFailed: "the device did not answer",
        .authenticationFailed: "the device refused the PIN or key",
        .notPaired: "the device is not paired",
        .noResources: "the adapter has no room for more",
        .timeout: "the adapter or the device took too long",
        .alreadyConnected: "the device is connected already",
        .busy: "the adapter is busy with the same for another program",
        .rejected: "the adapter or the device refused",
        .notSupported: "the adapter cannot do it",
        .invalidParameters: "the kernel took the command for malformed",
        .disconnected: "the link was lost meanwhile",
        .notPowered: "the adapter is switched off",
        .cancelled: "it was cancelled",
        .invalidIndex: "the adapter is not there any more",
        .rfkilled: "the adapter is blocked by rfkill",
        .alreadyPaired: "the device is paired already",
        .permissionDenied: "this program may not do it",
    ]
}

extension ManagementStatus: CustomStringConvertible {
    package var description: String { words }
}
