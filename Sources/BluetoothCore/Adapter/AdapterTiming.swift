/// The times of the adapter machine. All are lengths on the boot-time clock.
package struct AdapterTiming: Hashable, Sendable {
    /// How long the kernel may take to answer. Most answers come in milliseconds; the kernel's own limit for an HCI
    /// command is 2 s (`HCI_CMD_TIMEOUT`), and some take several commands.
    package var answerLimit: Duration = .seconds(8)
    /// The same for switching on or off: firmware may be loaded meanwhile.
    package var powerLimit: Duration = .seconds(20)
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

    package init() {}
}
