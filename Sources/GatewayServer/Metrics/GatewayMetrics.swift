package import Domain

package enum GatewayMetrics {
    private static let meter = ["meter"]
    private static let adapter = ["adapter"]

    // MARK: meterd

    static let build = MetricDefinition.gauge(
        "meterd_build_info", ["version", "commit", "build"], "Version of meterd; always 1.")

    // MARK: Meters

    static let info = MetricDefinition.gauge(
        "meterd_meter_info", ["meter", "model", "name", "transport"],
        "Identity, name and kind of link; always 1.")
    static let state = MetricDefinition.gauge(
        "meterd_meter_state", ["meter", "state"], "1 for the meter's present state, 0 for others.")
    static let wanted = MetricDefinition.gauge(
        "meterd_meter_wanted", meter, "1 if meterd should connect the meter, also after a restart.")
    static let age = MetricDefinition.gauge(
        "meterd_meter_last_reading_age_seconds", meter, "Age of the last reading; absent before the first.")
    private static let group = ["meter", "group"]
    static let groupEnergy = MetricDefinition.gauge(
        "meterd_meter_group_energy_joules", group, "Energy in a data group of the meter.")
    static let groupCharge = MetricDefinition.gauge(
        "meterd_meter_group_charge_coulombs", group,
        "Charge in a data group of the meter.")
    static let signal = MetricDefinition.gauge(
        "meterd_meter_signal_dbm", meter, "Last signal strength of the meter's radio.")
    static let readings = MetricDefinition.counter("meterd_meter_readings_total", meter, "Readings received.")
    static let decodeErrors = MetricDefinition.counter(
        "meterd_meter_decode_errors_total", meter, "Searches for the next good frame after bad bytes.")
    static let skippedBytes = MetricDefinition.counter(
        "meterd_meter_skipped_bytes_total", meter, "Bytes skipped to find a good frame.")
    static let timeouts = MetricDefinition.counter(
        "meterd_meter_timeouts_total", meter, "Requests without an answer.")
    static let rejected = MetricDefinition.counter(
        "meterd_meter_rejected_total", meter, "Requests refused by the meter.")
    static let lostSamples = MetricDefinition.counter(
        "meterd_meter_lost_samples_total", meter, "Samples that the meter took but meterd never received.")
    static let filtered = MetricDefinition.counter(
        "meterd_meter_filtered_samples_total", meter,
        "Impossible samples that meterd dropped or replaced.")
    static let linksOpened = MetricDefinition.counter(
        "meterd_meter_links_opened_total", meter, "Links opened; beyond the first, reconnects.")
    static let linksLost = MetricDefinition.counter("meterd_meter_links_lost_total", meter, "Links lost.")

    // MARK: Leases

    static let leaseState = MetricDefinition.gauge(
        "meterd_lease_state", ["meter", "state"], "1 for the lease's present state, 0 for others.")
    static let leaseHeld = MetricDefinition.gauge(
        "meterd_lease_held", meter, "1 while this host holds the lease.")
    static let leaseRemaining = MetricDefinition.gauge(
        "meterd_lease_remaining_seconds", meter,
        "Time until the lease expires, whoever holds it; absent without holder.")

    // MARK: Alerts

    static let alertRaised = MetricDefinition.gauge(
        "meterd_alert_raised", ["meter", "alert"],
        "1 while raised; absent for changes of holder.")
    private static let target = ["target"]
    static let noticesWaiting = MetricDefinition.gauge(
        "meterd_alert_notices_waiting", target, "Notices in flight or waiting for a retry.")
    static let noticesDelivered = MetricDefinition.counter(
        "meterd_alert_notices_delivered_total", target, "Notices delivered.")
    static let noticesLost = MetricDefinition.counter(
        "meterd_alert_notices_lost_total", target, "Notices refused or given up.")

    // MARK: Adapters

    static let adapterInfo = MetricDefinition.gauge(
        "meterd_adapter_info", ["adapter", "name"], "The kernel's present name of the adapter; always 1.")
    static let adapterState = MetricDefinition.gauge(
        "meterd_adapter_state", ["adapter", "state"], "1 for the adapter's present state, 0 for others.")
    static let slots = MetricDefinition.gauge(
        "meterd_adapter_slots", adapter, "Maximum number of links.")
    static let slotsUsed = MetricDefinition.gauge(
        "meterd_adapter_slots_used", adapter, "Links to meters, open or opening.")
    static let heard = MetricDefinition.gauge(
        "meterd_adapter_heard_devices", adapter, "Devices of any kind heard in the last minute.")
    static let recoveries = MetricDefinition.counter(
        "meterd_adapter_recoveries_total", adapter, "Recovery steps taken.")
    static let discovery = MetricDefinition.counter(
        "meterd_adapter_discovery_seconds_total", adapter, "Time spent searching for meters.")

    // MARK: Cloud

    static let joined = MetricDefinition.gauge("meterd_cloud_joined", "1 while this host belongs to a cloud.")
    static let stream = MetricDefinition.gauge(
        "meterd_cloud_stream_open", "1 while the cloud's event stream is open; absent without a cloud.")
    static let clockBehind = MetricDefinition.gauge(
        "meterd_cloud_clock_behind_seconds", "This host's calendar behind the cloud's.")
    static let pending = MetricDefinition.gauge(
        "meterd_sync_pending_changes", "Changes waiting to be sent to the cloud.")
    static let heldBack = MetricDefinition.gauge(
        "meterd_sync_held_back_records", "Records waiting for room in the cloud.")
    static let parked = MetricDefinition.gauge(
        "meterd_sync_parked_records",
        "Records refused, impossible to keep, or set aside (`meterctl sync parked`).")
    static let failing = MetricDefinition.gauge(
        "meterd_sync_failed_runs_in_a_row", "Failed runs since the last good one.")
    static let halted = MetricDefinition.gauge("meterd_sync_halted", "1 while sync waits for a person.")
    static let runs = MetricDefinition.counter("meterd_sync_runs_total", "Runs started.")
    static let ends = MetricDefinition.counter(
        "meterd_sync_ended_runs_total", ["end"], "Runs by end: complete, failed or cancelled.")
    static let polls = MetricDefinition.counter("meterd_sync_polls_total", "Polls for changes that were due.")
    static let pollsSkipped = MetricDefinition.counter(
        "meterd_sync_skipped_polls_total", "Polls skipped because the cloud had announced changes.")
    static let pages = MetricDefinition.counter("meterd_sync_pages_total", "Pages of changes read.")
    static let batches = MetricDefinition.counter("meterd_sync_batches_total", "Batches of changes sent.")
    static let splits = MetricDefinition.counter("meterd_sync_splits_total", "Batches halved because of their size.")
    static let streamOpenings = MetricDefinition.counter(
        "meterd_sync_stream_openings_total", "Event streams opened.")
    static let refreshes = MetricDefinition.counter(
        "meterd_settings_refreshes_total", "Merges that changed a setting here.")

    // MARK: Store

    static let storeBytes = MetricDefinition.gauge(
        "meterd_store_size_bytes", "Size of the store's file without its log; absent if unreadable.")
    static let unsaved = MetricDefinition.gauge(
        "meterd_store_unsaved_readings", "Readings in memory, not yet in the store.")
    static let saved = MetricDefinition.counter("meterd_store_readings_saved_total", "Readings written to the store.")
    static let dropped = MetricDefinition.counter(
        "meterd_store_readings_dropped_total", "Readings given up because the store failed for too long.")
    static let storeFailing = MetricDefinition.gauge("meterd_store_failing", "1 if the last write failed.")
    static let backupAge = MetricDefinition.gauge(
        "meterd_backup_age_seconds", "Age of the last good backup; absent if unknown or none.")
    static let backupFailing = MetricDefinition.gauge(
        "meterd_backup_failing", "1 if the last backup failed; absent without backups.")

    // MARK: Broker

    static let brokerConnected = MetricDefinition.gauge(
        "meterd_broker_connected", "1 while the MQTT broker is connected.")
    static let brokerQueue = MetricDefinition.gauge(
        "meterd_broker_queued_messages", "Messages waiting to be sent or confirmed.")
    static let brokerPublished = MetricDefinition.counter(
        "meterd_broker_messages_published_total", "Messages that the broker confirmed.")
    static let brokerDropped = MetricDefinition.counter(
        "meterd_broker_messages_dropped_total", "Messages given up after too long a wait.")
    static let brokerRefused = MetricDefinition.counter(
        "meterd_broker_messages_refused_total", "Messages that the broker refused.")
    static let brokerLinks = MetricDefinition.counter(
        "meterd_broker_links_opened_total", "Links opened; beyond the first, reconnects.")

    package static let all: [MetricDefinition] =
        [build, info, state, wanted, age] + Quantity.allCases.map(\.metric) + [
            groupEnergy, groupCharge, signal, readings, decodeErrors, skippedBytes, timeouts, rejected, lostSamples,
            filtered, linksOpened,
            linksLost,
            leaseState, leaseHeld, leaseRemaining,
            alertRaised, noticesWaiting, noticesDelivered, noticesLost,
            adapterInfo, adapterState, slots, slotsUsed, heard, recoveries, discovery,
            joined, stream, clockBehind, pending, heldBack, parked, failing, halted, runs, ends, polls, pollsSkipped,
            pages, batches, splits, streamOpenings, refreshes,
            storeBytes, unsaved, saved, dropped, storeFailing, backupAge, backupFailing,
            brokerConnected, brokerQueue, brokerPublished, brokerDropped, brokerRefused, brokerLinks,
        ] + ProcessMetrics.all
}

