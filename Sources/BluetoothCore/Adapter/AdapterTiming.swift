/// Limits and intervals, measured on the boot-time clock.
package struct AdapterTiming: Hashable, Sendable {
    /// Timeout of a command to the kernel. The kernel's own limit for an HCI command is 2 s (`HCI_CMD_TIMEOUT`), and
    /// some requests need several commands.
    package var answerLimit: Duration = .seconds(8)
    /// Timeout of switching on or off, which may include loading firmware.
    package var powerLimit: Duration = .seconds(20)
    /// Pause between two rounds of discovery. It must exceed bluetoothd's pause of 5 s, measured in whole seconds
    /// (BlueZ `src/adapter.c`, `IDLE_DISCOV_TIMEOUT`). If our next round ran by then, bluetoothd would fail another
    /// program's request.
    package var rest: Duration = .seconds(8)
    /// Pause between rounds once meters have been missing for `missingPatience`: they are probably switched off.
    var restLong: Duration = .seconds(20)
    var missingPatience: Duration = .seconds(300)
    /// Pause between rounds while a person is searching, shorter than bluetoothd's pause (see `rest`). Another
    /// program's discovery with a filter still succeeds: bluetoothd ends ours and begins its own without a pause
    /// (Docs/Decisions/0020).
    var restByHand: Duration = .seconds(1)
    /// Duration of a round on LE alone. Together with bluetoothd's pause, it is shorter than the 15 s that habluetooth
    /// waits for a discovery to begin (`START_TIMEOUT`).
    package var round: Duration = .seconds(8)
    /// Duration of a round while no meter is missing. Such rounds begin at intervals of `sparseInterval`.
    var sparseRound: Duration = .seconds(5)
    var sparseInterval: Duration = .seconds(60)
    /// Minimum duration of a discovery that the kernel ends by itself: 10.24 s (`DISCOV_LE_TIMEOUT`), or 5.12 s and an
    /// inquiry of the same length if interleaved.
    var roundKernel: Duration = .seconds(10)
    /// Pause after an unexplained "busy" answer. Doubles three times.
    var busyDoubt: Duration = .seconds(5)
    /// Maximum duration of a round with Classic. An LE discovery lasts 10.24 s (`DISCOV_LE_TIMEOUT`), an interleaved
    /// one some seconds longer for each name that the kernel looks up.
    package var roundMax: Duration = .seconds(60)
    /// Minimum duration of a discovery: one that ends earlier by itself counts as failed.
    package var roundMin: Duration = .seconds(2)
    /// Interval of inquiries on Classic while no link is up. An inquiry blocks all other work of the adapter.
    var inquiryInterval: Duration = .seconds(15)
    /// Interval of inquiries while links are up, which an inquiry disturbs.
    var inquiryIntervalLinked: Duration = .seconds(60)
    /// Time without a device report after which recovery begins, for an adapter that has reported devices before.
    var silenceLimit: Duration = .seconds(60)
    /// The limit for an adapter that has never reported a device, because perhaps none is nearby.
    package var silenceLimitNever: Duration = .seconds(300)
    /// Pause from the last remedy until recovery begins again. Doubles each time up to `failedRetryMax`.
    var failedRetry: Duration = .seconds(600)
    var failedRetryMax: Duration = .seconds(3600)
    /// Time for which other programs' links count as up on an adapter that does not answer. Exceeds a link's longest
    /// supervision timeout, 32 s (Core Specification, volume 6, part B, section 4.5.2).
    var unansweredBelieved: Duration = .seconds(60)
    /// Time limit for the adapter to reappear after a USB reset.
    var resetLimit: Duration = .seconds(15)
    /// Pause after a failed command. Doubles each time up to `retryMax`.
    var retryBase: Duration = .seconds(1)
    package var retryMax: Duration = .seconds(60)
    var forbiddenRetry: Duration = .seconds(60)
    /// Maximum wait before a retry of our own discovery during another program's discovery.
    var busyRetry: Duration = .seconds(30)
    /// Time for which the adapter stays off after another program or a person switched it off. Doubles each time up to
    /// `offGraceMax`.
    var offGrace: Duration = .seconds(20)
    var offGraceMax: Duration = .seconds(3600)
    /// Time after which a link attempt no longer pauses discovery.
    var attemptMax: Duration = .seconds(30)
    /// Maximum pause in discovery during continuous link attempts. Discovery then runs for `breath`, to receive other
    /// meters' advertisements.
    package var pauseMax: Duration = .seconds(20)
    var breath: Duration = .seconds(12)
    /// `pauseMax` for a chip that shares its antenna with Wi-Fi.
    var pauseMaxShared: Duration = .seconds(60)

    package init() {}

    package func limit(of command: ManagementCommand) -> Duration {
        if case .setPowered = command { powerLimit } else { answerLimit }
    }
}
