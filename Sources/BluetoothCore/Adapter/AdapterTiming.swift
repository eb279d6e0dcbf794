/// The times of the adapter machine. All are lengths on the boot-time clock.
package struct AdapterTiming: Hashable, Sendable {
    /// How long the kernel may take to answer. Most answers come in milliseconds; the kernel's own limit for an HCI
    /// command is 2 s (`HCI_CMD_TIMEOUT`), and some take several commands.
    package var answerLimit: Duration = .seconds(8)
    /// The same for switching on or off: firmware may be loaded meanwhile.
    package var powerLimit: Duration = .seconds(20)
    /// Between two rounds of discovery. bluetoothd rests 5 s (BlueZ `src/adapter.c`, `IDLE_DISCOV_TIMEOUT`), by a timer
    /// that counts whole seconds, and then fails what a program asked of it if ours runs again: so this is longer.
    package var rest: Duration = .seconds(8)
    /// The same once meters were missing for `missingPatience`: a meter is off more often than on.
    package var restLong: Duration = .seconds(20)
    package var missingPatience: Duration = .seconds(300)
    /// The same while a person looks. A discovery that bluetoothd had to end to begin its own begins at once.
    package var restByHand: Duration = .seconds(1)
    /// A round that listens to LE alone is ended then, by us. With bluetoothd's rest it is less than the 15 s that
    /// habluetooth waits for a discovery to begin (`START_TIMEOUT`).
    package var round: Duration = .seconds(8)
    /// Where nothing is missing: how long a round lasts, and how often there is one.
    package var sparseRound: Duration = .seconds(5)
    package var sparseInterval: Duration = .seconds(60)
    /// The kernel lets no round end sooner by itself (`DISCOV_LE_TIMEOUT`; interleaved, 5.12 s and an inquiry of as many).
    package var roundKernel: Duration = .seconds(10)
    /// An answer of "busy" without anybody's discovery to be seen: when it is tried again. Doubles three times.
    package var busyDoubt: Duration = .seconds(5)
    /// A discovery that lasts longer is ended and begun anew. One of LE lasts 10.24 s, an interleaved one as long and
    /// some seconds more for each name that is looked up (`DISCOV_LE_TIMEOUT`).
    package var roundMax: Duration = .seconds(60)
    /// A discovery that ends sooner by itself counts as failed.
    package var roundMin: Duration = .seconds(2)
    /// How often Classic is listened to, too, while no link is up. An inquiry keeps the adapter from all else.
    package var inquiryInterval: Duration = .seconds(15)
    /// The same while links are up, which an inquiry disturbs.
    package var inquiryIntervalLinked: Duration = .seconds(60)
    /// Without a device heard for so long, where some were heard before, the adapter is looked after.
    package var silenceLimit: Duration = .seconds(60)
    /// The same where none was ever heard: perhaps nobody is there.
    package var silenceLimitNever: Duration = .seconds(300)
    /// From the last remedy until the ladder is climbed again; doubles each time up to `failedRetryMax`.
    package var failedRetry: Duration = .seconds(600)
    package var failedRetryMax: Duration = .seconds(3600)
    /// For how long an adapter that answers no command may have links of other programs: longer than the longest
    /// supervision time-out of a link, 32 s (Core Specification, volume 6, part B, section 4.5.2).
    package var unansweredBelieved: Duration = .seconds(60)
    /// For the adapter to come back after a USB reset.
    package var resetLimit: Duration = .seconds(15)
    /// After a failed command: doubles from the first to the second.
    package var retryBase: Duration = .seconds(1)
    package var retryMax: Duration = .seconds(60)
    /// How soon what was forbidden is tried again.
    package var forbiddenRetry: Duration = .seconds(60)
    /// While another program's discovery runs, how soon one of our own is tried at the latest.
    package var busyRetry: Duration = .seconds(30)
    /// After somebody switched the adapter off, when it is switched on again; doubles each time up to the second.
    package var offGrace: Duration = .seconds(20)
    package var offGraceMax: Duration = .seconds(3600)
    /// Discovery rests no longer than this for one attempt to make a link.
    package var attemptMax: Duration = .seconds(30)
    /// Where attempts follow each other without end, discovery rests no longer than the first and then runs for the
    /// second, so that other meters are heard.
    package var pauseMax: Duration = .seconds(20)
    package var breath: Duration = .seconds(12)
    /// The first of them where the chip shares its antenna with Wi-Fi.
    package var pauseMaxShared: Duration = .seconds(60)

    package init() {}
}
