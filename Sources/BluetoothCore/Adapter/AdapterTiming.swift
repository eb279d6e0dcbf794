/// The times of the adapter machine, all measured on the boot-time clock.
package struct AdapterTiming: Hashable, Sendable {
    /// How long the kernel may take to answer. Most answers take milliseconds; the kernel's own limit for an HCI
    /// command is 2 s (`HCI_CMD_TIMEOUT`), and some requests need several commands.
    package var answerLimit: Duration = .seconds(8)
    /// The same for switching on or off, which may include loading firmware.
    package var powerLimit: Duration = .seconds(20)
    /// Pause between two rounds of discovery. bluetoothd rests 5 s (BlueZ `src/adapter.c`, `IDLE_DISCOV_TIMEOUT`), by a
    /// timer that counts whole seconds, and fails a program's request if ours is running again by then; so this is
    /// longer.
    package var rest: Duration = .seconds(8)
    /// The same once meters have been missing for `missingPatience`: a meter is off more often than on.
    var restLong: Duration = .seconds(20)
    var missingPatience: Duration = .seconds(300)
    /// The same while a person is looking. If bluetoothd had to end a discovery to begin its own, that one begins at
    /// once.
    var restByHand: Duration = .seconds(1)
    /// When we end a round that listens only to LE. With bluetoothd's rest, it is less than the 15 s that habluetooth
    /// waits for a discovery to begin (`START_TIMEOUT`).
    package var round: Duration = .seconds(8)
    /// Duration and interval of rounds while nothing is missing.
    var sparseRound: Duration = .seconds(5)
    var sparseInterval: Duration = .seconds(60)
    /// The kernel ends no round by itself before this (`DISCOV_LE_TIMEOUT`; interleaved, 5.12 s and an inquiry of the
    /// same length).
    var roundKernel: Duration = .seconds(10)
    /// Pause after a "busy" answer without sign of another discovery. Doubles three times.
    var busyDoubt: Duration = .seconds(5)
    /// A discovery that lasts longer is ended and restarted. One on LE lasts 10.24 s, an interleaved one the same and
    /// some seconds more for each name that is looked up (`DISCOV_LE_TIMEOUT`).
    package var roundMax: Duration = .seconds(60)
    /// A discovery that ends earlier by itself counts as failed.
    package var roundMin: Duration = .seconds(2)
    /// How often to listen to Classic as well while no link is up. An inquiry keeps the adapter from everything else.
    var inquiryInterval: Duration = .seconds(15)
    /// The same while links are up, which an inquiry disturbs.
    var inquiryIntervalLinked: Duration = .seconds(60)
    /// How long no device may be heard before recovery begins, if some were heard before.
    var silenceLimit: Duration = .seconds(60)
    /// The same if none was ever heard: perhaps there are none.
    package var silenceLimitNever: Duration = .seconds(300)
    /// From the last remedy until recovery begins again; doubles each time up to `failedRetryMax`.
    var failedRetry: Duration = .seconds(600)
    var failedRetryMax: Duration = .seconds(3600)
    /// How long links of other programs count on an adapter that does not answer: longer than the longest supervision
    /// time-out of a link, 32 s (Core Specification, volume 6, part B, section 4.5.2).
    var unansweredBelieved: Duration = .seconds(60)
    /// How long the adapter may take to come back after a USB reset.
    var resetLimit: Duration = .seconds(15)
    /// Pause after a failed command: doubles from the first to the second.
    var retryBase: Duration = .seconds(1)
    package var retryMax: Duration = .seconds(60)
    /// How soon to retry what was forbidden.
    var forbiddenRetry: Duration = .seconds(60)
    /// How soon, at the latest, to try our own discovery while another program's is running.
    var busyRetry: Duration = .seconds(30)
    /// How long to respect that somebody switched the adapter off; doubles each time up to the second.
    var offGrace: Duration = .seconds(20)
    var offGraceMax: Duration = .seconds(3600)
    /// Longest pause in discovery for one attempt to make a link.
    var attemptMax: Duration = .seconds(30)
    /// If attempts follow each other endlessly, discovery rests for the first at most and then runs for the second, so
    /// that other meters are heard.
    package var pauseMax: Duration = .seconds(20)
    var breath: Duration = .seconds(12)
    /// The first of these if the chip shares its antenna with Wi-Fi.
    var pauseMaxShared: Duration = .seconds(60)

    package init() {}

    /// How long the kernel may take to answer a command.
    package func limit(of command: ManagementCommand) -> Duration {
        if case .setPowered = command { powerLimit } else { answerLimit }
    }
}