extension Quantity {
    var metric: MetricDefinition {
        func gauge(_ name: String, _ help: String) -> MetricDefinition {
            .gauge("meterd_meter_\(name)", ["meter"], help)
        }
        func counter(_ name: String, _ help: String) -> MetricDefinition {
            .counter("meterd_meter_\(name)_total", ["meter"], help)
        }
        return switch self {
        case .voltage: gauge("voltage_volts", "Voltage.")
        case .current: gauge("current_amperes", "Current; negative for reverse flow.")
        case .power: gauge("power_watts", "Power.")
        case .energy: counter("energy_joules", "Energy counted by meterd; 3600 J are 1 Wh.")
        case .charge: counter("charge_coulombs", "Charge counted by meterd; 3.6 C are 1 mAh.")
        case .temperature: gauge("temperature_celsius", "Temperature of meter or probe.")
        case .dataPlus: gauge("data_plus_volts", "Voltage of the D+ line.")
        case .dataMinus: gauge("data_minus_volts", "Voltage of the D- line.")
        case .resistance: gauge("resistance_ohms", "Resistance of the load, from the meter.")
        case .cc1: gauge("cc1_volts", "Voltage of the CC1 line.")
        case .cc2: gauge("cc2_volts", "Voltage of the CC2 line.")
        case .frequency: gauge("frequency_hertz", "Mains frequency.")
        case .powerFactor: gauge("power_factor_ratio", "Power factor, 0 to 1.")
        case .ratio: gauge("ratio", "Ratio computed from two meters.")
        case .supplyVoltage: gauge("supply_volts", "The meter's own supply voltage.")
        case .price:
            gauge("energy_price", "Price per kilowatt-hour set in the meter, currency unknown.")
        case .duration: counter("counting_seconds", "Running time of the meter's own counter.")
        // A gauge, because the value decreases when current flows back.
        case .countedEnergy:
            gauge(
                "counted_energy_joules",
                "Energy counted by meterd, for meters without a counter; may be negative.")
        case .countedCharge:
            gauge("counted_charge_coulombs", "Charge counted by meterd, for meters without a counter.")
        }
    }

    /// Factor from the reading's unit to the base unit: 3600 J for 1 Wh, 3.6 C for 1 mAh.
    var baseUnits: Double {
        switch self {
        case .energy, .countedEnergy: 3600
        case .charge, .countedCharge: 3.6
        default: 1
        }
    }
}
