package import Domain
package import MeterCodec

extension MeterDirectory {
    package struct Dependencies: Sendable {
        package var catalogue = MeterCatalogue.standard
        package var loop: any SessionLoop
        package var opener: any ChannelOpener
        package var ports: any PortSource
        package var radios: (any RadioSource)?
        package var repository: any MeterRepository
        package var settings: SettingsService
        package var meters: Meters
        package var recorder: SampleRecorder
        package var recordings: RecordingService?
        package var marks: MarkService?
        package var counts: EnergyCounts?
        package var alerts: AlertService?
        package var computed: ComputedMeters?
        package var log: LogKeeper?
        package var otherKeepers: [any MeterKeeping] = []
        /// This host's id, contained in meter ids that are valid only on this host.
        package var hostID: String
        package var makeRNG: @Sendable () -> any RandomNumberGenerator & Sendable
        /// Nil for a host without a cloud. `MeterDirectory.use` replaces it.
        package var gate: (any LinkGate)?

        package init(
            loop: any SessionLoop, opener: any ChannelOpener, ports: any PortSource, repository: any MeterRepository,
            settings: SettingsService, meters: Meters, recorder: SampleRecorder, hostID: String,
            makeRNG: @escaping @Sendable () -> any RandomNumberGenerator & Sendable
        ) {
            self.loop = loop
            self.opener = opener
            self.ports = ports
            self.repository = repository
            self.settings = settings
            self.meters = meters
            self.recorder = recorder
            self.hostID = hostID
            self.makeRNG = makeRNG
        }

        var keepers: [any MeterKeeping] {
            let own: [(any MeterKeeping)?] = [recorder, recordings, marks, counts, log, alerts]
            return own.compactMap(\.self) + otherKeepers
        }
    }
}
