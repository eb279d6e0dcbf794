package import Domain
package import MeterCodec

extension MeterDirectory {
    /// What the directory depends on.
    package struct Dependencies: Sendable {
        /// The meters that this host knows.
        package var catalogue: MeterCatalogue
        package var loop: any SessionLoop
        package var opener: any ChannelOpener
        package var ports: any PortSource
        /// This host's radios, if it uses any.
        package var radios: (any RadioSource)?
        package var repository: any MeterRepository
        package var settings: SettingsService
        package var meters: Meters
        package var recorder: SampleRecorder
        /// The recorder of charge sessions, if this host records them.
        package var recordings: RecordingService?
        /// Keeps marks, if this host does.
        package var marks: MarkService?
        /// Counts energy for meters that count none, if this host does.
        package var counts: EnergyCounts?
        /// Watches the meters for what people want to be told of, if this host does.
        package var alerts: AlertService?
        /// Keeps what happens to the meters, if this host does.
        package var log: LogKeeper?
        /// Further services that keep something of meters.
        package var otherKeepers: [any MeterKeeping]
        /// This host's id, for ids of meters that mean something on this host only.
        package var hostID: String
        /// Makes the random number generator of one session.
        package var makeRNG: @Sendable () -> any RandomNumberGenerator & Sendable
        /// Decides who uses which meter. Without one, this host is on its own. `MeterDirectory.use` changes it.
        package var gate: (any LinkGate)?

        package init(
            catalogue: MeterCatalogue = .standard, loop: any SessionLoop, opener: any ChannelOpener,
            ports: any PortSource,
            radios: (any RadioSource)? = nil, repository: any MeterRepository, settings: SettingsService,
            meters: Meters,
            recorder: SampleRecorder, recordings: RecordingService? = nil, marks: MarkService? = nil,
            counts: EnergyCounts? = nil,
            alerts: AlertService? = nil, log: LogKeeper? = nil, otherKeepers: [any MeterKeeping] = [], hostID: String,
            makeRNG: @escaping @Sendable () -> any RandomNumberGenerator & Sendable, gate: (any LinkGate)? = nil
        ) {
            self.catalogue = catalogue
            self.loop = loop
            self.opener = opener
            self.ports = ports
            self.radios = radios
            self.repository = repository
            self.settings = settings
            self.meters = meters
            self.recorder = recorder
            self.recordings = recordings
            self.marks = marks
            self.counts = counts
            self.alerts = alerts
            self.log = log
            self.otherKeepers = otherKeepers
            self.hostID = hostID
            self.makeRNG = makeRNG
            self.gate = gate
        }

        /// All services that keep something of meters.
        var keepers: [any MeterKeeping] {
            let own: [(any MeterKeeping)?] = [recorder, recordings, marks, counts, log, alerts]
            return own.compactMap(\.self) + otherKeepers
        }
    }
}
